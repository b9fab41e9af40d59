"""Training steps: slices named ProfilerStep#n, the first of each number, and not its copy on a GPU."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from backends.timeline.gathering import Gathering
    from backends.timeline.text.event import Event

PREFIX = "ProfilerStep#"
COPY = "gpu_user_annotation"
LONGEST_NUMBER = 9


class Steps:
    def __init__(self, gather: Gathering, source: int) -> None:
        self._gather = gather
        self._source = source
        self._name_count = 0
        self._awaited: dict[int, int] = {}  # name -> number of the step

    def take(self, slices: tuple[NDArray[np.int64], ...], events: Sequence[Event]) -> None:
        """Look for steps. `slices`: of these events, as a gathering holds them."""
        names = self._gather.names
        self._learn(islice(reversed(names.items()), len(names) - self._name_count))
        self._name_count = len(names)
        if not self._awaited:
            return
        for index in np.flatnonzero(np.isin(slices[3], list(self._awaited))).tolist():
            if events[index].cat != COPY:
                self._add_step(int(slices[3][index]), int(slices[1][index]), int(slices[2][index]))

    def _add_step(self, name: int, start: int, end: int) -> None:
        number = self._awaited.pop(name, None)
        if number is not None:
            self._gather.steps.append((number, start, end, self._source))

    def _learn(self, names: Iterable[tuple[str, int]]) -> None:
        for text, name in names:
            number = text.removeprefix(PREFIX)
            if len(number) < len(text) and number.isascii() and number.isdigit() and len(number) <= LONGEST_NUMBER:
                self._awaited[name] = int(number)
