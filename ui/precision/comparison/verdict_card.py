"""The verdict of a comparison in one sentence, its explanation, and a button that goes to the first divergence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout

from backends.precision.compare.comparison import EXPLAINED, FIRST, FOLLOWS, UNKNOWN
from studio.texts import t
from ui.precision.verdict_mark import mark_pixmap
from ui.precision.verdict_text import divergence_explanation, divergence_headline
from ui.widgets import theme
from ui.widgets.basic import (
    Card,
    Sentence,
    button,
    retone,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison

MARK = 20
MARKS = {"pass": EXPLAINED, "differs": FIRST, "incomplete": FOLLOWS}
MARK_NAMES = {
    "pass": "precision.verdict.good", "differs": "precision.verdict.bad", "incomplete": "precision.verdict.unsure",
}  # fmt: skip


class VerdictCard(Card):
    """`go_requested`: the first divergence is to be shown."""

    go_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("precision_verdict")
        self.body.setContentsMargins(14, 10, 12, 10)
        self._comparison: Comparison | None = None
        self._mark = QLabel()
        self._mark.setFixedSize(QSize(MARK, MARK))
        self.headline, self.explanation = Sentence(), Sentence()
        self.headline.setObjectName("precision_headline")
        self.headline.setProperty("role", "title")
        self.explanation.setObjectName("precision_explanation")
        self.go = button("precision.verdict.go", "precision_go_to_first")
        localize(self.go.setToolTip, "precision.verdict.go_hint")
        self.go.clicked.connect(self.go_requested)
        texts = QVBoxLayout()
        texts.setSpacing(3)
        texts.addWidget(self.headline)
        texts.addWidget(self.explanation)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self._mark)
        row.addLayout(texts, 1)
        row.addWidget(self.go)
        self.body.addLayout(row)
        theme.notifier().changed.connect(self.retranslate)

    def show_comparison(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.retranslate()

    def retranslate(self) -> None:
        comparison = self._comparison
        if comparison is None:
            return
        is_nothing = comparison.first is None and not len(comparison.call_verdict)
        verdict = UNKNOWN if is_nothing else MARKS[comparison.outcome]
        self._mark.setPixmap(mark_pixmap(verdict, MARK))
        self._mark.setAccessibleName(t(MARK_NAMES[comparison.outcome]))
        self.headline.setText(divergence_headline(comparison))
        text = divergence_explanation(comparison)
        self.explanation.setText(text)
        self.explanation.setVisible(bool(text))
        self.go.setVisible(comparison.first is not None and comparison.first.call >= 0)
        retone(self.headline, "role", "title")
