"""The log of a run on standard output, in pieces: a log of gigabytes takes no more memory than one of a kilobyte."""

from __future__ import annotations

import codecs
import io
import os
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, TextIO

from studio.output.terminal import json_text, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PIECE = 1 << 20  # bytes
LONGEST_STATE = 1 << 16  # characters of a line that is shown once its last state is known


def write_log(path: Path, out: TextIO) -> None:
    """Write a log byte for byte, or as text without commands where `out` is a terminal. Raises OSError."""
    if out.isatty():
        encoding = out.encoding or "utf-8"
        pieces: Iterable[bytes] = (text.encode(encoding, "replace") for text in terminal_pieces(_pieces(path)))
    else:
        pieces = _pieces(path)
    for piece in pieces:
        out.buffer.write(piece)
    out.buffer.flush()


def write_json_log(path: Path, folder: Path, out: TextIO) -> None:
    """Write one JSON object on one line: the run's folder and the lines of its log. Raises OSError."""
    out.write(f'{{"run": {json_text(str(folder))}, "lines": [')
    for piece in json_pieces(_pieces(path)):
        out.write(piece)
    out.write("]}\n")
    out.flush()


def _pieces(path: Path) -> Iterator[bytes]:
    """Yield a log as long as it is now: one that grows faster than it is read has an end, too. Nothing where it is no
    file or cannot be read.
    """
    with suppress(OSError):
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            left = os.fstat(file).st_size
            while left > 0 and (data := os.read(file, min(left, PIECE))):
                left -= len(data)
                yield data
        finally:
            os.close(file)


def terminal_pieces(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the text of a log as a terminal may have it. Of a line that was written over, as by a progress bar, the
    last state stays.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    for piece in pieces:
        text = rest + decoder.decode(piece)
        end = text.rfind("\n") + 1
        rest = _last_state(text[end:])
        yield printable(_last_states(text[:end]))
        if len(rest) > LONGEST_STATE:
            yield printable(rest)
            rest = ""
    yield printable(_last_states(rest + decoder.decode(b"", True)))


def _last_states(lines: str) -> str:
    return "\n".join(_last_state(line).rstrip("\r") for line in lines.split("\n")) if "\r" in lines else lines


def _last_state(line: str) -> str:
    """Return what was written last over the line; a carriage return at its end waits for what comes next."""
    text = line.rstrip("\r")
    return text[text.rfind("\r") + 1 :] + ("\r" if text != line else "")


def json_pieces(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines of a log as the inside of a JSON list. Bytes that are not UTF-8 become replacement characters; a
    carriage return ends a line, too.
    """
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("replace"), translate=True)
    newline, is_open = "", False
    for piece in chain(pieces, (b"",)):
        if text := newline + decoder.decode(piece, final=not piece):
            newline = "\n" if text.endswith("\n") else ""
            lines = text.removesuffix("\n").split("\n")
            yield ("" if is_open else '"') + json_text(lines)[2:-2]
            is_open = True
    if is_open:
        yield '"'
