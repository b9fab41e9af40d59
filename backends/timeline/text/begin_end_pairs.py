"""Slices whose begin and end are separate events: B and E on a thread, b and e without one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from backends.timeline.gathering import Gathering

UNCLOSED = "timeline.aside.unclosed"
UNOPENED = "timeline.aside.unopened"


@dataclass(frozen=True, slots=True)
class Half:
    """`key`: what a begin and its end have in common. `event`: its number in the source."""

    key: Hashable
    lane: int
    time: int
    opens: bool
    name: str
    event: int


@dataclass
class Pairs:
    """Halves are matched when all have been read, since a file is not in order of time."""

    halves: list[Half] = field(default_factory=list)

    def match(self, gather: Gathering) -> None:
        """Add a slice for each pair, matched as on a stack, and set unmatched halves aside."""
        if not self.halves:
            return
        opened: defaultdict[Hashable, list[Half]] = defaultdict(list)
        pairs: list[tuple[Half, int]] = []
        for half in sorted(self.halves, key=lambda half: half.time):
            if half.opens:
                opened[half.key].append(half)
            elif opened[half.key]:
                pairs.append((opened[half.key].pop(), half.time))
            else:
                gather.set_aside[UNOPENED] += 1
        if left := sum(map(len, opened.values())):
            gather.set_aside[UNCLOSED] += left
        if pairs:
            pairs.sort(key=lambda pair: pair[0].event)  # of equal extent, the first to begin is the outermost
            gather.slices.append(_slices(gather, pairs))
        self.halves.clear()


def _slices(gather: Gathering, pairs: list[tuple[Half, int]]) -> tuple[NDArray[np.int64], ...]:
    lanes = np.array([half.lane for half, _ in pairs], np.int32)
    names = np.array([gather.names[half.name] for half, _ in pairs], np.int32)
    starts = np.array([half.time for half, _ in pairs], np.int64)
    ends = np.array([end for _, end in pairs], np.int64)
    return lanes, starts, ends, names, np.array([half.event for half, _ in pairs], np.int64)  # type: ignore[return-value]
