"""Compare: the choice of two captures, and then the result; earlier comparisons can be opened again."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from studio.texts import t
from ui.precision.comparison.guide_card import GuideCard
from ui.precision.comparison.loaded_comparison import comparison_title
from ui.precision.comparison.notice_bar import NoticeBar
from ui.precision.comparison.sides_card import SidesCard
from ui.precision.msprobe.files_card import MsprobeFilesCard
from ui.services.consent import Consent
from ui.widgets.basic import (
    MARGIN,
    Elided,
    button,
    text_button,
)
from ui.widgets.localized import localize
from ui.widgets.page_scroll import PageScroll

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio.run import Run
    from ui.precision.captures import Capture
    from ui.precision.comparison.loaded_comparison import LoadedComparison
    from ui.precision.comparison.result_view import ComparisonResultView
    from ui.services.session import Session

SIDES, RESULT = range(2)
WIDEST_CHOICE = 480  # px


class CompareView(QStackedWidget):
    """Two pages: the choice of sides and the result; `switched` when the other one is shown.

    `repeat_requested` carries the run to compare again, `run_chosen` an earlier comparison; `capture_requested`: there
    is nothing to compare yet. The other requests are those of ComparisonResultView."""

    compare_requested = Signal()
    repeat_requested = Signal(object)
    run_chosen = Signal(object)
    capture_requested = Signal()
    switched = Signal()
    deeper_requested = Signal(object)
    reproducer_requested = Signal(object)
    issue_requested = Signal(object)
    acc_check_requested = Signal(object)
    source_requested = Signal(str, int)
    match_corrected = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self.loaded: LoadedComparison | None = None
        self._runs: Sequence[Run] = ()
        self._capture_count = 0
        self.guide, self.sides = GuideCard(), SidesCard()
        self.guide.capture_requested.connect(self.capture_requested)
        self.sides.compare_requested.connect(self.compare_requested)
        self.msprobe_files = MsprobeFilesCard()
        self.sides.sides_changed.connect(self.msprobe_files.show_folders)
        self.sides.sides_changed.connect(lambda _paths: self._update_guide())
        self.addWidget(PageScroll(self.guide, self.sides, self.msprobe_files))
        self._result = QWidget()
        self._column = QVBoxLayout(self._result)
        self._column.setContentsMargins(0, 0, MARGIN, 0)
        self._column.setSpacing(8)
        self.consent = Consent(session)
        self.reproducer_notice, self.check_notice = NoticeBar("precision_made"), NoticeBar("precision_told")
        self._column.addLayout(self._make_bar())
        self._column.addWidget(self.consent)
        self._column.addWidget(self.reproducer_notice)
        self._column.addWidget(self.check_notice)
        self.addWidget(self._result)
        self.currentChanged.connect(lambda _index: self.switched.emit())

    def _make_bar(self) -> QHBoxLayout:
        self.choice = QComboBox()
        self.choice.setObjectName("precision_comparisons")
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.choice.setMaximumWidth(WIDEST_CHOICE)
        self.choice.activated.connect(self._choose)
        localize(self.choice.setAccessibleName, "precision.page.comparisons")
        self._stale = Elided(role="warning")
        self._stale.setObjectName("precision_stale")
        self.repeat = text_button("precision.page.again", "precision_again")
        self.repeat.clicked.connect(self._request_repeat)
        self.other = button("precision.page.other", "precision_other")
        self.other.clicked.connect(self.show_sides)
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self.choice)
        row.addWidget(self._stale, 1)
        row.addWidget(self.repeat)
        row.addWidget(self.other)
        return row

    @cached_property
    def result_view(self) -> ComparisonResultView:
        """The view of a result, made with the first one because importing pyqtgraph takes a moment."""
        from ui.precision.comparison.result_view import ComparisonResultView

        view = ComparisonResultView(self._session)
        view.deeper_requested.connect(self.deeper_requested)
        view.reproducer_requested.connect(self.reproducer_requested)
        view.issue_requested.connect(self.issue_requested)
        view.acc_check_requested.connect(self.acc_check_requested)
        view.source_requested.connect(self.source_requested)
        view.match_corrected.connect(self.match_corrected)
        self._column.addWidget(view, 1)
        return view

    def show_captures(self, captures: Sequence[Capture]) -> None:
        self._capture_count = len(captures)
        self.sides.show_captures(captures)
        self._update_guide()

    def _update_guide(self) -> None:
        sides = (self.sides.target.capture, self.sides.golden.capture)
        has_target, has_golden = (side is not None for side in sides)
        self.guide.show_progress(self._capture_count, has_target=has_target, has_golden=has_golden)

    def show_comparisons(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        self.retranslate()

    def show_loaded(self, loaded: LoadedComparison | None) -> None:
        self.loaded = loaded
        self.consent.hide()
        self.reproducer_notice.hide()
        self.check_notice.hide()
        if loaded is not None:
            self.result_view.show_comparison(loaded.run, loaded.comparison)
        self.setCurrentIndex(RESULT if loaded is not None else SIDES)
        self.retranslate()
        self.switched.emit()

    def show_sides(self) -> None:
        self.setCurrentIndex(SIDES)
        self.sides.focus_first()

    def show_result(self) -> None:
        if self.loaded is not None:
            self.setCurrentIndex(RESULT)

    @property
    def is_result(self) -> bool:
        return self.currentIndex() == RESULT

    def sentence(self) -> str:
        """Return a summary, '' for a result, which has one of its own."""
        if self.is_result:
            return ""
        return t("precision.start.sentence" if self._capture_count else "precision.start.sentence_empty")

    def retranslate(self) -> None:
        self.choice.clear()
        runs = {run.name: run for run, _ in self._session.listed}
        for run in self._runs:
            self.choice.addItem(comparison_title(run, runs), run)
        loaded = self.loaded
        if loaded is not None:
            at = [run.folder for run in self._runs]
            self.choice.setCurrentIndex(at.index(loaded.run.folder) if loaded.run.folder in at else -1)
        self._stale.setText(t(loaded.stale) if loaded is not None and loaded.stale else "")
        self.repeat.setVisible(loaded is not None)

    def _choose(self, index: int) -> None:
        run = self.choice.itemData(index)
        if self.loaded is None or run.folder != self.loaded.run.folder:
            self.run_chosen.emit(run)

    def _request_repeat(self) -> None:
        if self.loaded is not None:
            self.repeat_requested.emit(self.loaded.run)
