"""What a raw trace holds, counted on its own: json and Decimal of the standard library, nothing of the product's.

Times are nanoseconds since the epoch where the file says from where it counts. The end of a slice is its start and its
duration, each rounded to whole nanoseconds by itself.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Slice = tuple[str, str, str, int, int]  # pid, tid, name, start, end
Location = tuple[str, str, int]  # pid, tid, time
End = tuple[str, Location]  # s, t or f, and where
Half = tuple[int, bool, tuple[str, str, str], str]  # time, whether it begins, what both halves agree in, name
INSTANTS = ("i", "I", "R", "n")
FLOWS = "stf"


@dataclass(kw_only=True)
class TraceCounts:
    """`phases`: ph -> events. `flows`: (category, id) -> its ends. `pairs`: slices of two events each (B and
    E, b and e, S and F), all but the first in `apart`, since their lane is their id. `strange`: neither shown nor
    metadata."""

    events: int = 0
    phases: Counter[str] = field(default_factory=Counter)
    slices: Counter[Slice] = field(default_factory=Counter)
    apart: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    instants: Counter[tuple[str, str, str, int]] = field(default_factory=Counter)
    flows: defaultdict[tuple[str, str], list[End]] = field(default_factory=lambda: defaultdict(list))
    samples: Counter[tuple[str, str, int]] = field(default_factory=Counter)  # pid, name, time
    pairs: int = 0
    metadata: int = 0
    strange: int = 0

    @property
    def ends(self) -> int:
        return sum(map(len, self.flows.values()))

    @property
    def tied(self) -> int:
        """Flows that have a begin and something it leads to."""
        phases = [{phase for phase, _ in ends} for ends in self.flows.values()]
        return sum("s" in one and len(one) > 1 for one in phases)

    @property
    def arrows(self) -> Counter[tuple[Location, Location]]:
        """What each begin leads to: its steps one after the other, then its ends; without steps all its ends, since
        torch_npu ties one launch to several tasks. Only of files whose flows begin once."""
        arrows: Counter[tuple[Location, Location]] = Counter()
        for ends in self.flows.values():
            begins, steps, last = (sorted((where for ph, where in ends if ph == phase), key=_time) for phase in FLOWS)
            path = [*begins[:1], *steps]
            arrows.update(pairwise(path) if begins else ())
            arrows.update((path[-1], where) for where in last if begins)
        return arrows

    @property
    def first(self) -> int:
        return min(time for times in self._times() for time in times[:1])

    @property
    def last(self) -> int:
        return max(time for times in self._times() for time in times)

    def _times(self) -> list[tuple[int, ...]]:
        times = [key[3:] for key in self.slices] + [key[1:] for key in self.apart]
        return times + [key[3:] for key in self.instants] + [key[2:] for key in self.samples]


def count(path: Path) -> TraceCounts:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return count_text(data.decode("utf-8", "replace"))


def count_text(text: str) -> TraceCounts:
    whole = json.loads(text, parse_float=Decimal)
    origin = int(whole.get("baseTimeNanoseconds", 0)) if isinstance(whole, dict) else 0
    counts = TraceCounts()
    halves: list[Half] = []
    for event in whole["traceEvents"] if isinstance(whole, dict) else whole:
        counts.events += 1
        _add(counts, event, origin, halves)
    _join(counts, halves)
    return counts


def nanoseconds(value: Any) -> int | None:
    """Convert microseconds, as a number or as text, rounded half to even; None where it is no time."""
    try:
        return int((Decimal(str(value).strip()) * 1000).to_integral_value())
    except (InvalidOperation, ValueError, OverflowError):
        return None


def _time(where: Location) -> int:
    return where[2]


def _add(counts: TraceCounts, event: Any, origin: int, halves: list[Half]) -> None:
    phase = event.get("ph") if isinstance(event, dict) else None
    counts.phases[str(phase)] += 1
    if phase == "M":
        counts.metadata += 1
        return
    time = nanoseconds(event.get("ts")) if isinstance(event, dict) else None
    if time is None or not _counts_as_shown(counts, event, str(phase), time + origin, halves):
        counts.strange += 1


def _counts_as_shown(counts: TraceCounts, event: dict[str, Any], phase: str, time: int, halves: list[Half]) -> bool:
    pid, tid, name = (str(event.get(key)) for key in ("pid", "tid", "name"))
    if phase == "X":
        length = nanoseconds(event.get("dur") or 0)
        if length is None or length < 0:
            return False
        counts.slices[(pid, tid, name, time, time + length)] += 1
    elif phase in INSTANTS:
        counts.instants[(pid, tid, name, time)] += 1
    elif phase in FLOWS:
        counts.flows[(str(event.get("cat")), str(event.get("id")))].append((phase, (pid, tid, time)))
    elif phase == "C":
        counts.samples[(pid, name, time)] += 1
    elif phase in "BbSEeF":
        key = (
            (pid, tid, "")
            if phase in "BE"
            else (str(event.get("cat")), str(event.get("id", event.get("id2"))), "apart")
        )
        halves.append((time, phase in "BbS", key, name))
    else:
        return False
    return True


def _join(counts: TraceCounts, halves: list[Half]) -> None:
    """An end closes what began last with the same key; those of one time are in the order of the file."""
    begun: defaultdict[tuple[str, str, str], list[tuple[str, int]]] = defaultdict(list)
    for time, begins, key, name in sorted(halves, key=lambda half: half[0]):
        if begins:
            begun[key].append((name, time))
        elif begun[key]:
            first, start = begun[key].pop()
            counts.pairs += 1
            if key[2]:
                counts.apart[(first, start, time)] += 1
            else:
                counts.slices[(key[0], key[1], first, start, time)] += 1
        else:
            counts.strange += 1
    counts.strange += sum(map(len, begun.values()))
