"""From effort to hours: the estimate for one engineer who knows the project, computed the same way for everybody."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.finding import ScanFinding

HOURS = {0: (0.0, 0.0), 1: (0.03, 0.1), 3: (0.5, 1.5), 5: (1.5, 4.0), 7: (4.0, 12.0), 13: (12.0, 40.0)}
"""Fewest and most hours by effort, for the first finding of a rule in a file: 1 is to review an offered edit, 13 to
write an operator from scratch."""
REPEATED = 0.25
"""Share of that for each further finding of the same rule in the same file: by then the recipe is known."""


def estimate_hours(findings: Iterable[ScanFinding]) -> tuple[float, float]:
    """Return the fewest and most hours for findings that are no advice. An unverified one may need nothing."""
    counts = Counter(
        (finding.path, finding.rule, finding.state, finding.effort) for finding in findings if finding.is_counted
    )
    low = high = 0.0
    for (_, _, state, effort), count in counts.items():
        weight = 1 + REPEATED * (count - 1)
        low += 0.0 if state == "unverified" else HOURS[effort][0] * weight
        high += HOURS[effort][1] * weight
    return round(low, 2), round(high, 2)
