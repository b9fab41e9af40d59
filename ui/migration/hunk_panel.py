"""One hunk: why it is there, what to decide on it, and its lines to edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget

from studio.texts import t
from ui.migration.names import rule_text
from ui.migration.rich import with_code
from ui.say import say
from ui.theme import mono_font
from ui.widgets import Chip, Sentence, button, label, text_button

if TYPE_CHECKING:
    from backends.migration.found import Found
    from backends.migration.migrate.changes import Hunk
    from ui.migration.deciding import Deciding
    from ui.widgets import Tone

STATES: dict[str, tuple[str, Tone]] = {
    "accepted": ("migration.changes.is_accepted", "good"), "rejected": ("migration.changes.is_rejected", "neutral"),
    "yours": ("migration.changes.is_yours", "warning"), "edited": ("migration.changes.is_edited", "accent"),
}  # fmt: skip


class HunkPanel(QWidget):
    """`decided`: id and whether it is accepted; `edited`: id and its new lines, None for those that were offered."""

    decided = Signal(str, bool)
    edited = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.hunk: Hunk | None = None
        self._deciding: Deciding | None = None
        self._found: tuple[Found, ...] = ()
        self.title, self.chip = Sentence(), Chip()
        self.title.setProperty("role", "strong")
        self.text = Sentence()
        self.text.setObjectName("migration_hunk_why")
        self.text.setTextFormat(Qt.TextFormat.RichText)
        self.bound = Sentence()
        self.bound.setProperty("role", "hint")
        self.accept = button("migration.changes.accept", "migration.changes.accept")
        self.reject = button("migration.changes.reject", "migration.changes.reject")
        self.edit = text_button("migration.changes.edit", "migration.changes.edit")
        self.accept.clicked.connect(self._accept)
        self.reject.clicked.connect(self._reject)
        self.edit.clicked.connect(self.open_editor)
        self._lay_out()
        self.show_hunk(None, (), None)

    def _lay_out(self) -> None:
        inside = QWidget()
        inside.setProperty("role", "clear")
        column = QVBoxLayout(inside)
        column.setContentsMargins(14, 2, 14, 8)
        column.setSpacing(8)
        column.addWidget(self.chip, 0, Qt.AlignmentFlag.AlignLeft)
        for widget in (self.title, self.text, self.bound):
            column.addWidget(widget)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        self._buttons = QWidget()
        row = QHBoxLayout(self._buttons)
        row.setContentsMargins(14, 4, 14, 10)
        row.setSpacing(8)
        for one in (self.accept, self.reject, self.edit):
            row.addWidget(one)
        row.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(area, 1)
        whole.addWidget(self._make_editor())
        whole.addWidget(self._buttons)

    def _make_editor(self) -> QWidget:
        self._editor = QWidget()
        self.lines = QPlainTextEdit()
        self.lines.setObjectName("migration_hunk_lines")
        self.lines.setProperty("role", "field")
        self.lines.setFont(mono_font(12))
        self.lines.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.lines.setFixedHeight(140)
        say(self.lines, "setAccessibleName", "migration.changes.edit_title")
        self.keep = button("migration.changes.keep", "migration.changes.keep")
        self.keep.clicked.connect(self._keep)
        self._offered = text_button("migration.changes.offered", "migration.changes.offered")
        self._offered.clicked.connect(self._take_offered)
        leave = text_button("migration.cancel", "migration_changes_leave")
        leave.clicked.connect(self._editor.hide)
        row = QHBoxLayout()
        for one in (self.keep, self._offered, leave):
            row.addWidget(one)
        row.addStretch(1)
        column = QVBoxLayout(self._editor)
        column.setContentsMargins(14, 4, 14, 4)
        column.setSpacing(6)
        column.addWidget(label("migration.changes.edit_title", "hint"))
        column.addWidget(self.lines)
        column.addLayout(row)
        self._editor.hide()
        return self._editor

    def show_hunk(self, hunk: Hunk | None, found: tuple[Found, ...], deciding: Deciding | None) -> None:
        """`found`: the findings that ask for it."""
        is_other = hunk is None or self.hunk is None or hunk.id != self.hunk.id
        self.hunk, self._found, self._deciding = hunk, found, deciding
        if is_other:
            self._editor.hide()
        self.setEnabled(hunk is not None)
        self._buttons.setVisible(hunk is not None)
        self.retranslate()

    def retranslate(self) -> None:
        hunk, deciding = self.hunk, self._deciding
        self.chip.setVisible(hunk is not None)
        if hunk is None or deciding is None:
            self.title.setText(t("migration.changes.none_chosen"))
            self.text.setText("")
            self.bound.setText("")
            return
        accepted, is_edited = deciding.is_accepted(hunk), hunk.id in deciding.edited
        yours = deciding.is_yours(hunk)
        state = "yours" if yours else "rejected" if not accepted else "edited" if is_edited else "accepted"
        key, tone = STATES[state]
        self.chip.show_state(t(key), tone)
        self.title.setText("\n".join(dict.fromkeys(rule_text(found, "title") for found in self._found)))
        parts = [rule_text(found, part) for found in self._found for part in ("why", "todo")]
        self.text.setText(with_code("\n\n".join(filter(None, dict.fromkeys(parts)))))
        self.bound.setText(t("migration.changes.bound") if hunk.group or hunk.needs else "")
        self.bound.setVisible(bool(self.bound.text()))
        self.accept.setVisible(not yours)
        self.reject.setVisible(not yours)
        self.accept.setEnabled(not accepted)
        self.reject.setEnabled(accepted)

    def open_editor(self) -> None:
        if self.hunk is not None and self._deciding is not None:
            self.lines.setPlainText(self._deciding.text_of(self.hunk).replace("\r\n", "\n").removesuffix("\n"))
            self._offered.setVisible(self.hunk.id in self._deciding.edited)
            self._editor.show()
            self.lines.setFocus()

    def _keep(self) -> None:
        if self.hunk is not None:
            self._editor.hide()
            self.edited.emit(self.hunk.id, with_line_ends(self.lines.toPlainText(), self.hunk.before))

    def _take_offered(self) -> None:
        if self.hunk is not None:
            self._editor.hide()
            self.edited.emit(self.hunk.id, None)

    def _accept(self) -> None:
        if self.hunk is not None:
            self.decided.emit(self.hunk.id, True)

    def _reject(self) -> None:
        if self.hunk is not None:
            self.decided.emit(self.hunk.id, False)


def with_line_ends(text: str, like: str) -> str:
    """As the file ends its lines; the last one only where it did."""
    end = "\r\n" if "\r\n" in like else "\r" if "\r" in like and "\n" not in like else "\n"
    lines = text.split("\n")
    whole = end.join(lines)
    return whole + end if text and like.endswith(("\n", "\r")) else whole
