"""What `--json` adds: written by the worker, so that the command need not open the comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.precision.compare.comparison import DIFFERS, FIRST, FOLDER, FOLLOWS
from studio import files

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison
    from studio.run import Run

FILE = "answer.json"


def answer(run: Run) -> dict[str, Any]:
    """Nothing where the run left no comparison."""
    found = files.read_json(run.folder / FOLDER / FILE)
    return found if isinstance(found, dict) else {}


def write_answer(comparison: Comparison, run: Run) -> None:
    """Beside the comparison. Raises OSError."""
    first = comparison.first
    verdicts = comparison.verdict.tolist()
    found = {
        "first_divergence": None if first is None else {
            "name": first.name, "direction": first.direction, "place": first.place, "index": first.index,
            "step": first.step, "rank": first.rank, "reason": first.reason, "source": first.source, "args": first.args,
        },
        "calls": len(comparison.names), "rows": len(verdicts),
        "differs": verdicts.count(DIFFERS) + verdicts.count(FIRST), "follows": verdicts.count(FOLLOWS),
        "passes": [{"step": one.step, "rank": one.rank} for one in comparison.passes],
        "notes": [note["key"] for note in comparison.notes],
    }  # fmt: skip
    files.write_json(run.folder / FOLDER / FILE, found)
