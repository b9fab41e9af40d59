"""msprobe's own results of the comparison that is shown: its button, its sheets, and the checks that it can run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from backends.precision.acc import result as acc
from backends.precision.acc.spec import AccSpec
from backends.precision.acc.work import told as alone_told
from backends.precision.msprobe.acc_check import cards
from backends.precision.overflow import result as overflow
from backends.precision.overflow.spec import OverflowSpec
from backends.precision.overflow.work import told as overflow_told
from studio import schema
from studio.errors import StudioError
from studio.run import outcome_of
from ui.asking import ask
from ui.precision.compared import sides_of
from ui.precision.msprobe_read import read_beside
from ui.precision.msprobe_sheet import MsprobeSheet
from ui.say import say
from ui.widgets import button

if TYPE_CHECKING:
    from studio.events import Finding, Note
    from studio.run import Glance, Run
    from ui.pages.precision import PrecisionPage
    from ui.precision.compared import Compared
    from ui.precision.comparison_view import Suspect
    from ui.precision.msprobe_read import Graph, Read, Trend


class MsprobeMenu:
    """Its button is for the page to place."""

    def __init__(self, page: PrecisionPage) -> None:
        self._page, self._session = page, page.session
        self._making: set[str] = set()
        self.sheet: MsprobeSheet | None = None
        self.button = button("precision.beside.button", "precision_msprobe_open")
        say(self.button, "setToolTip", "precision.beside.hint")
        self.button.clicked.connect(self.open)

    def open(self) -> None:
        """Read first: the sheet is as high as what stands in it."""
        found = self._page.compare.compared
        if found is not None:
            question = partial(read_beside, found, tuple(self._session.listed))
            ask(self._page, question, partial(self._show, found))

    def _show(self, compared: Compared, found: Read) -> None:
        if compared is not self._page.compare.compared or not self.button.isVisible():
            return
        self.sheet = MsprobeSheet(self._page, compared.comparison, found, cards())
        self.sheet.overflow_wanted.connect(partial(self.check_overflow, compared))
        self.sheet.graph_wanted.connect(self.open_graph)
        self.sheet.trend_wanted.connect(self.open_trend)
        self.sheet.show_below(self.button)

    def open_graph(self, graph: Graph) -> None:
        from ui.precision.msprobe_graph import GraphSheet

        GraphSheet(self._page, graph).show_below(self.button)

    def open_trend(self, trend: Trend) -> None:
        from ui.precision.msprobe_trend import TrendSheet

        TrendSheet(self._page, trend).show_below(self.button)

    # What is run

    def check_overflow(self, compared: Compared) -> None:
        self._begin("overflow-check", schema.with_value(OverflowSpec(), "dump", sides_of(compared.run)[0]))

    def check_alone(self, suspect: Suspect) -> None:
        if suspect.run is not None:
            spec = schema.with_value(AccSpec(), "comparison", suspect.run.folder)
            self._begin("acc-check", schema.with_value(spec, "call", suspect.call))

    def _begin(self, command: str, spec: Any) -> None:
        if wrong := schema.problems(spec):
            self._session.trouble.emit(StudioError(wrong[0].rule, **wrong[0].args))
        elif (run := self._page.starts.begin(command, spec)) is not None:
            self._making.add(run.name)

    def look(self, listed: list[tuple[Run, Glance]]) -> None:
        """A check that was asked for here has ended: says what it found."""
        for run, glance in listed:
            if run.name in self._making and outcome_of(glance) in ("done", "no"):
                self._making.discard(run.name)
                ask(self._page, partial(_told, run), self._page.compare.told.show_told)


def _told(run: Run) -> tuple[Finding | Note, ...]:
    if run.asked.command == "overflow-check":
        found = overflow.read_result(run)
        return () if found is None else tuple(overflow_told(found))
    alone = acc.read_result(run)
    return () if alone is None else (alone_told(alone),)
