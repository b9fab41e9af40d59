"""Whether the dumps that a report is of are those that were compared: by the digests that the comparison kept, and by
when their files were written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from backends.precision.compare.comparison import comparison_answer
from backends.precision.dump.digest import dump_digests, file_digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
    if digests is not None and digests != dump_digests(folder):
        return "changed"
    return "changed" if any(written > run.request.time for written in _times(folder)) else "same"


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
