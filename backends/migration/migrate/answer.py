"""What a migration comes to, in figures and as the command line's JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from backends.migration.migrate.changes import Changes
from backends.migration.migrate.decided import decided

if TYPE_CHECKING:
    from studio.run import Run

FILE = "artifacts/changes.json"


def figures(made: Changes) -> dict[str, Any]:
    """`hunks` and `files`: what was applied, or would be."""
    counts = Counter(hunk.state for hunk in made.hunks())
    chosen = set(made.applied) or {hunk.id for hunk in decided(made)}
    return {
        "hunks": len(chosen), "files": len({hunk.path for hunk in made.hunks() if hunk.id in chosen}),
        "yours": counts["yours"], "offered": counts["offered"], "target": made.target or made.branch,
        "withdrawn": sum(bool(file.withdrawn) for file in made.files),
    }  # fmt: skip


def answer(run: Run) -> dict[str, Any]:
    """How much was changed, places per state before and after, and what is left to a person."""
    try:
        made = msgspec.json.decode((run.folder / FILE).read_bytes(), type=Changes)
    except (OSError, msgspec.MsgspecError):
        return {}
    left = [
        {"path": hunk.path, "line": hunk.first, "end": hunk.last, "rules": list(hunk.rules)}
        for hunk in made.hunks()
        if hunk.state == "yours"
    ]
    return {
        "style": made.style, **figures(made), "before": made.before, "after": made.after, "left": left,
        "changes": str(run.folder / FILE), "undo": str(run.folder),
    }  # fmt: skip
