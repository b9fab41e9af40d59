"""One file, from bytes to a reading. Whatever goes wrong with it is a note of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan import cache
from backends.migration.scan.kinds import LARGEST_TREE, limit_of
from backends.migration.scan.python.exports import Exported, exports_of
from backends.migration.scan.read import Unread, decode, read_bytes
from backends.migration.scan.readers import reading_of
from backends.migration.scan.reading import Note, Reading

if TYPE_CHECKING:
    from backends.migration.scan.facts.facts import Facts
    from backends.migration.scan.told import Asked
    from backends.migration.scan.walk import Entry


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """What a look into a file says before it is read. `problem`: why it cannot be."""

    digest: bytes = b""
    exported: Exported = Exported()
    problem: Note | None = None


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """`digest`: of what was read, empty where nothing could be; `questions`, `texts`: see `told.Asked`."""

    reading: Reading
    digest: bytes = b""
    questions: dict[str, str] = {}
    texts: dict[str, str | None] = {}


def look(entry: Entry) -> Looked:
    try:
        data = read_bytes(entry.real, limit_of(entry.kind))
        exported = exports_of(entry.path, decode(data).text) if _has_tree(entry) else Exported()
        return Looked(digest=cache.digest(data), exported=exported)
    except Unread as unread:
        return Looked(problem=Note(path=entry.path, key=unread.key, args=unread.values))
    except Exception as error:
        return Looked(problem=_ours(entry, error))


def _has_tree(entry: Entry) -> bool:
    return entry.kind == "python" and entry.size <= LARGEST_TREE


def read(entry: Entry, exports: Asked, facts: Facts) -> bytes:
    """A Read, encoded: it may come from another process."""
    exports.begin()
    try:
        data = read_bytes(entry.real, limit_of(entry.kind))
        reading = reading_of(entry.path, entry.kind, decode(data).text, exports, facts)
        made = Read(reading=reading, digest=cache.digest(data), questions=exports.questions, texts=exports.texts)
        return msgspec.msgpack.encode(made)
    except Unread as unread:
        note = Note(path=entry.path, key=unread.key, args=unread.values)
    except Exception as error:
        note = _ours(entry, error)
    return msgspec.msgpack.encode(Read(reading=Reading(notes=(note,))))


def failed(entry: Entry, how: str) -> Note:
    """Of a file whose process "crashed" or "hung"."""
    return Note(path=entry.path, key={"hung": "migration.note.hung"}.get(how, "migration.note.crashed"))


def _ours(entry: Entry, error: Exception) -> Note:
    """A file that our own code cannot cope with ends no scan of all the others."""
    return Note(
        path=entry.path, key="migration.note.our_error", args={"reason": f"{type(error).__name__}: {error}"[:300]}
    )
