"""What the last runs of a recipe measured, to set beside a choice: nothing here is an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from studio.events import Note
from studio.run import last_events

if TYPE_CHECKING:
    from collections.abc import Iterable

    from studio.run import Run

READ_AT_MOST = 20
MODES = 3


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Measured in `run`. Times in seconds; `compile_seconds` is 0 where nothing was compiled."""

    run: Run
    step_seconds: float
    samples_per_second: float
    compile_seconds: float
    train_seconds: float


def last_figures(newest_first: Iterable[Run], recipe: str) -> dict[str, Figures]:
    """By mode, of the newest run of a recipe that told its figures at its end. Reads a few kilobytes of each
    run."""
    found: dict[str, Figures] = {}
    read = 0
    for run in newest_first:
        mode = _chosen(run, "how", "mode")
        if run.asked.command != "launch" or _chosen(run, "what", "recipe") != recipe or mode in found:
            continue
        read += 1
        if figures := figures_of(run):
            found[str(mode)] = figures
        if read == READ_AT_MOST or len(found) == MODES:
            break
    return found


def _chosen(run: Run, card: str, field: str) -> Any:
    values = run.asked.values.get(card)
    return values.get(field) if isinstance(values, dict) else None


def figures_of(run: Run) -> Figures | None:
    """The figures in a run's summary, None where it has none (it still runs, or it failed)."""
    notes = [one for one in last_events(run.folder) if isinstance(one, Note) and one.key == "launch.summary"]
    if not notes:
        return None
    args = notes[-1].args
    names = ("step_seconds", "samples_per_second", "compile_seconds", "train_seconds")
    if not all(isinstance(args.get(name), int | float) for name in names):
        return None
    return Figures(run=run, **{name: float(args[name]) for name in names})
