"""What msprobe left beside dumps: its databases and its tables. Names are looked at, nothing is opened."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.msprobe.trend import TREND_SUFFIX as TRENDS
from backends.precision.msprobe.visdb import GRAPH_SUFFIX as GRAPHS

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DEPTH = 3
MAX_NAMES = 20_000
TENSOR_FOLDER = "dump_tensor_data"
TABLES = (".csv", ".xlsx")


@dataclass(frozen=True, kw_only=True)
class CompanionFiles:
    """Newest first. `graphs`: .vis.db; `trends`: .trend.db; `tables`: of msprobe's compare."""

    graphs: tuple[Path, ...] = ()
    trends: tuple[Path, ...] = ()
    tables: tuple[Path, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.graphs or self.trends or self.tables)


def find_companion_files(folder: Path) -> CompanionFiles:
    """In a folder of dumps, some levels below it, and in the folder that holds it. Never raises; costs one listing per
    folder, and ends after MOST names."""
    names = [*_files(folder.absolute().parent, 0, [MAX_NAMES]), *_files(folder.absolute(), MAX_DEPTH, [MAX_NAMES])]
    paths = sorted({path for path in names if _kind(path.name)}, key=_age)
    graphs, trends, tables = (tuple(file for file in paths if _kind(file.name) == kind) for kind in ("g", "t", "c"))
    return CompanionFiles(graphs=graphs, trends=trends, tables=tables)


def _kind(name: str) -> str:
    if name.endswith(GRAPHS):
        return "g"
    if name.endswith(TRENDS):
        return "t"
    return "c" if "compare_result" in name and name.endswith(TABLES) else ""


def _age(path: Path) -> tuple[float, str]:
    try:
        return -path.stat().st_mtime, str(path)
    except OSError:
        return 0.0, str(path)


def _files(folder: Path, depth: int, left: list[int]) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            listed = [entry for entry, _ in zip(entries, range(left[0]), strict=False)]
    except OSError:
        return
    left[0] -= len(listed)
    for entry in listed:
        if entry.is_dir(follow_symlinks=False):
            if depth and entry.name != TENSOR_FOLDER:
                yield from _files(Path(entry.path), depth - 1, left)
        else:
            yield Path(entry.path)
