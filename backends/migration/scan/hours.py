"""From effort to hours: an estimate, made the same way for everybody, of one engineer who knows the project."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.found import Found

HOURS = {0: (0.0, 0.0), 1: (0.03, 0.1), 3: (0.5, 1.5), 5: (1.5, 4.0), 7: (4.0, 12.0), 13: (12.0, 40.0)}
"""Of the first place of a rule in a file: 1 is to read an edit that is offered, 13 to write an operator anew."""
REPEATED = 0.25
"""What each further place of the same rule in the same file takes of that: the recipe is known by then."""


def hours(found: Iterable[Found]) -> tuple[float, float]:
    """Fewest and most hours for the places among them. What is unverified may turn out to need nothing."""
    counts = Counter((one.path, one.rule, one.state, one.effort) for one in found if one.kind == "place")
    low = high = 0.0
    for (_, _, state, effort), count in counts.items():
        times = 1 + REPEATED * (count - 1)
        low += 0.0 if state == "unverified" else HOURS[effort][0] * times
        high += HOURS[effort][1] * times
    return round(low, 2), round(high, 2)
