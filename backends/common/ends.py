"""The last events of a run, from the ends of its files: what a card shows without reading a run whole."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from studio.events import Event, Finding, Metric, attempt_and_rank, decode
from studio.tail import last_lines

if TYPE_CHECKING:
    from pathlib import Path


def last_events(folder: Path, octets: int = 8192) -> list[Event]:
    """Events at the ends of the files of rank 0, in order of time; at most `octets` of each file are read."""
    try:
        names = [path.name for path in folder.iterdir() if (attempt_and_rank(path.name) or (0, 1))[1] == 0]
    except OSError:
        return []
    found = [event for name in names for event in decode(b"\n".join(last_lines(folder / name, octets)))[0]]
    return sorted(found, key=lambda event: event.time)


def last_values(events: list[Event], name: str) -> list[float]:
    """The values of one metric, oldest first; what is not a number is NaN."""
    values = (event.values.get(name) for event in events if isinstance(event, Metric))
    numbers = [float(value) for value in values if value is not None]
    return [number if math.isfinite(number) else math.nan for number in numbers]


def last_error(events: list[Event]) -> Finding | None:
    """Why a run failed, as far as it said so."""
    found = [event for event in events if isinstance(event, Finding) and event.severity == "error"]
    return found[-1] if found else None
