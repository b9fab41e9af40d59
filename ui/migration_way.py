"""How far a project's migration is, by what its runs left: scanned, migrated, proven."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from studio.events import Note
from studio.run import last_events, outcome_of

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run
    from ui.session import Session

MIGRATION = "migration"
Way = Literal["open", "migrate", "certify", "done"]
"""What comes next; open: nobody has begun."""


def way(session: Session) -> Way:
    """The newest run that says something counts: a proof that was granted, a migration that was applied and not taken
    back, a scan. Runs without a project may be of any folder and say nothing."""
    listed = session.listed if session.project else []
    undone: set[str] = set()
    is_scanned = False
    for run, glance in listed:
        command, outcome = run.asked.command, outcome_of(glance)
        if command == "certify" and outcome == "done":
            return "done"
        if command == "migrate" and outcome == "done":
            if taken_back := _result(run, "undo"):
                undone.add(taken_back)
            elif (_result(run, "into") or _result(run, "branch")) and str(run.folder) not in undone:
                return "certify"
        if command == "scan" and outcome in ("done", "no") and not is_scanned:
            if _has_nothing(run.folder):
                return "done"
            is_scanned = True
    return "migrate" if is_scanned else "open"


def _result(run: Run, name: str) -> str:
    card = run.asked.values.get("result")
    value: Any = card.get(name) if isinstance(card, dict) else None
    return value if isinstance(value, str) else ""


@lru_cache(maxsize=256)
def _has_nothing(scan: Path) -> bool:
    """Whether no place of the project touches the GPU stack. Of a run that ended, so that it stays as it is."""
    told = [one for one in last_events(scan) if isinstance(one, Note) and one.key == "migration.scan.done"]
    return bool(told) and told[-1].args.get("total") == 0
