"""The text of a file as its author wrote it: the right encoding, line ends as they are, never more than a limit."""

from __future__ import annotations

import codecs
import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COOKIE = re.compile(rb"(?:[^\n]*\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)")  # PEP 263: in the first two lines
_NO_SOURCE = {"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape", "utf-7"}
_CHINESE = re.compile(rb"[\xa1-\xf7][\xa1-\xfe]")  # GB 2312, which nearly all of a gb18030 text is made of
_HIGH = re.compile(rb"[\x80-\xff]")


class Unread(Exception):
    """A file that is not read: `key` and `args` say why (`studio.texts`)."""

    def __init__(self, key: str, /, **args: str) -> None:
        super().__init__(key)
        self.key = key
        self.values = args


@dataclass(frozen=True, kw_only=True)
class Text:
    """`text.encode(encoding)` gives the file's bytes again, but for text that is damaged in its own encoding."""

    text: str
    encoding: str


def read_bytes(path: str | PathLike[str], limit: int) -> bytes:
    """A regular file of at most `limit` bytes; raises Unread for all others. Nothing that can block is opened."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (OSError, ValueError) as error:
        raise Unread("migration.note.unreadable", reason=_reason(error)) from error
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise Unread("migration.note.no_file")
        data = _at_most(file, limit + 1)
    except OSError as error:
        raise Unread("migration.note.unreadable", reason=_reason(error)) from error
    finally:
        os.close(file)
    if len(data) > limit:
        raise too_large(limit)
    return data


def too_large(limit: int) -> Unread:
    return Unread("migration.note.too_large", limit=f"{limit / 1e6:g} MB")


def _at_most(file: int, limit: int) -> bytes:
    parts = []
    while limit > 0 and (part := os.read(file, min(limit, 1 << 22))):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def decode(data: bytes) -> Text:
    """By its byte order mark, its PEP 263 cookie, as UTF-8, as gb18030, else as Latin-1, which takes everything."""
    for mark, encoding in _MARKS:
        if data.startswith(mark) and (text := _decoded(data, encoding)) is not None:
            return Text(text=text, encoding=encoding)
    for encoding in (*_declared(data), "utf-8", *(("gb18030",) if _is_chinese(data) else ())):
        if (text := _decoded(data, encoding)) is not None:
            return Text(text=text, encoding=encoding)
    return Text(text=data.decode("latin-1"), encoding="latin-1")


def _decoded(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _declared(data: bytes) -> tuple[str, ...]:
    """The encoding that a Python source names, where it is one for source."""
    found = _COOKIE.match(data[:512])
    if found is None:
        return ()
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
    except (LookupError, UnicodeError, ValueError):
        return ()
    return () if name in _NO_SOURCE else (name,)


def _is_chinese(data: bytes) -> bool:
    """Latin-1 text often decodes as gb18030 too, but its bytes above 127 stand alone."""
    return 2 * len(_CHINESE.findall(data)) >= 0.8 * len(_HIGH.findall(data))
