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


class UnreadableFile(Exception):
    """A file that is not read: `key` and `args` say why (`studio.texts`)."""

    def __init__(self, key: str, /, **args: str) -> None:
        super().__init__(key)
        self.key = key
        self.text_args = args


@dataclass(frozen=True, kw_only=True)
class DecodedText:
    """`text.encode(encoding)` gives the file's bytes again, but for text that is damaged in its own encoding."""

    text: str
    encoding: str


def read_regular_file(path: str | PathLike[str], limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes. Raises UnreadableFile for others; opens nothing that blocks."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (OSError, ValueError) as error:
        raise UnreadableFile("migration.note.unreadable", reason=_reason(error)) from error
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise UnreadableFile("migration.note.no_file")
        data = _read_up_to(file, limit + 1)
    except OSError as error:
        raise UnreadableFile("migration.note.unreadable", reason=_reason(error)) from error
    finally:
        os.close(file)
    if len(data) > limit:
        raise too_large_error(limit)
    return data


def too_large_error(limit: int) -> UnreadableFile:
    return UnreadableFile("migration.note.too_large", limit=f"{limit / 1e6:g} MB")


def _read_up_to(file: int, limit: int) -> bytes:
    parts = []
    while limit > 0 and (part := os.read(file, min(limit, 1 << 22))):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "strerror", None) or str(error)


def decode_source(data: bytes) -> DecodedText:
    """Decode by byte order mark, by PEP 263 cookie, as UTF-8, as gb18030, else as Latin-1, which accepts all bytes."""
    for mark, encoding in _MARKS:
        if data.startswith(mark) and (text := _try_decode(data, encoding)) is not None:
            return DecodedText(text=text, encoding=encoding)
    for encoding in (*_declared_encodings(data), "utf-8", *(("gb18030",) if _is_probably_chinese(data) else ())):
        if (text := _try_decode(data, encoding)) is not None:
            return DecodedText(text=text, encoding=encoding)
    return DecodedText(text=data.decode("latin-1"), encoding="latin-1")


def _try_decode(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _declared_encodings(data: bytes) -> tuple[str, ...]:
    """The encoding that a Python source names, where it is one for source."""
    cookie = _COOKIE.match(data[:512])
    if cookie is None:
        return ()
    try:
        name = codecs.lookup(cookie[1].decode("ascii")).name
    except (LookupError, UnicodeError, ValueError):
        return ()
    return () if name in _NO_SOURCE else (name,)


def _is_probably_chinese(data: bytes) -> bool:
    """Latin-1 text often decodes as gb18030 too, but its bytes above 127 stand alone."""
    return 2 * len(_CHINESE.findall(data)) >= 0.8 * len(_HIGH.findall(data))
