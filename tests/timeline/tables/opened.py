"""Traces of real files, read and assembled here, without the cache and its child process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timeline.build.assemble import assemble
from backends.timeline.db.read import read_db
from backends.timeline.gather import Gather
from backends.timeline.tables.counters import counter_files, read_counters
from backends.timeline.text.read import read_text
from backends.timeline.trace import Trace, open_trace

if TYPE_CHECKING:
    from pathlib import Path


def add_counters(folder: Path, gather: Gather, rank: int | None = None) -> None:
    """Adds what the files hold, each a source of kind "table"."""
    for path in counter_files(folder):
        read_counters(path, gather.source(path, "table", rank), gather)


def opened(path: Path, cache: Path, rank: int | None = 0) -> Trace:
    gather = Gather()
    is_db = path.suffix == ".db"
    source = gather.source(path, "db" if is_db else "text", rank)
    (read_db if is_db else read_text)(path, source, gather, lambda done, total: None)
    add_counters(path.parent, gather, rank)
    assemble(gather, cache, path.parent)
    return open_trace(cache, path.parent)
