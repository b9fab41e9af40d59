"""What the last events of a run say (`studio.run.last_events`): for a card, without reading a run whole."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from studio.events import Finding, Metric

if TYPE_CHECKING:
    from studio.events import Event


def last_values(events: list[Event], name: str) -> list[float]:
    """The values of one metric, oldest first; what is not a number is NaN."""
    values = (event.values.get(name) for event in events if isinstance(event, Metric))
    numbers = [float(value) for value in values if value is not None]
    return [number if math.isfinite(number) else math.nan for number in numbers]


def last_error(events: list[Event]) -> Finding | None:
    """Why a run failed, as far as it said so."""
    found = [event for event in events if isinstance(event, Finding) and event.severity == "error"]
    return found[-1] if found else None
