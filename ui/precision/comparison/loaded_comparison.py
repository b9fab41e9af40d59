"""A comparison that has ended, read from its run folder, and what has changed since."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.compare.comparison import FOLDER
from backends.precision.compare.comparison_files import open_comparison
from studio.errors import StudioError
from studio.texts import t
from ui.precision.captures import newest_write_time, run_name, task_text
from ui.services.run_titles import when

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run
    from ui.widgets.basic import Tone

SIDES = ("target", "golden")
MAX_NAME = 34
NEWER = {"target": "precision.page.newer_target", "golden": "precision.page.newer_golden"}
GONE = {"target": "precision.page.gone_target", "golden": "precision.page.gone_golden"}


CLEAN: tuple[str, Tone] = ("precision.page.clean_chip", "good")
DIFFERS: tuple[str, Tone] = ("precision.page.differs_chip", "bad")
INCOMPLETE: tuple[str, Tone] = ("precision.page.incomplete_chip", "warning")
CHIPS = {"pass": CLEAN, "differs": DIFFERS, "incomplete": INCOMPLETE}


@dataclass(frozen=True, kw_only=True)
class LoadedComparison:
    """`stale` is the text key of what has changed since, '' where nothing has."""

    run: Run
    comparison: Comparison
    stale: str = ""


def load_comparison(run: Run) -> LoadedComparison | StudioError:
    try:
        comparison = open_comparison(run.folder / FOLDER)
    except StudioError as error:
        return error
    return LoadedComparison(run=run, comparison=comparison, stale=_stale(run, comparison))


def _stale(run: Run, comparison: Comparison) -> str:
    """Return a text key if a dump is gone, or was written again after it was compared."""
    for side in SIDES:
        sides = (each.target if side == "target" else each.golden for each in comparison.passes)
        folders = [folder for folder in sides if folder is not None]
        if not all(folder.is_dir() for folder in folders):
            return GONE[side]
        if newest_write_time(folder / "dump.json" for folder in folders) > run.request.time / 1e9:
            return NEWER[side]
    return ""


def requested_sides(run: Run) -> tuple[Path, Path]:
    """Return the target and the golden path that the run was asked to compare."""
    sections = [section for section in run.request.values.values() if isinstance(section, dict)]
    sides = [next((section[side] for section in sections if side in section), "") for side in SIDES]
    return Path(str(sides[0])), Path(str(sides[1]))


def comparison_title(run: Run, runs: Mapping[str, Run]) -> str:
    """Return '10:12: train.py --cast 1 · 10:02:05 ↔ gpu-run · tensors'. `runs` holds the runs of the project by
    name."""
    paths = requested_sides(run)
    target, golden = (_short(path, runs) for path in paths)
    tasks = {_task(path, runs) for path in paths} - {"", "statistics"}
    return " · ".join((f"{when(run)}: {target} ↔ {golden}", *map(task_text, sorted(tasks))))


def _task(path: Path, runs: Mapping[str, Run]) -> str:
    """Return the capture task that the run of a capture was asked for, '' for a folder from elsewhere."""
    run = _run_of(path, runs)
    planned = run.request.values.get("planned") if run is not None else None
    return str(planned.get("capture_task", "")) if isinstance(planned, dict) else ""


def _run_of(path: Path, runs: Mapping[str, Run]) -> Run | None:
    return next((runs[name] for name in reversed(path.parts) if name in runs), None)


def _short(path: Path, runs: Mapping[str, Run]) -> str:
    """Return a short name of a side: what was run and when, or the folder's name."""
    run = _run_of(path, runs)
    name = run_name(run) if run is not None else path.name
    return name if len(name) <= MAX_NAME else f"{name[:16]}…{name[-16:]}"


def chip_state(loaded: LoadedComparison) -> tuple[str, Tone]:
    """Return the text and tone of the page's chip: the outcome and when it was compared."""
    key, tone = CHIPS[loaded.comparison.outcome]
    return f"{t(key)} · {when(loaded.run)}", tone
