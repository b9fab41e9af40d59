"""A reproducer, in the worker: the script, and the tensors of either side in a folder of its own."""

from __future__ import annotations

import shutil
import stat
from typing import TYPE_CHECKING, Any

from backends.precision.compare.tolerances import TOLERANCES
from backends.precision.compare.values.distance import eps_of
from backends.precision.dump.dump import OUTPUT
from backends.precision.issue.markdown import figures, issue_text, rows_of
from backends.precision.reproduce.script import SCRIPT_NAME, Script, reproducer
from backends.precision.sides import call_of, open_comparison_run, sides_of
from studio import files, texts
from studio.errors import StudioError, from_os
from studio.events import Artifact, Ended, Journal, Note
from studio.units import size

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison
    from backends.precision.reproduce.spec import ReproduceSpec
    from backends.precision.sides import CallSide
    from studio.run import Run

REPRODUCER_FOLDER = "artifacts/reproducer"
ISSUE = "issue.md"
SUMMED = 8
"""Roundings of a sum of some hundred products: their errors grow as the root of their number."""
MAX_COPIED_BYTES = 20 * 10**9
"""Bytes of tensors that are copied: more is no reproducer that anybody could send."""


def reproduce(spec: ReproduceSpec, run: Run) -> Ended:
    """Leaves reproduce.py, its tensors and issue.md. Raises StudioError."""
    comparison = open_comparison_run(spec.chosen.comparison)
    call = call_of(comparison, spec.chosen.call)
    sides = sides_of(comparison, call)
    reproduction = reproducer(sides, limit_of(comparison, call), figures(comparison, call, "en"))
    folder = spec.written.out if spec.written.out.parts else run.folder / REPRODUCER_FOLDER
    language = texts.language() if spec.written.report_language == "system" else spec.written.report_language
    issue = issue_text(comparison, call, language, SCRIPT_NAME)
    written = write_reproducer(reproduction, issue, sides, folder)
    journal = Journal(run.folder, 1)
    journal.write(Artifact(kind="reproducer", path=str(folder / SCRIPT_NAME)))
    journal.write(Note(key="precision.reproduce.done", args={"file": str(folder / SCRIPT_NAME), "size": size(written)}))
    return Ended(code=0)


def limit_of(comparison: Comparison, call: int) -> float:
    """What two kernels with the same inputs may differ by: some roundings of the output's dtype."""
    rows = [row for row in rows_of(comparison, call) if comparison.role[row] == OUTPUT]
    dtypes = [comparison.dtypes[dtype] for dtype in comparison.target_dtype[rows] if dtype >= 0]
    return SUMMED * max((TOLERANCES.rounding(eps_of(dtype)) for dtype in dtypes), default=0.0)


def write_reproducer(reproduction: Script, issue: str, sides: tuple[CallSide, ...], folder: Path) -> int:
    """Whole or not at all: in a folder beside it that is renamed. Returns bytes. Raises StudioError."""
    sources = {(side.name, side.tensor(name)) for side in sides for name in reproduction.files[side.name]}
    size = sum(_size(path) for _, path in sources)
    if size > MAX_COPIED_BYTES:
        raise StudioError("precision.reproduce.too_large", gigabytes=size // 10**9)
    making = folder.with_name(f".{folder.name}.making")
    try:
        shutil.rmtree(making, ignore_errors=True)
        for side in sides:
            (making / side.name).mkdir(parents=True)
        for name, path in sources:
            shutil.copyfile(path, making / name / path.name)
        files.write_whole(making / SCRIPT_NAME, reproduction.text.encode("utf-8", "replace"))
        files.write_whole(making / ISSUE, issue.encode("utf-8", "replace"))
        if folder.is_dir():  # empty: the spec has looked
            folder.rmdir()
        making.rename(folder)
    except OSError as error:
        shutil.rmtree(making, ignore_errors=True)
        raise from_os(error, folder) from error
    return size


def _size(path: Path) -> int:
    """Return the size of a file as msprobe writes them: a link might lead to what is not to be sent."""
    try:
        status = path.lstat()
    except OSError as error:
        raise StudioError("precision.reproduce.gone", path=str(path)) from error
    if not stat.S_ISREG(status.st_mode):
        raise StudioError("precision.reproduce.gone", path=str(path))
    return status.st_size


def reproduce_answer(run: Run) -> dict[str, Any]:
    """For `--json`."""
    from studio.run import last_events

    paths = [event.path for event in last_events(run.folder) if isinstance(event, Artifact)]
    return {"reproducer": paths[-1]} if paths else {}
