"""What the hooks noted of the checkpoints of a run, see ascend_studio/checkpoints/saves.py of the guest."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from studio import files

_NAME = re.compile(r"saves\.a\d{1,9}")
MAX_BYTES = 1 << 24
MAX_PATHS = 20_000


class Save(msgspec.Struct, frozen=True, kw_only=True):
    """`path` was whole at `time`, ns since the epoch."""

    time: int
    path: str


def noted_saves(folder: Path) -> dict[Path, int]:
    """Return the paths that a run's attempts noted, each with the last time. Raises OSError."""
    times: dict[Path, int] = {}
    for file in sorted(folder.iterdir()):
        if _NAME.fullmatch(file.name):
            for save in _read(file):
                if len(times) < MAX_PATHS:
                    times[Path(save.path)] = max(save.time, times.get(Path(save.path), 0))
    return times


def _read(file: Path) -> list[Save]:
    with files.open_regular(file) as content:
        lines = content.read(MAX_BYTES).splitlines()
    saves = []
    for line in lines:
        try:
            save = msgspec.json.decode(line, type=Save)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            continue  # a line that a kill or a full disk cut off
        if "\0" not in save.path and Path(save.path).is_absolute():
            saves.append(save)
    return saves
