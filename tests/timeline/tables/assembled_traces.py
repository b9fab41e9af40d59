"""Traces of real files, read and assembled here, without the cache and its child process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timeline.build.assembly import assemble
from backends.timeline.db.reader import read_db
from backends.timeline.gathering import Gathering
from backends.timeline.tables.memory_counters import counter_files, read_counter_file
from backends.timeline.text.reader import read_text
from backends.timeline.trace import Trace, open_trace

if TYPE_CHECKING:
    from pathlib import Path


def add_counters(folder: Path, gather: Gathering, rank: int | None = None) -> None:
    """Adds what the files hold, each a source of kind "table"."""
    for path in counter_files(folder):
        read_counter_file(path, gather.source(path, "table", rank), gather)


def opened(path: Path, cache: Path, rank: int | None = 0) -> Trace:
    gather = Gathering()
    is_db = path.suffix == ".db"
    source = gather.source(path, "db" if is_db else "text", rank)
    (read_db if is_db else read_text)(path, source, gather, lambda done, total: None)
    add_counters(path.parent, gather, rank)
    assemble(gather, cache, path.parent)
    return open_trace(cache, path.parent)
