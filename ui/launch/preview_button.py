"""Preview splits, on the Launch page: which network on which cards, then an estimate of the best ways to divide it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from backends.launch.preview.from_launch import preview_of
from backends.launch.preview.spec import PreviewSpec, feed_forward
from studio.texts import t
from ui.form.form import Form
from ui.services import actions
from ui.widgets.basic import (
    GAP,
    Sentence,
    button,
    label,
    retone,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from ui.launch.page import LaunchPage
    from ui.services.session import Session

FOLDED = ("training", "assumed", "shown")
LARGE = ("llama", "gpt")


class PreviewSplits(QWidget):
    """Below the fields of the section Parallel; its form is made when it is first opened."""

    def __init__(self, page: LaunchPage, session: Session) -> None:
        super().__init__()
        self.setObjectName("launch_preview")
        self._page, self._session = page, session
        self.form: Form | None = None
        self._initial = PreviewSpec()
        self.open_button = button("launch.preview.open", "launch.preview.open")
        self.open_button.setCheckable(True)
        self.open_button.toggled.connect(self._toggled)
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self.open_button)
        row.addWidget(label("launch.preview.hint", "hint"), 1)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP)
        self._column.addLayout(row)
        page.form.card("parallel").add_below(self)
        actions.register(page, "launch.preview.open", "launch.preview.open", self.open)

    def open(self) -> None:
        """Show the form with the page's choices, wherever the page is scrolled to."""
        self._page.form.focus_field("parallel")
        self.open_button.setChecked(False)
        self.open_button.setChecked(True)
        self.open_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _toggled(self, is_open: bool) -> None:
        if is_open:
            if self.form is None:
                self._make_form()
            assert self.form is not None
            self._initial = preview_of(self._page.form.spec())
            self.form.set_spec(self._initial)
        self._panel.setVisible(is_open)

    def _make_form(self) -> None:
        self.form = Form(PreviewSpec, "launch", _implied, FOLDED)
        self.form.spec_changed.connect(self._changed)
        self.form.help_requested.connect(self._help)
        self.start_button = button("launch.preview.start", "launch.preview.start")
        self.start_button.clicked.connect(self.start)
        localize(self.start_button.setToolTip, "launch.preview.start_hint")
        self._wrong = Sentence()
        retone(self._wrong, "role", "bad")
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self.start_button)
        row.addWidget(self._wrong, 1)
        self._panel = QWidget()
        column = QVBoxLayout(self._panel)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(self.form)
        column.addLayout(row)
        self._column.addWidget(self._panel)

    def _help(self, _card: str) -> None:
        """All of its cards have one section of the help, that of the card they are in."""
        self._page.form.help_requested.emit("parallel")

    def start(self) -> None:
        """Estimate the choices of the form, as a run that the Curves page shows."""
        assert self.form is not None
        if wrong := self.form.problems():
            self.form.focus_field(wrong[0].field)
        elif self._session.start("preview", self.form.spec()):
            self._session.page_requested.emit("curves")

    def _changed(self, spec: PreviewSpec) -> None:
        """A recipe's batch and precision are not what a large network begins with."""
        usual = PreviewSpec().training
        if spec.net.network in LARGE and spec.training == self._initial.training != usual:
            assert self.form is not None
            self.form.set_spec(replace(spec, training=usual))
        self._show()

    def _show(self) -> None:
        assert self.form is not None
        count = len(self.form.problems())
        self._wrong.setText(t("launch.wrong", count=count) if count else "")

    def retranslate(self) -> None:
        if self.form is not None:
            self._show()


def _implied(spec: PreviewSpec) -> dict[str, str]:
    return {"ffn": str(feed_forward(spec.net)), "parts": t("launch.preview.own_table")}
