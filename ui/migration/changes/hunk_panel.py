"""A panel about one hunk: why it is there, its decision, and an editor for its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget

from studio.texts import t
from ui.migration.code_markup import with_code
from ui.migration.finding_texts import rule_text
from ui.widgets.basic import (
    Chip,
    Sentence,
    button,
    label,
    text_button,
)
from ui.widgets.localized import localize
from ui.widgets.theme import mono_font

if TYPE_CHECKING:
    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.changes import Hunk
    from ui.migration.changes.plan import PlanDecisions
    from ui.widgets.basic import Tone

HUNK_STATES: dict[str, tuple[str, Tone]] = {
    "accepted": ("migration.changes.is_accepted", "good"), "rejected": ("migration.changes.is_rejected", "neutral"),
    "yours": ("migration.changes.is_yours", "warning"), "edited": ("migration.changes.is_edited", "accent"),
}  # fmt: skip


class HunkPanel(QWidget):
    """`decided`: a hunk's id and whether it is accepted; `edited`: a hunk's id and its new text, None for the offered
    one."""

    decided = Signal(str, bool)
    edited = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self.hunk: Hunk | None = None
        self._decisions: PlanDecisions | None = None
        self._findings: tuple[ScanFinding, ...] = ()
        self.title, self.chip = Sentence(), Chip()
        self.title.setProperty("role", "strong")
        self.text = Sentence()
        self.text.setObjectName("migration_hunk_why")
        self.text.setTextFormat(Qt.TextFormat.RichText)
        self.dependency = Sentence()
        self.dependency.setProperty("role", "hint")
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
        for widget in (self.title, self.text, self.dependency):
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
        for action in (self.accept, self.reject, self.edit):
            row.addWidget(action)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(area, 1)
        layout.addWidget(self._make_editor())
        layout.addWidget(self._buttons)

    def _make_editor(self) -> QWidget:
        self._editor = QWidget()
        self.lines = QPlainTextEdit()
        self.lines.setObjectName("migration_hunk_lines")
        self.lines.setProperty("role", "field")
        self.lines.setFont(mono_font(12))
        self.lines.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.lines.setFixedHeight(140)
        localize(self.lines.setAccessibleName, "migration.changes.edit_title")
        self.keep = button("migration.changes.keep", "migration.changes.keep")
        self.keep.clicked.connect(self._emit_edited)
        self._offered = text_button("migration.changes.offered", "migration.changes.offered")
        self._offered.clicked.connect(self._restore_offered)
        leave = text_button("migration.cancel", "migration_changes_leave")
        leave.clicked.connect(self._editor.hide)
        row = QHBoxLayout()
        for widget in (self.keep, self._offered, leave):
            row.addWidget(widget)
        row.addStretch(1)
        column = QVBoxLayout(self._editor)
        column.setContentsMargins(14, 4, 14, 4)
        column.setSpacing(6)
        column.addWidget(label("migration.changes.edit_title", "hint"))
        column.addWidget(self.lines)
        column.addLayout(row)
        self._editor.hide()
        return self._editor

    def show_hunk(self, hunk: Hunk | None, findings: tuple[ScanFinding, ...], decisions: PlanDecisions | None) -> None:
        """Show a hunk with the findings that it resolves."""
        is_other = hunk is None or self.hunk is None or hunk.id != self.hunk.id
        self.hunk, self._findings, self._decisions = hunk, findings, decisions
        if is_other:
            self._editor.hide()
        self.setEnabled(hunk is not None)
        self._buttons.setVisible(hunk is not None)
        self.retranslate()

    def retranslate(self) -> None:
        hunk, decisions = self.hunk, self._decisions
        self.chip.setVisible(hunk is not None)
        if hunk is None or decisions is None:
            self.title.setText(t("migration.changes.none_chosen"))
            self.text.setText("")
            self.dependency.setText("")
            return
        accepted, is_edited = decisions.is_accepted(hunk), hunk.id in decisions.edited
        yours = decisions.is_manual(hunk)
        state = "yours" if yours else "rejected" if not accepted else "edited" if is_edited else "accepted"
        key, tone = HUNK_STATES[state]
        self.chip.show_state(t(key), tone)
        self.title.setText("\n".join(dict.fromkeys(rule_text(finding, "title") for finding in self._findings)))
        sentences = [rule_text(finding, part) for finding in self._findings for part in ("why", "todo")]
        self.text.setText(with_code("\n\n".join(filter(None, dict.fromkeys(sentences)))))
        self.dependency.setText(t("migration.changes.bound") if hunk.group or hunk.needs else "")
        self.dependency.setVisible(bool(self.dependency.text()))
        self.accept.setVisible(not yours)
        self.reject.setVisible(not yours)
        self.accept.setEnabled(not accepted)
        self.reject.setEnabled(accepted)

    def open_editor(self) -> None:
        if self.hunk is not None and self._decisions is not None:
            self.lines.setPlainText(self._decisions.text_of(self.hunk).replace("\r\n", "\n").removesuffix("\n"))
            self._offered.setVisible(self.hunk.id in self._decisions.edited)
            self._editor.show()
            self.lines.setFocus()

    def _emit_edited(self) -> None:
        if self.hunk is not None:
            self._editor.hide()
            self.edited.emit(self.hunk.id, with_line_ends(self.lines.toPlainText(), self.hunk.before))

    def _restore_offered(self) -> None:
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
    """Give a text the line ends of `like`; the last line gets one only where `like` ends with one."""
    end = "\r\n" if "\r\n" in like else "\r" if "\r" in like and "\n" not in like else "\n"
    lines = text.split("\n")
    joined = end.join(lines)
    return joined + end if text and like.endswith(("\n", "\r")) else joined
