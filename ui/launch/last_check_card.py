"""Check first, on the Launch page: the button next to Start, and the last check of exactly these choices in short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.check.predictions import COMMAND, last_check
from backends.launch.check.spec import check_of
from studio import schema
from ui.form.section import HEADER
from ui.launch.answers.check_card import answer_rows
from ui.services import actions
from ui.services.run_titles import when
from ui.widgets.basic import Card, button, label
from ui.widgets.facts_table import FactsTable
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from backends.launch.check.answer import Answer
    from studio.run import Run
    from ui.launch.page import LaunchPage
    from ui.services.session import Session


class LastCheckCard(Card):
    """Adds its button to the page and itself at the side; visible while there is a check of the current choices."""

    def __init__(self, page: LaunchPage, session: Session) -> None:
        super().__init__("launch.check.last")
        self.setObjectName("launch.check.last")
        self._page, self._session = page, session
        self._read_for: object = None
        self._check: tuple[Run, Answer] | None = None
        self.header.addStrut(HEADER)
        self._when = label(role="hint")
        self.header.addWidget(self._when)
        self.table = FactsTable()
        self.body.addWidget(self.table)
        self.hide()
        self._add_button()
        page.add_side(self)
        page.form.spec_changed.connect(self.refresh)
        session.runs_changed.connect(self.refresh)

    def _add_button(self) -> None:
        check_button = button("launch.check.button", "launch.check.button")
        check_button.clicked.connect(self.start)
        localize(check_button.setToolTip, "launch.check.button_hint")
        self._page.add_action(check_button)
        actions.register(self._page, "launch.check.button", "launch.check.button", self.start)

    def start(self) -> None:
        self._page.begin(COMMAND, check_of)

    def refresh(self, _change: object = None) -> None:
        """Answers are read only when other choices are made or other checks have ended."""
        checks = [
            run for run, glance in self._session.listed if run.request.command == COMMAND and glance.state == "ended"
        ]
        values = schema.to_json(self._page.form.spec())
        if (values, checks) != self._read_for:
            self._read_for = values, checks
            self._check = last_check(checks, values)
            self.retranslate()

    def retranslate(self) -> None:
        self.setVisible(self._check is not None)
        if self._check is not None:
            run, answer = self._check
            self._when.setText(when(run))
            self.table.show_rows((), answer_rows(answer))
