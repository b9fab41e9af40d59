"""The last events of a run (`studio.run.last_events`): enough for a list, without reading the whole run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from studio.events import Metric

if TYPE_CHECKING:
    from studio.events import Event


def last_values(events: list[Event], name: str) -> list[float]:
    """Return the values of one metric, oldest first; what is not a number is NaN."""
    values = (event.values.get(name) for event in events if isinstance(event, Metric))
    numbers = [float(value) for value in values if value is not None]
    return [number if math.isfinite(number) else math.nan for number in numbers]
