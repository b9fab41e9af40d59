"""How a profile was collected: by what its profiler recorded, else by what the beginning of the trace shows."""

from __future__ import annotations

import gzip
import re
import sqlite3
import zlib
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from backends.timeline.db.opening import open_database
from backends.timeline.tables.table_files import settings_folders
from studio import files
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.timeline.trace import Trace

Framework = Literal["torch_npu", "mindspore", "torch", "msprof"]

HEAD_BYTES = 4 << 20
LARGEST_JSON = 64 << 20
SETTINGS_FILES = ("profiler_info*.json", "profiler_metadata.json")

# What a text trace holds where something was collected; torch_npu, MindSpore and Kineto write the same names.
_MARKS = {
    "stacks": (b'"Call stack"', b'"python_function"', b'"with_stack": 1'),
    "shapes": (b'"Input Dims"', b'"record_shapes": 1'),
    "memory": (b'"[memory]"', b'"profile_memory": 1'),
}
_ROWS = {
    "stacks": ("SELECT 1 FROM PYTORCH_CALLCHAINS LIMIT 1",),
    "shapes": ("SELECT 1 FROM PYTORCH_API WHERE inputShapes IS NOT NULL LIMIT 1",),
    "memory": ("SELECT 1 FROM MEMORY_RECORD LIMIT 1", "SELECT 1 FROM OP_MEMORY LIMIT 1"),
    "metrics": ("SELECT 1 FROM TASK_PMU_INFO LIMIT 1",),
}
_SWITCHES = {"stacks": "with_stack", "shapes": "record_shapes", "memory": "profile_memory", "cache": "l2_cache"}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """`collected`: which of "stacks", "shapes", "memory", "metrics" and "cache" were collected."""

    framework: Framework | None
    collected: frozenset[str]


def settings_of(trace: Trace) -> Settings:
    """Read up to HEAD_BYTES of each source of the first rank; nothing is changed."""
    collected: set[str] = set()
    for path in _files(trace):
        collected |= set(_written(path)) | set(_rows(path) if path.suffix == ".db" else _marks(path))
    return Settings(framework=_framework(trace), collected=frozenset(collected))


def _files(trace: Trace) -> list[Path]:
    """Return the traces and databases of the first rank; the other ranks were collected by the same script."""
    sources = [source for source in trace.meta.sources if source.kind != "table"]
    rank = sources[0].rank if sources else None
    return [trace.root / source.path for source in sources if source.rank == rank][:8]


def _framework(trace: Trace) -> Framework | None:
    names = {process.name for process in trace.meta.processes}
    paths = " ".join((trace.root.as_posix(), *(source.path for source in trace.meta.sources)))
    if names & {"MindSpore", "CPU OP", "Scope Layer"} or re.search(r"_ascend_ms\b|ascend_mindspore", paths):
        return "mindspore"
    if re.search(r"_ascend_pt\b|ascend_pytorch", paths) or ("Python" in names and "Ascend Hardware" in names):
        return "torch_npu"
    if names & {"Ascend Hardware", "CANN", "Task Scheduler"}:
        return "msprof"
    labels = (process.label for process in trace.meta.processes)
    kineto = any(name.startswith(("ProfilerStep#", "PyTorch Profiler")) for name in _some_names(trace))
    return "torch" if kineto or any(re.match(r"(?:GPU|XPU) \d", label) for label in labels) else None


def _some_names(trace: Trace) -> Iterator[str]:
    """Yield the names of the first slices of every row: a recording shows there without decoding all names."""
    starts = trace.row_begin[:-1][trace.row_begin[:-1] < trace.row_begin[1:]].tolist()
    yield from (trace.name_text(int(trace.name[at])) for at in starts[:2000])


def _written(path: Path) -> Iterator[str]:
    """Yield what profiler_info says was switched on."""
    switches = switches_of(path)
    yield from (name for name, switch in _SWITCHES.items() if switches.get(switch) is True)


def switches_of(path: Path) -> dict[str, Any]:
    """Return the switches of the profiler that wrote a trace or a database, as its profiler_info has them."""
    switches: dict[str, Any] = {}
    for folder in settings_folders(path.parent):
        for file in sorted(_glob(folder, "profiler_info*.json"))[:1]:
            switches |= _flat(_json(file))
    return switches


def damaged_settings(folder: Path) -> Iterator[Path]:
    """Yield the files of settings that cannot be read. `folder`: that of the trace or database."""
    for level in settings_folders(folder):
        for path in sorted(name for pattern in SETTINGS_FILES for name in _glob(level, pattern)):
            if path.is_file() and not isinstance(_json(path), dict):
                yield path


def _glob(folder: Path, pattern: str) -> list[Path]:
    try:
        return list(folder.glob(pattern))
    except OSError:
        return []


def _json(path: Path) -> object:
    try:
        return msgspec.json.decode(files.read_bytes(path)) if path.stat().st_size <= LARGEST_JSON else None
    except (OSError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _flat(data: object, depth: int = 4) -> dict[str, Any]:
    """Return the switches of all levels, by name; torch_npu writes "_l2_cache", MindSpore "l2_cache"."""
    if not isinstance(data, dict) or not depth:
        return {}
    inner = chain.from_iterable(_flat(value, depth - 1).items() for value in data.values())
    return {str(name).lstrip("_"): value for name, value in chain(inner, data.items())}


def _marks(path: Path) -> Iterator[str]:
    head = _head(path)
    yield from (name for name, marks in _MARKS.items() if any(mark in head for mark in marks))


def _head(path: Path) -> bytes:
    try:
        with gzip.open(path) if path.suffix == ".gz" else files.open_regular(path) as file:
            return file.read(HEAD_BYTES)
    except (OSError, EOFError, zlib.error):
        return b""


def _rows(path: Path) -> Iterator[str]:
    try:
        with open_database(path) as base:
            yield from [
                name for name, queries in _ROWS.items() if any(_has(base.connection, query) for query in queries)
            ]
    except (StudioError, sqlite3.Error, OSError):
        return


def _has(db: sqlite3.Connection, query: str) -> bool:
    try:
        return db.execute(query).fetchone() is not None
    except sqlite3.Error:
        return False
