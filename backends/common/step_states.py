"""What the newest runs of a step on Home tell, beside whether it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.run import NONFINITE, is_at_work, outcome_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio.feature import StepState
    from studio.run import Glance

_STATES: dict[str, StepState] = {
    "stopped": "stopped", "failed": "problem", "lost": "problem", "no": "problem",
    "incomplete": "problem", NONFINITE: "problem",
}  # fmt: skip


def step_state(glances: Sequence[Glance]) -> StepState:
    """Return the state by the runs of a step, newest first: a run at work comes before how the newest ended."""
    if any(map(is_at_work, glances)):
        return "working"
    return _STATES.get(outcome_of(glances[0]), "") if glances else ""
