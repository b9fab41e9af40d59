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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Slice = tuple[str, str, str, int, int]  # pid, tid, name, start, end
INSTANTS = ("i", "I", "R", "n")
FLOWS = "stf"


@dataclass(kw_only=True)
class Counted:
    """`phases`: ph -> events. `flows`: (category, id) -> begins, steps, ends. `pairs`: slices of two events each (B and
    E, b and e), the latter in `apart`, since their lane is their id. `strange`: neither shown nor metadata."""

    events: int = 0
    phases: Counter[str] = field(default_factory=Counter)
    slices: Counter[Slice] = field(default_factory=Counter)
    apart: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    instants: Counter[tuple[str, str, str, int]] = field(default_factory=Counter)
    flows: defaultdict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))
    samples: Counter[tuple[str, str, int]] = field(default_factory=Counter)  # pid, name, time
    pairs: int = 0
    metadata: int = 0
    strange: int = 0

    @property
    def ends(self) -> int:
        return sum(sum(one) for one in self.flows.values())

    @property
    def arrows(self) -> int:
        """Each begin leads to all that goes on with it: torch_npu ties one launch to several tasks. Only of files whose
        flows begin once."""
        return sum(steps + ended for begun, steps, ended in self.flows.values() if begun)

    @property
    def first(self) -> int:
        return min(time for times in self._times() for time in times[:1])

    @property
    def last(self) -> int:
        return max(time for times in self._times() for time in times)

    def _times(self) -> list[tuple[int, ...]]:
        found = [key[3:] for key in self.slices] + [key[1:] for key in self.apart]
        return found + [key[3:] for key in self.instants] + [key[2:] for key in self.samples]


def count(path: Path) -> Counted:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return count_text(data.decode("utf-8", "replace"))


def count_text(text: str) -> Counted:
    whole = json.loads(text, parse_float=Decimal)
    origin = int(whole.get("baseTimeNanoseconds", 0)) if isinstance(whole, dict) else 0
    found = Counted()
    open_pairs: defaultdict[tuple[str, str, str], list[tuple[str, int]]] = defaultdict(list)
    for event in whole["traceEvents"] if isinstance(whole, dict) else whole:
        found.events += 1
        _add(found, event, origin, open_pairs)
    found.strange += sum(map(len, open_pairs.values()))
    return found


def nanoseconds(value: Any) -> int | None:
    """Of microseconds as a number or as text, to even; None where it is no time."""
    try:
        return int((Decimal(str(value).strip()) * 1000).to_integral_value())
    except (InvalidOperation, ValueError, OverflowError):
        return None


def _add(found: Counted, event: Any, origin: int, begun: defaultdict[tuple[str, str, str], Any]) -> None:
    phase = event.get("ph") if isinstance(event, dict) else None
    found.phases[str(phase)] += 1
    if phase == "M":
        found.metadata += 1
        return
    time = nanoseconds(event.get("ts")) if isinstance(event, dict) else None
    if time is None or not _is_shown(found, event, str(phase), time + origin, begun):
        found.strange += 1


def _is_shown(
    found: Counted, event: dict[str, Any], phase: str, time: int, begun: defaultdict[tuple[str, str, str], Any]
) -> bool:
    pid, tid, name = (str(event.get(key)) for key in ("pid", "tid", "name"))
    if phase == "X":
        length = nanoseconds(event.get("dur") or 0)
        if length is None or length < 0:
            return False
        found.slices[(pid, tid, name, time, time + length)] += 1
    elif phase in INSTANTS:
        found.instants[(pid, tid, name, time)] += 1
    elif phase in FLOWS:
        found.flows[(str(event.get("cat")), str(event.get("id")))][FLOWS.index(phase)] += 1
    elif phase == "C":
        found.samples[(pid, name, time)] += 1
    elif phase in ("B", "b"):
        begun[_pair(event)].append((name, time))
    elif phase in ("E", "e") and begun[_pair(event)]:
        name, start = begun[_pair(event)].pop()
        found.pairs += 1
        if phase == "E":
            found.slices[(pid, tid, name, start, time)] += 1
        else:
            found.apart[(name, start, time)] += 1
    else:
        return False
    return True


def _pair(event: dict[str, Any]) -> tuple[str, str, str]:
    """What ends must agree in: the lane, or of async ones the category and the id."""
    if str(event["ph"]) in "BE":
        return str(event.get("pid")), str(event.get("tid")), ""
    return (str(event.get("cat")), str(event.get("id", event.get("id2"))), "async")
