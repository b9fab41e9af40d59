"""What a capture is expected to cost: time, and room on the disk; measured where the same was run before."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backends.launch.capture import state
from backends.launch.capture.forecast import forecast
from backends.launch.capture.spec import capture_of
from backends.launch.capture.work import said
from studio.machine import free_space
from studio.sentences import sentence_of
from studio.texts import t
from studio.units import size
from ui.asking import ask
from ui.curves.names import recipe_name
from ui.widgets import Card, Sentence

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.capture.state import Rank, Ready
    from backends.launch.own.spec import OwnSpec
    from backends.launch.spec import LaunchSpec
    from studio.run import Glance, Run

    Known = tuple[tuple[Ready, ...], tuple[Rank, ...], int | None]


class ExpectedCard(Card):
    def __init__(self) -> None:
        super().__init__("precision.more.expected")
        self.setObjectName("precision_expected")
        self._spec: OwnSpec | LaunchSpec | None = None
        self._source: Path | None = None
        self._known: Known = ((), (), None)
        self._cost, self._room = Sentence(), Sentence()
        self.body.setSpacing(6)
        self.body.addWidget(self._cost)
        self.body.addWidget(self._room)
        self.body.addWidget(Sentence("precision.more.stops_before_optimizer"))

    def show_spec(self, spec: OwnSpec | LaunchSpec, listed: list[tuple[Run, Glance]], runs: Path) -> None:
        """`runs`: where they are kept; looked at in another thread."""
        self._spec = spec
        like = _like(spec, listed)
        source = like.folder if like else runs
        if source != self._source:
            self._source, self._known = source, ((), (), None)
            ask(self, partial(_look, source), partial(self._looked, source))
        self.retranslate()

    def _looked(self, source: Path, known: Known) -> None:
        if source == self._source:
            self._known = known
            self.retranslate()

    def retranslate(self) -> None:
        chosen = capture_of(self._spec.planned) if self._spec else None
        if chosen is None:
            return
        ready, before, free = self._known
        request = state.request_of(chosen)
        self._cost.setText(sentence_of(said(forecast(request, ready, before), request)))
        key = "precision.more.room" if ready else "precision.more.room_unknown"
        self._room.setText("" if free is None else t(key, free=size(free)))
        self._room.setVisible(free is not None)


def _look(source: Path) -> Known:
    return state.ready(source), state.done_before(source), free_space(source)


def _like(spec: OwnSpec | LaunchSpec, listed: list[tuple[Run, Glance]]) -> Run | None:
    """The newest run of the same recipe, or of the same line."""
    return next((run for run, _ in listed if _is_like(run, spec)), None)


def _is_like(run: Run, spec: OwnSpec | LaunchSpec) -> bool:
    values = run.asked.values
    if run.asked.command == "launch":
        what = getattr(spec, "what", None)
        return what is not None and recipe_name(run) == what.recipe
    program = getattr(spec, "program", None)
    card = values.get("program")
    return program is not None and isinstance(card, dict) and card.get("line") == list(program.line)
