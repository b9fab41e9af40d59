"""Logs that a launcher keeps for each process, in folders of the user's: their ends are brought into a failed run."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from backends.common import logs
from studio import files
from studio.tail import last_lines

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run

FOLDER = "logs"


def bring(run: Run, folder: Path) -> None:
    """Those below `folder` that were written since the run began; of two with one name the newer. Never raises."""
    begun = run.asked.time / 1e9
    found = [(_written(path), path) for path in logs.rank_logs(folder)]
    for written, path in sorted(found):
        if written >= begun:
            with suppress(OSError):
                (run.folder / FOLDER).mkdir(exist_ok=True)
                files.write_whole(run.folder / FOLDER / path.name, b"\n".join((*last_lines(path, logs.END), b"")))


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
