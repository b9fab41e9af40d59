"""Where the tables of a trace lie: beside it, or in the folders that its profiler makes around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

OUTPUT = "ASCEND_PROFILER_OUTPUT"
_BELOW = (OUTPUT, "FRAMEWORK", "mindstudio_profiler_output")
_ASIDE = ("FRAMEWORK",)  # of MindSpore, beside ASCEND_PROFILER_OUTPUT


def folders_of(folder: Path) -> tuple[Path, ...]:
    """`folder`: that of the trace, or of the rank."""
    aside = [folder.parent / name for name in _ASIDE] if folder.name == OUTPUT else []
    return tuple(one for one in (folder, *(folder / name for name in _BELOW), *aside) if one.is_dir())


def files_of(folder: Path, *patterns: str) -> tuple[Path, ...]:
    """All files of these names, in a stable order; what cannot be looked into holds none."""
    found: list[Path] = []
    for one in folders_of(folder):
        for pattern in patterns:
            found += sorted(path for path in _matches(one, pattern) if path not in found)
    return tuple(found)


def _matches(folder: Path, pattern: str) -> list[Path]:
    try:
        return [path for path in folder.glob(pattern) if path.is_file()]
    except OSError:
        return []


def settings_folders(folder: Path) -> tuple[Path, ...]:
    """Where profiler_info and profiler_metadata lie: in the folder of the rank, above the output."""
    return (folder, folder.parent) if folder.name == OUTPUT else (folder,)
