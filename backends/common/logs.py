"""The ends of a run's logs: what was printed by the whole run, and by each of its ranks."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from studio import files
from studio.tail import last_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from backends.common.traceback import Lines

END = 1 << 20
LONGEST = 2000
CHUNK = 1 << 20
MAX_LOGS = 256

_NAME = re.compile(r"(?:worker|rank)_?(\d{1,6})\.log|scheduler\.log")
_PREFIX = re.compile(r"\[rank(\d{1,6})\]: ?")
_ESCAPE = re.compile(r"\x1b\[[0-9;]{0,16}[A-Za-z]")


@dataclass(frozen=True, kw_only=True)
class LogEnd:
    """The last lines of a log. `rank` is None where the log is the whole run's; `written`: when it was last written to,
    in seconds since the epoch."""

    name: str
    lines: Lines
    rank: int | None = None
    written: float = 0.0


def log_ends(folder: Path) -> list[LogEnd]:
    """Return the ends of output.log and of the logs that launchers keep for each process. Unreadable ones are left
    out."""
    return [end for path in (folder / "output.log", *rank_logs(folder)) for end in by_rank(_read(folder, path))]


def rank_logs(folder: Path) -> list[Path]:
    """Return what launchers keep for each process: msrun's worker_N.log and scheduler.log, rank_N.log; by number."""
    candidates = (path for pattern in ("*.log", "*/*.log", "artifacts/*/*.log") for path in folder.glob(pattern))
    log_files = [path for path in candidates if _NAME.fullmatch(path.name)]
    return sorted(log_files, key=lambda path: (path.parent, rank_of(path) is None, rank_of(path), path.name))[:MAX_LOGS]


def rank_of(path: Path) -> int | None:
    """Return the rank in the name of a log; None for a scheduler's and for the log of a whole run."""
    match = _NAME.fullmatch(path.name)
    return int(match[1]) if match and match[1] else None


def _read(folder: Path, path: Path) -> LogEnd:
    rank = rank_of(path)
    name = path.relative_to(folder).as_posix()
    try:
        with files.open_regular(path) as file:
            size, written = os.fstat(file.fileno()).st_size, os.fstat(file.fileno()).st_mtime
            lines = [_plain(line) for line in last_lines(path, END)]
            first = 1 + _newlines(file, size - END)
    except OSError:
        return LogEnd(name=name, lines=(), rank=rank)
    # last_lines drops the line that the cut went through.
    return LogEnd(name=name, lines=tuple(enumerate(lines, first + (size > END))), rank=rank, written=written)


def _newlines(file: BinaryIO, byte_count: int) -> int:
    """Return how many lines end in the first bytes of a file."""
    count = 0
    while byte_count > 0 and (data := file.read(min(CHUNK, byte_count))):
        count += data.count(b"\n")
        byte_count -= len(data)
    return count


def _plain(line: bytes) -> str:
    """Return a line as a terminal would leave it: without colours, and with the last state of a progress bar."""
    text = line.rstrip(b"\r").rpartition(b"\r")[2].decode("utf-8", "replace")
    return _ESCAPE.sub("", text)[:LONGEST]


def by_rank(end: LogEnd) -> Iterator[LogEnd]:
    """Return the lines of each rank by themselves: torch writes [rank1]: before the tracebacks of processes that share
    a log.
    """
    shared: list[tuple[int, str]] = []
    ranks: dict[int, list[tuple[int, str]]] = {}
    for number, text in end.lines:
        if match := _PREFIX.match(text):
            ranks.setdefault(int(match[1]), []).append((number, text[match.end() :]))
        else:
            shared.append((number, text))
    yield LogEnd(name=end.name, lines=tuple(shared), rank=end.rank, written=end.written)
    for rank, lines in ranks.items():
        yield LogEnd(name=end.name, lines=tuple(lines), rank=rank, written=end.written)
