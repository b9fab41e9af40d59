"""Reads a trace of events in JSON: torch_npu, MindSpore, msprof, Kineto and what else Chrome's format knows.

https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (Trace Event Format)."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from backends.timeline.text.columns import Columns
from backends.timeline.text.pieces import PIECE, Pieces
from backends.timeline.text.stream import opened
from studio.uncollected import uncollected

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from backends.timeline.gather import Gather

TOLD_EVERY = 16  # pieces


def read_text(path: Path, source: int, gather: Gather, tell: Callable[[int, int], None], piece: int = PIECE) -> None:
    """Adds all events of a file to `gather`, whose source `source` it is. `tell`: bytes done and of how many; what it
    raises ends the reading. `piece`: bytes that are read at once. Raises OSError."""
    with opened(path) as stream, uncollected():
        pieces = Pieces(stream, piece)
        columns = Columns(gather, source)
        for number, each in zip(count(1), pieces):
            columns.take(each, pieces.base_ns)
            if number % TOLD_EVERY == 0:
                tell(stream.done, stream.size)
        columns.finish(pieces.base_ns, pieces.late_base_ns)
        gather.sources[source].truncated = pieces.truncated
        gather.sources[source].limit = stream.limit
        tell(stream.size, stream.size)
