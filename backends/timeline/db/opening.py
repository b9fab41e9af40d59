"""Opening of a database in whatever state it was left, without writing anything next to it."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import struct
import time
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from backends.timeline.db.database import BROKEN, Database, tables_in
from studio import files
from studio.errors import StudioError, from_os
from studio.paths import cache_home

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"SQLite format 3\0"
LOCKS = (0x40000000, 512)  # where sqlite3 locks: its file format, "pending" byte and the shared range
DAY = 86400.0
PAGE_SIZES = frozenset(1 << power for power in range(9, 17))


@contextmanager
def open_database(path: Path) -> Iterator[Database]:
    """Open a database for reading. Raises StudioError for an empty, foreign, encrypted, locked or damaged file."""
    with ExitStack() as stack:
        try:
            head = _head(path)
            readable = stack.enter_context(_settled(path)) if _unsettled(path) else path
            descriptor = os.open(readable, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            stack.callback(os.close, descriptor)
            base = _base(path, readable, descriptor, head)
            stack.callback(base.connection.close)
        except OSError as error:
            raise from_os(error, path) from error
        except BROKEN as error:
            raise StudioError("timeline.db.damaged", path=str(path), reason=str(error)) from error
        yield base


def _head(path: Path) -> bytes:
    with files.open_regular(path) as file:
        head = file.read(100)
        if not head:
            raise StudioError("timeline.db.empty", path=str(path))
        if head[:16] != MAGIC or len(head) < 100:
            raise StudioError("timeline.db.foreign", path=str(path))
        if _is_being_written(file.fileno()):
            raise StudioError("timeline.db.locked", path=str(path))
    return head


def _is_being_written(descriptor: int) -> bool:
    """Return whether another process holds a writer's lock; queries it without locking."""
    question = struct.pack("hhqqi", fcntl.F_RDLCK, os.SEEK_SET, *LOCKS, 0)
    try:
        answer = fcntl.fcntl(descriptor, fcntl.F_GETLK, question)
    except OSError:  # a file system without locks
        return False
    return bool(struct.unpack("hhqqi", answer)[0] == fcntl.F_WRLCK)


def _unsettled(path: Path) -> bool:
    """Return whether there is a journal with changes that the file itself does not contain yet."""
    return any(_size(path.with_name(path.name + ending)) for ending in ("-wal", "-journal"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


@contextmanager
def _settled(path: Path) -> Iterator[Path]:
    """Yield a copy into which the journal has been merged; it is removed at the end."""
    import shutil
    import tempfile

    home = cache_home() / "timeline-db"
    home.mkdir(parents=True, exist_ok=True)
    for left in home.iterdir():  # by a process that was killed
        if time.time() - left.stat().st_mtime > DAY:
            shutil.rmtree(left, ignore_errors=True)
    needed = 2 * sum(_size(path.with_name(path.name + ending)) for ending in ("", "-wal", "-journal"))
    if needed > shutil.disk_usage(home).free:
        raise StudioError("timeline.db.no_room", path=str(path), folder=str(home))
    with tempfile.TemporaryDirectory(dir=home, ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "copy.db"
        for ending in ("", "-wal", "-journal"):
            original = path.with_name(path.name + ending)
            if _size(original):
                shutil.copyfile(original, copy.with_name(copy.name + ending))
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        yield copy


def _base(path: Path, readable: Path, descriptor: int, head: bytes) -> Database:
    size = os.fstat(descriptor).st_size
    page_size = int.from_bytes(head[16:18], "big")
    page_size = 65536 if page_size == 1 else page_size
    usable = page_size - head[20]
    if page_size not in PAGE_SIZES or usable < 480:
        raise StudioError("timeline.db.foreign", path=str(path))
    uri = f"{readable.absolute().as_uri()}?mode=ro&immutable=1"
    connection = sqlite3.connect(uri, uri=True, cached_statements=8)
    connection.text_factory = _text
    # Without it sqlite3 opens nothing of a file that was cut short; nothing can be written all the same.
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute("PRAGMA trusted_schema=OFF")
    base = Database(
        path=path, connection=connection, descriptor=descriptor, size=size, page_size=page_size, usable=usable
    )  # fmt: skip
    base.is_cut = size < int.from_bytes(head[28:32], "big") * page_size
    try:
        base.tables = tables_in(connection)
    except BaseException:
        connection.close()
        raise
    return base


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
