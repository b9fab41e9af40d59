"""Whether what a capture left can be read: a capture is done when it can, not when its tool says so."""

from __future__ import annotations

import os
import sqlite3

if False:
    from typing import Iterator

TAIL = 64
OUTPUT = "ASCEND_PROFILER_OUTPUT"
SQLITE = b"SQLite format 3\x00"


def ends_whole(path: str, ends: bytes = b"}") -> bool:
    """Return whether a file of JSON is not cut off: a full disk, or a kill, ends it in the middle."""
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - TAIL))
            return file.read().rstrip()[-1:] in tuple(ends[index : index + 1] for index in range(len(ends)))
    except OSError:
        return False


def npu_profiles(folder: str) -> Iterator[str]:
    """Yield what torch_npu's analysis left: a trace that is whole, or a database with tables."""
    for parent, _, names in os.walk(folder):
        if os.path.basename(parent) == OUTPUT:
            paths = (os.path.join(parent, name) for name in names)
            yield from (path for path in paths if _is_profile(path))


def _is_profile(path: str) -> bool:
    if path.endswith(".db"):
        return _has_tables(path)
    return os.path.basename(path) == "trace_view.json" and ends_whole(path, b"]}")


def has_raw_data(folder: str) -> bool:
    """Return whether the NPU's own records are there, of which the analysis makes a profile."""
    for parent, _, names in os.walk(folder):
        is_raw = any(part.startswith("PROF_") for part in parent.split(os.sep))
        if is_raw and any(os.path.getsize(os.path.join(parent, name)) for name in names):
            return True
    return False


def _has_tables(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            if file.read(len(SQLITE)) != SQLITE:
                return False
        connection = sqlite3.connect("file:%s?mode=ro&immutable=1" % path.replace("?", "%3f"), uri=True)
        try:
            return bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
        finally:
            connection.close()
    except (OSError, sqlite3.Error):
        return False


def half_dumps(folder: str) -> Iterator[str]:
    """Yield the parts of a dump that cannot be read: steps without a dump.json, and files that were cut off."""
    for parent, _, names in os.walk(folder):
        if os.path.basename(os.path.dirname(parent)).startswith("step") and "dump.json" not in names:
            yield os.path.join(parent, "dump.json")
        for name in names:
            if name in ("dump.json", "stack.json", "construct.json"):
                path = os.path.join(parent, name)
                if not ends_whole(path):
                    yield path
