"""The button that shows msprobe's own results of a comparison, and the checks that it can run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from backends.precision.acc import result as acc
from backends.precision.acc.spec import AccSpec
from backends.precision.acc.work import result_note as alone_told
from backends.precision.msprobe.acc_check import npu_devices
from backends.precision.overflow import result as overflow
from backends.precision.overflow.spec import OverflowSpec
from backends.precision.overflow.work import result_notes as overflow_told
from studio import schema
from studio.errors import StudioError
from studio.run import ANSWERED, outcome_of
from ui.precision.comparison.loaded_comparison import requested_sides
from ui.precision.msprobe.results import read_msprobe_results
from ui.precision.msprobe.results_sheet import MsprobeSheet
from ui.services.background import run_in_background
from ui.widgets.basic import button
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from studio.events import Finding, Note
    from studio.run import Glance, Run
    from ui.precision.comparison.loaded_comparison import LoadedComparison
    from ui.precision.comparison.result_view import Suspect
    from ui.precision.msprobe.results import GraphFile, MsprobeResults, TrendFile
    from ui.precision.page import PrecisionPage


class MsprobeMenu:
    """The page places its button."""

    def __init__(self, page: PrecisionPage) -> None:
        self._page, self._session = page, page.session
        self._started: set[str] = set()
        self.sheet: MsprobeSheet | None = None
        self.button = button("precision.beside.button", "precision_msprobe_open")
        localize(self.button.setToolTip, "precision.beside.hint")
        self.button.clicked.connect(self.open)

    def open(self) -> None:
        """Read the results before the sheet opens, since its height depends on them."""
        loaded = self._page.compare.loaded
        if loaded is not None:
            question = partial(read_msprobe_results, loaded, tuple(self._session.listed))
            run_in_background(self._page, question, partial(self._show, loaded))

    def _show(self, loaded: LoadedComparison, results: MsprobeResults) -> None:
        if loaded is not self._page.compare.loaded or not self.button.isVisible():
            return
        self.sheet = MsprobeSheet(self._page, loaded.comparison, results, npu_devices())
        self.sheet.overflow_requested.connect(partial(self.check_overflow, loaded))
        self.sheet.graph_requested.connect(self.open_graph)
        self.sheet.trend_requested.connect(self.open_trend)
        self.sheet.show_below(self.button)

    def open_graph(self, graph: GraphFile) -> None:
        from ui.precision.msprobe.graph_sheet import GraphSheet

        GraphSheet(self._page, graph).show_below(self.button)

    def open_trend(self, trend: TrendFile) -> None:
        from ui.precision.msprobe.trend_sheet import TrendSheet

        TrendSheet(self._page, trend).show_below(self.button)

    def check_overflow(self, loaded: LoadedComparison) -> None:
        self._start("overflow-check", schema.with_value(OverflowSpec(), "dump", requested_sides(loaded.run)[0]))

    def check_operator(self, suspect: Suspect) -> None:
        if suspect.run is not None:
            spec = schema.with_value(AccSpec(), "comparison", suspect.run.folder)
            self._start("acc-check", schema.with_value(spec, "call", suspect.call))

    def _start(self, command: str, spec: Any) -> None:
        if wrong := schema.problems(spec):
            self._session.trouble.emit(StudioError(wrong[0].rule, **wrong[0].args))
        elif (run := self._page.run_starter.start(command, spec)) is not None:
            self._started.add(run.name)

    def report_ended_checks(self, listed: list[tuple[Run, Glance]]) -> None:
        """Show what the checks that were started here found, once they have ended."""
        for run, glance in listed:
            if run.name in self._started and outcome_of(glance) in ANSWERED:
                self._started.discard(run.name)
                run_in_background(self._page, partial(_check_events, run), self._page.compare.check_notice.show_events)


def _check_events(run: Run) -> tuple[Finding | Note, ...]:
    if run.request.command == "overflow-check":
        result = overflow.read_overflow(run)
        return () if result is None else tuple(overflow_told(result))
    acc_check = acc.read_acc_result(run)
    return () if acc_check is None else (alone_told(acc_check),)
