"""What each device does in a range, from the intervals that `tables.devices` finds once per trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from backends.timeline.tables.devices import Device, devices

if TYPE_CHECKING:
    from backends.timeline.tables.intervals import Intervals
    from backends.timeline.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Busy:
    """Usage of one device in [begin, end), in ns, each the length of a union. `exposed`: communication while nothing
    computes; `free`: neither. computing + exposed + free is the length of the range."""

    rank: int | None
    label: str
    computing: int
    communication: int
    exposed: int
    free: int


_devices: WeakKeyDictionary[Trace, tuple[Device, ...]] = WeakKeyDictionary()


def busy(trace: Trace, begin: int, end: int) -> tuple[Busy, ...]:
    """Return the usage of each device that computes or communicates. The first call for a trace reads all its device
    lanes."""
    if trace not in _devices:
        _devices[trace] = devices(trace)
    return tuple(_busy(device, begin, max(begin, end)) for device in _devices[trace])


def _busy(device: Device, begin: int, end: int) -> Busy:
    computing, communication, exposed = (
        inside(pieces, begin, end) for pieces in (device.computing, device.communication, device.exposed)
    )
    return Busy(
        rank=device.rank,
        label=device.label,
        computing=computing,
        communication=communication,
        exposed=exposed,
        free=max(0, end - begin - computing - exposed),
    )


def inside(pieces: Intervals, begin: int, end: int) -> int:
    """Return how many ns of [begin, end) the intervals cover."""
    return _before(pieces, end) - _before(pieces, begin)


def _before(pieces: Intervals, time: int) -> int:
    count = int(np.searchsorted(pieces.start, time))
    not_yet = max(0, int(pieces.end[count - 1]) - time) if count else 0
    return int(pieces.lengths[count]) - not_yet
