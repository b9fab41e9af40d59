"""What a comparison comes to, in one sentence at the top, and the way there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout

from backends.precision.compare.comparison import EXPLAINED, FIRST, UNKNOWN
from studio.texts import t
from ui import theme
from ui.precision.verdict_mark import mark_pixmap
from ui.precision.verdict_said import explanation, headline
from ui.say import say
from ui.widgets import Card, Sentence, button, retone

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison

MARK = 20


class VerdictCard(Card):
    """`wanted`: the first divergence is to be shown."""

    wanted = Signal()

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
        say(self.go, "setToolTip", "precision.verdict.go_hint")
        self.go.clicked.connect(self.wanted)
        said = QVBoxLayout()
        said.setSpacing(3)
        said.addWidget(self.headline)
        said.addWidget(self.explanation)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self._mark)
        row.addLayout(said, 1)
        row.addWidget(self.go)
        self.body.addLayout(row)
        theme.notifier().changed.connect(self.retranslate)

    def show_comparison(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.retranslate()

    def retranslate(self) -> None:
        found = self._comparison
        if found is None:
            return
        is_nothing = found.first is None and not len(found.call_verdict)
        verdict = FIRST if found.first else UNKNOWN if is_nothing else EXPLAINED
        self._mark.setPixmap(mark_pixmap(verdict, MARK))
        self._mark.setAccessibleName(t("precision.verdict.bad" if found.first else "precision.verdict.good"))
        self.headline.setText(headline(found))
        said = explanation(found)
        self.explanation.setText(said)
        self.explanation.setVisible(bool(said))
        self.go.setVisible(found.first is not None and found.first.call >= 0)
        retone(self.headline, "role", "title")
