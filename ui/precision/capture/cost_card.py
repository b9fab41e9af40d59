"""The time and disk space that a capture is expected to take, measured where the same training was run before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backends.common.run_values import text_value
from backends.launch.capture import state
from backends.launch.capture.forecast import forecast
from backends.launch.capture.spec import capture_of
from backends.launch.capture.work import forecast_note
from backends.launch.own.spec import OwnSpec
from backends.launch.spec import LaunchSpec
from studio.machine import free_space
from studio.sentences import sentence_of
from studio.texts import t
from studio.units import size
from ui.services.background import run_in_background
from ui.services.run_titles import recipe_name
from ui.widgets.basic import Card, Sentence

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.capture.state import Rank, Ready
    from studio.run import Glance, Run

    CostHistory = tuple[tuple[Ready, ...], tuple[Rank, ...], int | None]


class CostCard(Card):
    def __init__(self) -> None:
        super().__init__("precision.more.expected")
        self.setObjectName("precision_expected")
        self._spec: OwnSpec | LaunchSpec | None = None
        self._source: Path | None = None
        self._history: CostHistory = ((), (), None)
        self._cost, self._room = Sentence(), Sentence()
        self.body.setSpacing(6)
        self.body.addWidget(self._cost)
        self.body.addWidget(self._room)
        self.body.addWidget(Sentence("precision.more.stops_before_optimizer"))

    def show_spec(self, spec: OwnSpec | LaunchSpec, listed: list[tuple[Run, Glance]], runs: Path) -> None:
        """Estimate the cost of `spec`. `runs` is the folder of all runs; it is read in another thread."""
        self._spec = spec
        like = _similar_run(spec, listed)
        source = like.folder if like else runs
        if source != self._source:
            self._source, self._history = source, ((), (), None)
            run_in_background(self, partial(_read_history, source), partial(self._history_read, source))
        self.retranslate()

    def _history_read(self, source: Path, history: CostHistory) -> None:
        if source == self._source:
            self._history = history
            self.retranslate()

    def retranslate(self) -> None:
        chosen = capture_of(self._spec.planned) if self._spec else None
        if chosen is None:
            return
        ready, before, free = self._history
        request = state.request_of(chosen)
        self._cost.setText(sentence_of(forecast_note(forecast(request, ready, before), request)))
        key = "precision.more.room" if ready else "precision.more.room_unknown"
        self._room.setText("" if free is None else t(key, free=size(free)))
        self._room.setVisible(free is not None)


def _read_history(source: Path) -> CostHistory:
    return state.ready(source), state.done_before(source), free_space(source)


def _similar_run(spec: OwnSpec | LaunchSpec, listed: list[tuple[Run, Glance]]) -> Run | None:
    """Return the newest run of the same recipe or of the same command line."""
    return next((run for run, _ in listed if _is_similar(run, spec)), None)


def trained_by(run: Run) -> tuple[str, str]:
    """The framework and the recipe of a run; runs before PyTorch recipes name no framework."""
    return text_value(run, "what", "framework") or "mindspore", recipe_name(run)


def _is_similar(run: Run, spec: OwnSpec | LaunchSpec) -> bool:
    values = run.request.values
    if run.request.command == "launch":
        return isinstance(spec, LaunchSpec) and trained_by(run) == (spec.what.framework, spec.what.recipe)
    card = values.get("program")
    return isinstance(spec, OwnSpec) and isinstance(card, dict) and card.get("line") == list(spec.program.line)
