"""Classes of events by phase, process, thread and category: there are few such classes and many events."""

from __future__ import annotations

from collections import defaultdict
from itertools import count, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.gathering import BEGIN, END, STEP
from backends.timeline.text.lanes import ASYNC, PYTHON_MARK, id_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backends.timeline.text.event import Event
    from backends.timeline.text.lanes import Lanes

Class = tuple[str, Any, Any, str | None]

ASIDE, SLICE, COUNTER, FLOW, INSTANT, PAIR, METADATA, DONE = range(8)
_CODES = {"X": SLICE, "C": COUNTER, "M": METADATA, "": ASIDE} | dict.fromkeys("stf", FLOW)
_CODES |= dict.fromkeys("iIRn", INSTANT) | dict.fromkeys("BEbeSF", PAIR)
_FLOW_PHASES = {"s": BEGIN, "t": STEP, "f": END}
_ON_A_LANE = frozenset((SLICE, FLOW, INSTANT, PAIR))


class Classes:
    """`codes`, `lanes`, `phases`: of each class, in order of first appearance; the lane is -1 for none."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes
        self._numbers: defaultdict[Class, int] = defaultdict(count().__next__)
        self._pids: list[str] = []
        self.codes = np.empty(0, np.uint8)
        self.lanes = np.empty(0, np.int32)
        self.phases = np.empty(0, np.uint8)

    def of(self, events: Sequence[Event]) -> NDArray[np.int64]:
        classes = [(event.ph, event.pid, event.tid, event.cat) for event in events]
        numbers = np.fromiter(map(self._numbers.__getitem__, classes), np.int64, len(events))
        if len(self._numbers) > self.codes.size:
            self._learn(list(islice(reversed(self._numbers), len(self._numbers) - self.codes.size))[::-1])
        return numbers

    def pid(self, number: int) -> str:
        return self._pids[number]

    def _learn(self, new: list[Class]) -> None:
        codes = [_CODES[phase] for phase, *_ in new]
        lanes = [self._lane(each) if code in _ON_A_LANE else -1 for each, code in zip(new, codes, strict=True)]
        phases = [_FLOW_PHASES.get(phase, 0) for phase, *_ in new]
        self._pids += [id_text(pid) for _, pid, *_ in new]
        self.codes = np.concatenate([self.codes, np.array(codes, np.uint8)])
        self.lanes = np.concatenate([self.lanes, np.array(lanes, np.int32)])
        self.phases = np.concatenate([self.phases, np.array(phases, np.uint8)])

    def _lane(self, of: Class) -> int:
        phase, pid, tid, category = of
        if phase in "beSF":
            return self._lanes.lane(id_text(pid), ASYNC + (category or ""))
        stack = phase == "X" and category == "python_function"
        return self._lanes.lane(id_text(pid), id_text(tid) + (PYTHON_MARK if stack else ""))
