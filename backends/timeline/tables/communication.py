"""What communication.json says of a communication operator: its parts of time, and each link's size and bandwidth.

{step: {"p2p" | "collective": {"op@group": {"Communication Time Info": …, "Communication Bandwidth Info": {link: …}}}}}
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from backends.timeline.tables.cells import figure
from backends.timeline.tables.folders import files_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

NAME = "communication.json"
LARGEST = 512 << 20
SLACK = 1000
"""ns: starts are JSON numbers of 16 or 17 digits, cut to tenths of a us."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """Over one kind of link (HCCS, RDMA, SDMA, PCIE, SIO): MB, ms, GB/s; `large`: share of large packets, 0 to 1."""

    kind: str
    size: float
    time: float
    bandwidth: float
    large: float


@dataclass(frozen=True, kw_only=True)
class Communication:
    """`start`: ns, to about 0.1 us. `figures`: as the file names them, ms and ratios; `links`: those that carried."""

    step: str
    group: str
    start: int
    figures: Mapping[str, float]
    links: tuple[Link, ...]


@dataclass(frozen=True)
class Communications:
    path: Path
    of_name: Mapping[str, tuple[Communication, ...]]

    def find(self, name: str, start_ns: int) -> Communication | None:
        """The one of this name that starts then."""
        near = [one for one in self.of_name.get(name, ()) if abs(one.start - start_ns) <= SLACK]
        return min(near, key=lambda one: abs(one.start - start_ns), default=None)


def communications(folder: Path) -> tuple[Communications, ...]:
    """One of each file. What is larger than LARGEST, cut or of another shape gives nothing."""
    read = ((path, _decoded(path)) for path in files_of(folder, NAME))
    return tuple(Communications(path, _by_name(data)) for path, data in read if isinstance(data, dict))


def _decoded(path: Path) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes()) if path.stat().st_size <= LARGEST else None
    except (OSError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _by_name(data: dict[str, Any]) -> dict[str, tuple[Communication, ...]]:
    found: defaultdict[str, list[Communication]] = defaultdict(list)
    for step, kinds in data.items():
        for operators in _dicts(kinds):
            for title, info in _items(operators):
                name, _, group = title.partition("@")
                if (one := _communication(step, group, info)) is not None:
                    found[name].append(one)
    return {name: tuple(ones) for name, ones in found.items()}


def _communication(step: str, group: str, info: dict[str, Any]) -> Communication | None:
    times = info.get("Communication Time Info")
    start = _number(times.get("Start Timestamp(us)")) if isinstance(times, dict) else None
    if not isinstance(times, dict) or start is None or not 0 < start < 4e15:  # us of int64 ns, with room
        return None
    figures = {name: value for name, given in times.items() if (value := _number(given)) is not None}
    figures.pop("Start Timestamp(us)")
    links = tuple(
        link for kind, given in _items(info.get("Communication Bandwidth Info")) for link in _link(kind, given)
    )
    return Communication(step=step, group=group, start=round(start * 1000), figures=figures, links=links)


def _link(kind: str, given: dict[str, Any]) -> Iterator[Link]:
    columns = ("Transit Size(MB)", "Transit Time(ms)", "Bandwidth(GB/s)", "Large Packet Ratio")
    size, time, bandwidth, large = (_number(given.get(column)) or 0.0 for column in columns)
    if size > 0:
        yield Link(kind=kind, size=size, time=time, bandwidth=bandwidth, large=large)


def _number(value: object) -> float | None:
    return figure(str(value)) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else None


def _dicts(given: object) -> Iterator[dict[str, Any]]:
    if isinstance(given, dict):
        yield from (one for one in given.values() if isinstance(one, dict))


def _items(given: object) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(given, dict):
        yield from ((name, one) for name, one in given.items() if isinstance(one, dict))
