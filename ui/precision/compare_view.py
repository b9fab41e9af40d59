"""Compare: which two captures, then what came of it; earlier comparisons can be looked at again."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from studio.texts import t
from ui.launch.consent import Consent
from ui.page_scroll import PageScroll
from ui.precision.beside_card import BesideCard
from ui.precision.compared import name_of
from ui.precision.how_card import HowCard
from ui.precision.made_bar import MadeBar
from ui.precision.pick_card import PickCard
from ui.precision.told_bar import ToldBar
from ui.say import say
from ui.widgets import MARGIN, Elided, button, text_button

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio.run import Run
    from ui.precision.captures import Capture
    from ui.precision.compared import Compared
    from ui.precision.comparison_view import ComparisonView
    from ui.session import Session

PICK, RESULT = range(2)


class CompareView(QStackedWidget):
    """`compare_wanted`: of what is picked. `again_wanted`: the run of a comparison to make anew. `run_chosen`: an
    earlier comparison. `capture_wanted`: there is nothing to compare yet. `turned`: the other of its two sides. The
    others are those of ComparisonView."""

    compare_wanted = Signal()
    again_wanted = Signal(object)
    run_chosen = Signal(object)
    capture_wanted = Signal()
    turned = Signal()
    deeper_wanted = Signal(object)
    reproducer_wanted = Signal(object)
    issue_wanted = Signal(object)
    alone_wanted = Signal(object)
    source_wanted = Signal(str, int)
    match_corrected = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.compared: Compared | None = None
        self._runs: Sequence[Run] = ()
        self._count = 0
        self.how, self.pick = HowCard(), PickCard()
        self.how.capture_wanted.connect(self.capture_wanted)
        self.pick.compare_wanted.connect(self.compare_wanted)
        self.beside = BesideCard()
        self.pick.sides_changed.connect(self.beside.show_folders)
        self.addWidget(PageScroll(self.how, self.pick, self.beside))
        self._result = QWidget()
        self._column = QVBoxLayout(self._result)
        self._column.setContentsMargins(0, 0, MARGIN, 0)
        self._column.setSpacing(8)
        self.consent, self.made, self.told = Consent(session), MadeBar(), ToldBar()
        self._column.addLayout(self._make_bar())
        self._column.addWidget(self.consent)
        self._column.addWidget(self.made)
        self._column.addWidget(self.told)
        self.addWidget(self._result)
        self.currentChanged.connect(lambda _index: self.turned.emit())

    def _make_bar(self) -> QHBoxLayout:
        self.choice = QComboBox()
        self.choice.setObjectName("precision_comparisons")
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.choice.activated.connect(self._choose)
        say(self.choice, "setAccessibleName", "precision.page.comparisons")
        self._stale = Elided(role="warning")
        self._stale.setObjectName("precision_stale")
        self.again = text_button("precision.page.again", "precision_again")
        self.again.clicked.connect(self._ask_again)
        self.other = button("precision.page.other", "precision_other")
        self.other.clicked.connect(self.show_pick)
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self.choice)
        row.addWidget(self._stale, 1)
        row.addWidget(self.again)
        row.addWidget(self.other)
        return row

    @cached_property
    def view(self) -> ComparisonView:
        """Made with the first comparison: it draws, and pyqtgraph takes a moment."""
        from ui.precision.comparison_view import ComparisonView

        made = ComparisonView(self._session)
        made.deeper_wanted.connect(self.deeper_wanted)
        made.reproducer_wanted.connect(self.reproducer_wanted)
        made.issue_wanted.connect(self.issue_wanted)
        made.alone_wanted.connect(self.alone_wanted)
        made.source_wanted.connect(self.source_wanted)
        made.match_corrected.connect(self.match_corrected)
        self._column.addWidget(made, 1)
        return made

    # What is shown

    def show_captures(self, captures: Sequence[Capture]) -> None:
        self._count = len(captures)
        self.how.show_count(len(captures))
        self.pick.show_captures(captures)

    def show_comparisons(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self.retranslate()

    def show_compared(self, found: Compared | None) -> None:
        self.compared = found
        self.consent.hide()
        self.made.hide()
        self.told.hide()
        if found is not None:
            self.view.show_comparison(found.run, found.comparison)
        self.setCurrentIndex(RESULT if found is not None else PICK)
        self.retranslate()
        self.turned.emit()

    def show_pick(self) -> None:
        self.setCurrentIndex(PICK)
        self.pick.focus_first()

    def show_result(self) -> None:
        if self.compared is not None:
            self.setCurrentIndex(RESULT)

    @property
    def is_result(self) -> bool:
        return self.currentIndex() == RESULT

    def sentence(self) -> str:
        """'' beside a result, which has one of its own."""
        if self.is_result:
            return ""
        return t("precision.start.sentence" if self._count else "precision.start.sentence_empty")

    def retranslate(self) -> None:
        self.choice.clear()
        runs = {run.name: run for run, _ in self._session.listed}
        for run in self._runs:
            self.choice.addItem(name_of(run, runs), run)
        found = self.compared
        if found is not None:
            at = [run.folder for run in self._runs]
            self.choice.setCurrentIndex(at.index(found.run.folder) if found.run.folder in at else -1)
        self._stale.setText(t(found.stale) if found is not None and found.stale else "")
        self.again.setVisible(found is not None)

    # What is asked for

    def _choose(self, index: int) -> None:
        run = self.choice.itemData(index)
        if self.compared is None or run.folder != self.compared.run.folder:
            self.run_chosen.emit(run)

    def _ask_again(self) -> None:
        if self.compared is not None:
            self.again_wanted.emit(self.compared.run)
