"""Where the tables of a trace are: next to it, or in the folders that its profiler makes around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

OUTPUT = "ASCEND_PROFILER_OUTPUT"
_BELOW = (OUTPUT, "FRAMEWORK", "mindstudio_profiler_output")
_ASIDE = ("FRAMEWORK",)  # of MindSpore, next to ASCEND_PROFILER_OUTPUT


def folders_of(folder: Path) -> tuple[Path, ...]:
    """Return the folders that may hold tables. `folder`: that of the trace, or of the rank."""
    aside = [folder.parent / name for name in _ASIDE] if folder.name == OUTPUT else []
    return tuple(candidate for candidate in (folder, *(folder / name for name in _BELOW), *aside) if candidate.is_dir())


def files_of(folder: Path, *patterns: str) -> tuple[Path, ...]:
    """Return all files of these names, in a stable order; unreadable folders hold none."""
    files: list[Path] = []
    for table_folder in folders_of(folder):
        for pattern in patterns:
            files += sorted(path for path in _matches(table_folder, pattern) if path not in files)
    return tuple(files)


def _matches(folder: Path, pattern: str) -> list[Path]:
    try:
        return [path for path in folder.glob(pattern) if path.is_file()]
    except OSError:
        return []


def settings_folders(folder: Path) -> tuple[Path, ...]:
    """Return where profiler_info and profiler_metadata are: in the folder of the rank, above the output."""
    return (folder, folder.parent) if folder.name == OUTPUT else (folder,)
