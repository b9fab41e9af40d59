"""Whether the dumps that a report is of are those that were compared: by the digests that the comparison kept, and by
when their files were written."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from backends.precision.compare.comparison import comparison_answer
from backends.precision.compare.spec import CompareSpec
from backends.precision.dump.digest import TENSOR_SIZES, TENSORS, dump_digests, file_digest, tensors_digest
from backends.precision.dump.layout import find_dumps
from backends.precision.origin import run_around
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from studio.exit_codes import STOPPED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run

State = Literal["same", "changed", "gone"]
MAX_DUMP_BYTES = 1 << 30
MAX_FILES = 1 << 16


def dump_digest(folder: Path) -> str:
    """Return the SHA-256 of a dump.json, "" where it is gone or too large to read for a report."""
    path = folder / "dump.json"
    try:
        return file_digest(path) if path.stat().st_size <= MAX_DUMP_BYTES else ""
    except OSError:
        return ""


def state_of(folder: Path, run: Run) -> State:
    """Return whether a dump is the one that `run` compared, another one by now, or no longer there."""
    if not (folder / "dump.json").is_file():
        return "gone"
    digests = comparison_answer(run).get("digests", {}).get(str(folder))
    if digests is not None and digests != _digests(folder, digests):
        return "changed"
    return "changed" if any(written > run.request.time for written in _times(folder)) else "same"


def _digests(folder: Path, recorded: Mapping[str, str]) -> dict[str, str]:
    """Return the digests of a dump by now, of its tensors too where they were recorded: an older studio's were not."""
    tensors = {
        key: tensors_digest(folder, lambda: None, has_contents=key == TENSORS)
        for key in (TENSORS, TENSOR_SIZES)
        if key in recorded
    }
    return {**dump_digests(folder), **tensors}


def added_dump(comparison: Comparison, run: Run) -> Path | None:
    """Return the first step or rank that a side has by now and that was not compared, although `run` was asked for all;
    None where there is none. A later capture of the same training is another one."""
    spec = schema.from_json(CompareSpec, run.request.values)[0]
    if spec.compared.step_numbers or spec.compared.rank_numbers or spec.compared.pairs:
        return None
    for side in ("target", "golden"):
        compared = {getattr(each, side) for each in comparison.passes}
        folders: list[Path] = []
        with suppress(StudioError):
            folders = [location.folder for location in find_dumps(getattr(spec.sides, side))]
        if compared & set(folders) and (added := [folder for folder in folders if folder not in compared]):
            return added[0]
    return None


def failed_run(folder: Path) -> Path | None:
    """Return the run that a dump is from where it ended with an exit code, and was not stopped; else None."""
    around = run_around(folder)
    ended = None if around is None else runs.ended_of(around)
    return around if ended is not None and ended.code not in (0, STOPPED) else None


def _times(folder: Path) -> Iterator[int]:
    """Yield when each file of a dump was written, in ns since the epoch, of its tensors' too."""
    folders = [folder, *(folder / name for name in _names(folder) if (folder / name).is_dir())]
    for each in folders:
        for name in _names(each)[:MAX_FILES]:
            path = each / name
            if path.is_file():
                yield path.stat().st_mtime_ns


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
