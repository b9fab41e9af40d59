"""A finding in words: why it matters, what to do, where it works, and the source of the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from backends.migration.scan.facts.rules import rule_source
from studio.texts import t
from ui.migration.code_markup import with_code
from ui.migration.finding_texts import (
    category_name,
    effort_text,
    reason_text,
    rule_text,
    single_state_name,
)
from ui.migration.hardware_support import (
    HARDWARE,
    mindspore_text,
    support_text,
    support_token,
)
from ui.widgets.basic import (
    Chip,
    Elided,
    Sentence,
    label,
    retone,
    text_button,
)

if TYPE_CHECKING:
    from backends.migration.finding import FindingState, ScanFinding
    from ui.widgets.basic import Tone

TONES: dict[FindingState, Tone] = {
    "auto": "good", "edit": "accent", "manual": "warning", "none": "bad", "unverified": "neutral",
}  # fmt: skip
CONFIDENCE = {
    "high": "migration.confidence.high", "medium": "migration.confidence.medium", "low": "migration.confidence.low",
}  # fmt: skip


class RulePanel(QWidget):
    """`editor_requested` and `suppress_requested` are about the visible finding."""

    editor_requested = Signal()
    suppress_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.finding: ScanFinding | None = None
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
        self.editor.clicked.connect(self.editor_requested)
        self.suppress = text_button("migration.suppress", "migration.suppress")
        self.suppress.clicked.connect(self.suppress_requested)
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
        column.addWidget(self._build_support())
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
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(area, 1)
        layout.addLayout(row)

    def _build_support(self) -> QWidget:
        """Build one column for each hardware, and one for MindSpore."""
        self.support = QWidget()
        grid = QGridLayout(self.support)
        grid.setContentsMargins(0, 2, 0, 2)
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(2)
        self._answers = {}
        for column, (key, name) in enumerate((*HARDWARE, ("mindspore", "MindSpore"))):
            head = label(role="hint")
            head.setText(name)
            answer = self._answers[key] = Elided() if key == "mindspore" else label()
            answer.setObjectName(f"migration_support_{key}")
            answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(head, 0, column)
            grid.addWidget(answer, 1, column)
        grid.setColumnStretch(len(HARDWARE), 1)
        return self.support

    def show_finding(self, finding: ScanFinding, *, is_named: bool = False) -> None:
        """Show a finding. `is_named`: the official tool mentions its lines."""
        self.finding, self.is_named = finding, is_named
        self._source = rule_source(finding.rule)
        self.retranslate()

    def retranslate(self) -> None:
        finding = self.finding
        if finding is None:
            return
        self.title.setText(rule_text(finding, "title"))
        self.chip.show_state(single_state_name(finding.state), TONES[finding.state])
        why, todo = rule_text(finding, "why"), rule_text(finding, "todo")
        self.why.setText(with_code(why))
        self.why.setVisible(bool(why))
        self.todo.setText(with_code(todo))
        for widget in (self.todo, self._todo_title):
            widget.setVisible(bool(todo))
        self._show_support(finding)
        self.facts.setText(facts_line(finding, is_named=self.is_named))
        self.facts.setToolTip(t("migration.facts_hint", rule=finding.rule))
        self._link.setVisible(bool(self._source))
        self._link.setToolTip(self._source)

    def _show_support(self, finding: ScanFinding) -> None:
        self.support.setVisible(bool(finding.support) or bool(finding.mindspore))
        for key, _ in HARDWARE:
            answer = finding.support.get(key, "unverified")
            self._answers[key].setText(support_text(answer))
            retone(self._answers[key], "role", support_token(answer))
        self._answers["mindspore"].setText(mindspore_text(finding.mindspore))
        retone(self._answers["mindspore"], "role", "" if finding.mindspore else "dim")

    def _open_source(self) -> None:
        QDesktopServices.openUrl(QUrl(self._source))


def facts_line(finding: ScanFinding, *, is_named: bool = False) -> str:
    """Return effort, confidence with its reason, category, and whether the official tool mentions it."""
    sure = t(CONFIDENCE[finding.confidence])
    if because := reason_text(finding):
        sure = t("migration.sure_because", sure=sure, because=because)
    named = t("migration.opinion.too") if is_named else ""
    return " · ".join(filter(None, (effort_text(finding.effort), sure, category_name(finding.category), named)))
