"""A finding in words: why it matters, what to do, on which hardware it works, and where that is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from backends.migration.scan.facts.rules import source
from studio.texts import t
from ui.migration.names import because_text, category_name, effort_text, rule_text, state_of_one
from ui.migration.rich import with_code
from ui.migration.support import HARDWARE, mindspore_text, support_text, support_token
from ui.widgets import Chip, Sentence, label, retone, text_button

if TYPE_CHECKING:
    from backends.migration.found import Found, State
    from ui.widgets import Tone

TONES: dict[State, Tone] = {
    "auto": "good", "edit": "accent", "manual": "warning", "none": "bad", "unverified": "neutral",
}  # fmt: skip
CONFIDENCE = {
    "high": "migration.confidence.high", "medium": "migration.confidence.medium", "low": "migration.confidence.low",
}  # fmt: skip


class RulePanel(QWidget):
    """`editor_wanted` and `suppress_wanted` are about the finding that is shown."""

    editor_wanted = Signal()
    suppress_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.found: Found | None = None
        self.is_named = False
        self._source = ""
        self.title = Sentence()
        self.title.setProperty("role", "strong")
        self.title.setObjectName("migration_rule_title")
        self.chip, self.facts = Chip(), Sentence()
        self.facts.setProperty("role", "hint")
        self.why, self.todo = Sentence(), Sentence()
        self.why.setObjectName("migration_rule_why")
        self.todo.setObjectName("migration_rule_todo")
        retone(self.todo, "role", "")
        for text in (self.why, self.todo):
            text.setTextFormat(Qt.TextFormat.RichText)
        self._todo_title = label("migration.todo", "strong")
        self._link = text_button("migration.rule_source", "migration.rule_source")
        self._link.clicked.connect(self._open_source)
        self.editor = text_button("migration.open_editor", "migration.open_editor")
        self.editor.clicked.connect(self.editor_wanted)
        self.suppress = text_button("migration.suppress", "migration.suppress")
        self.suppress.clicked.connect(self.suppress_wanted)
        self._lay_out()

    def _lay_out(self) -> None:
        inside = QWidget()
        inside.setProperty("role", "clear")
        column = QVBoxLayout(inside)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(7)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.chip, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(head)
        column.addWidget(self.why)
        column.addWidget(self._todo_title)
        column.addWidget(self.todo)
        column.addWidget(self._support())
        column.addWidget(self.facts)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        row = QHBoxLayout()
        row.setContentsMargins(6, 2, 6, 6)
        for button in (self.editor, self.suppress, self._link):
            row.addWidget(button)
        row.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(area, 1)
        whole.addLayout(row)

    def _support(self) -> QWidget:
        """One column for each hardware, and MindSpore."""
        self.support = QWidget()
        grid = QGridLayout(self.support)
        grid.setContentsMargins(0, 2, 0, 2)
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(2)
        self._answers = {}
        for column, (key, name) in enumerate((*HARDWARE, ("mindspore", "MindSpore"))):
            head = label(role="hint")
            head.setText(name)
            answer = self._answers[key] = label()
            answer.setObjectName(f"migration_support_{key}")
            answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(head, 0, column)
            grid.addWidget(answer, 1, column)
        grid.setColumnStretch(len(HARDWARE), 1)
        return self.support

    def show_found(self, found: Found, *, is_named: bool = False) -> None:
        """`is_named`: the official tool has a row on its lines."""
        self.found, self.is_named = found, is_named
        self._source = source(found.rule)
        self.retranslate()

    def retranslate(self) -> None:
        found = self.found
        if found is None:
            return
        self.title.setText(rule_text(found, "title"))
        self.chip.show_state(state_of_one(found.state), TONES[found.state])
        why, todo = rule_text(found, "why"), rule_text(found, "todo")
        self.why.setText(with_code(why))
        self.why.setVisible(bool(why))
        self.todo.setText(with_code(todo))
        for widget in (self.todo, self._todo_title):
            widget.setVisible(bool(todo))
        self._show_support(found)
        self.facts.setText(facts_line(found, is_named=self.is_named))
        self.facts.setToolTip(t("migration.facts_hint", rule=found.rule))
        self._link.setVisible(bool(self._source))
        self._link.setToolTip(self._source)

    def _show_support(self, found: Found) -> None:
        self.support.setVisible(bool(found.support) or bool(found.mindspore))
        for key, _ in HARDWARE:
            answer = found.support.get(key, "unverified")
            self._answers[key].setText(support_text(answer))
            retone(self._answers[key], "role", support_token(answer))
        self._answers["mindspore"].setText(mindspore_text(found.mindspore))
        retone(self._answers["mindspore"], "role", "" if found.mindspore else "dim")

    def _open_source(self) -> None:
        QDesktopServices.openUrl(QUrl(self._source))


def facts_line(found: Found, *, is_named: bool = False) -> str:
    """Effort, confidence and why, category, and whether the official tool says something too."""
    sure = t(CONFIDENCE[found.confidence])
    if because := because_text(found):
        sure = t("migration.sure_because", sure=sure, because=because)
    named = t("migration.opinion.too") if is_named else ""
    return " · ".join(filter(None, (effort_text(found.effort), sure, category_name(found.category), named)))
