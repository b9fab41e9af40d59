"""A comparison that ended: read off the UI thread, with what changed since."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.compare.columns import open_comparison
from backends.precision.compare.comparison import FOLDER
from studio.errors import StudioError
from studio.texts import t
from ui.curves.names import when
from ui.precision.captures import run_name, task_name, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run
    from ui.widgets import Tone

SIDES = ("target", "golden")
LONGEST = 34
NEWER = {"target": "precision.page.newer_target", "golden": "precision.page.newer_golden"}
GONE = {"target": "precision.page.gone_target", "golden": "precision.page.gone_golden"}


CLEAN: tuple[str, Tone] = ("precision.page.clean_chip", "good")
DIFFERS: tuple[str, Tone] = ("precision.page.differs_chip", "bad")


@dataclass(frozen=True, kw_only=True)
class Compared:
    """`stale`: the key of what changed since, '' where nothing did."""

    run: Run
    comparison: Comparison
    stale: str = ""


def read_compared(run: Run) -> Compared | StudioError:
    try:
        found = open_comparison(run.folder / FOLDER)
    except StudioError as error:
        return error
    return Compared(run=run, comparison=found, stale=_stale(run, found))


def _stale(run: Run, found: Comparison) -> str:
    """A dump is gone, or was written again after it was compared."""
    for side in SIDES:
        folders = [folder for one in found.passes if (folder := getattr(one, side)) is not None]
        if not all(folder.is_dir() for folder in folders):
            return GONE[side]
        if written(folder / "dump.json" for folder in folders) > run.asked.time / 1e9:
            return NEWER[side]
    return ""


def sides_of(run: Run) -> tuple[Path, Path]:
    """What was asked to be compared: target and golden side."""
    cards = [card for card in run.asked.values.values() if isinstance(card, dict)]
    found = [next((card[side] for card in cards if side in card), "") for side in SIDES]
    return Path(str(found[0])), Path(str(found[1]))


def name_of(run: Run, runs: Mapping[str, Run]) -> str:
    """'10:12: train.py --cast 1 · 10:02:05 ↔ gpu-run · tensors'; `runs`: those of the project, by name."""
    paths = sides_of(run)
    target, golden = (_short(path, runs) for path in paths)
    asked = {_task(path, runs) for path in paths} - {"", "statistics"}
    return " · ".join((f"{when(run)}: {target} ↔ {golden}", *map(task_name, sorted(asked))))


def _task(path: Path, runs: Mapping[str, Run]) -> str:
    """What a run of ours captured, as it was asked."""
    run = _run_of(path, runs)
    planned = run.asked.values.get("planned") if run is not None else None
    return str(planned.get("capture_task", "")) if isinstance(planned, dict) else ""


def _run_of(path: Path, runs: Mapping[str, Run]) -> Run | None:
    return next((runs[name] for name in reversed(path.parts) if name in runs), None)


def _short(path: Path, runs: Mapping[str, Run]) -> str:
    """A capture of a run by what was run, and when."""
    run = _run_of(path, runs)
    name = run_name(run) if run is not None else path.name
    return name if len(name) <= LONGEST else f"{name[:16]}…{name[-16:]}"


def state_of(found: Compared) -> tuple[str, Tone]:
    """The chip of the page: when it was compared, and what it came to."""
    key, tone = CLEAN if found.comparison.first is None else DIFFERS
    return f"{t(key)} · {when(found.run)}", tone
