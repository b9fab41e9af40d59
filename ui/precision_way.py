"""How far a project's precision is: compared, or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.run import outcome_of

if TYPE_CHECKING:
    from ui.session import Session

PRECISION = "precision"


def is_compared(session: Session) -> bool:
    """A comparison that came to an answer, whichever it is."""
    ended = [run for run, glance in session.listed if outcome_of(glance) in ("done", "no")]
    return any(run.asked.command == "compare" for run in ended)
