"""Communication operators in communication.json: their parts of time, and size and bandwidth of each link.

{step: {"p2p" | "collective": {"op@group": {"Communication Time Info": …, "Communication Bandwidth Info": {link: …}}}}}
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from backends.timeline.tables.cell_values import cell_figure
from backends.timeline.tables.table_files import files_of
from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FILE_NAME = "communication.json"
LARGEST_FILE = 512 << 20
START_SLACK = 1000
"""ns: starts are JSON numbers of 16 or 17 digits, cut to tenths of a us."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """Traffic over one kind of link (HCCS, RDMA, SDMA, PCIE, SIO): MB, ms, GB/s; `large`: share of large packets, 0 to
    1."""

    kind: str
    size: float
    time: float
    bandwidth: float
    large: float


@dataclass(frozen=True, kw_only=True)
class Communication:
    """`start`: ns, to about 0.1 us. `figures`: as the file names them, ms and ratios; `links`: those that
    carried data."""

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
        """Return the operator of this name that starts at this time."""
        near = [operator for operator in self.of_name.get(name, ()) if abs(operator.start - start_ns) <= START_SLACK]
        return min(near, key=lambda operator: abs(operator.start - start_ns), default=None)


def communications(folder: Path) -> tuple[Communications, ...]:
    """Read each file. A file that is larger than LARGEST_FILE, truncated or of another shape gives nothing."""
    read = ((path, _decoded(path)) for path in files_of(folder, FILE_NAME))
    return tuple(Communications(path, _by_name(data)) for path, data in read if isinstance(data, dict))


def _decoded(path: Path) -> Any:
    try:
        return msgspec.json.decode(files.read_bytes(path)) if path.stat().st_size <= LARGEST_FILE else None
    except (OSError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _by_name(data: dict[str, Any]) -> dict[str, tuple[Communication, ...]]:
    by_name: defaultdict[str, list[Communication]] = defaultdict(list)
    for step, kinds in data.items():
        for operators in _dicts(kinds):
            for title, info in _items(operators):
                name, _, group = title.partition("@")
                if (operator := _communication(step, group, info)) is not None:
                    by_name[name].append(operator)
    return {name: tuple(ones) for name, ones in by_name.items()}


def _communication(step: str, group: str, info: dict[str, Any]) -> Communication | None:
    times = info.get("Communication Time Info")
    start = _number(times.get("Start Timestamp(us)")) if isinstance(times, dict) else None
    if not isinstance(times, dict) or start is None or not 0 < start < 4e15:  # us of int64 ns, with room
        return None
    figures = {name: value for name, text in times.items() if (value := _number(text)) is not None}
    figures.pop("Start Timestamp(us)")
    links = tuple(link for kind, node in _items(info.get("Communication Bandwidth Info")) for link in _link(kind, node))
    return Communication(step=step, group=group, start=round(start * 1000), figures=figures, links=links)


def _link(kind: str, info: dict[str, Any]) -> Iterator[Link]:
    columns = ("Transit Size(MB)", "Transit Time(ms)", "Bandwidth(GB/s)", "Large Packet Ratio")
    size, time, bandwidth, large = (_number(info.get(column)) or 0.0 for column in columns)
    if size > 0:
        yield Link(kind=kind, size=size, time=time, bandwidth=bandwidth, large=large)


def _number(value: object) -> float | None:
    return cell_figure(str(value)) if isinstance(value, (int, float, str)) and not isinstance(value, bool) else None


def _dicts(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield from (child for child in node.values() if isinstance(child, dict))


def _items(node: object) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(node, dict):
        yield from ((name, child) for name, child in node.items() if isinstance(child, dict))
