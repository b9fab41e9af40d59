"""Files that hold what a file before them holds: a copy under another name is no other process or rank."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from studio.errors import StudioError

if TYPE_CHECKING:
    from backends.timeline.gathering import Gathering

LISTS = ("slices", "instants", "ends", "samples", "steps")
COUNTS = ("events", "counter_events", "metadata")


@dataclass(frozen=True, kw_only=True)
class Mark:
    """How much a gathering held before a source was added."""

    lengths: dict[str, int]
    counts: dict[str, int]
    set_aside: Counter[str]

    @classmethod
    def of(cls, gather: Gathering) -> Mark:
        return cls(
            lengths={name: len(getattr(gather, name)) for name in LISTS},
            counts={name: getattr(gather, name) for name in COUNTS},
            set_aside=Counter(gather.set_aside),
        )

    def restore(self, gather: Gathering) -> None:
        """Take out of a gathering what was added since."""
        for name, length in self.lengths.items():
            del getattr(gather, name)[length:]
        for name, count in self.counts.items():
            setattr(gather, name, count)
        gather.set_aside = Counter(self.set_aside)


@dataclass
class Copies:
    """The sources so far, by what their slices are."""

    sources: dict[bytes, int] = field(default_factory=dict)

    def check(self, gather: Gathering, before: Mark) -> None:
        """Raise StudioError where the last source holds the slices of one before it, and take them out again."""
        chunks = gather.slices[before.lengths["slices"] :]
        if not sum(len(chunk[0]) for chunk in chunks):
            return
        number = len(gather.sources) - 1
        first = self.sources.setdefault(_digest(gather, chunks), number)
        if first != number:
            before.restore(gather)
            copy, original = gather.sources[number].path, gather.sources[first].path
            raise StudioError("timeline.error.copy", place=str(copy), other=str(original))


def _digest(gather: Gathering, chunks: list[tuple[Any, ...]]) -> bytes:
    """Hash lanes by process and thread, times and names of all slices, whatever file they come from."""
    lanes = np.array([hash((gather.processes[lane.process].pid, lane.tid)) for lane in gather.lanes], np.int64)
    digests = [blake2b(digest_size=16) for _ in range(4)]  # one a column, whatever bounds the chunks have
    for lane, start, end, name, *_ in chunks:
        for digest, column in zip(digests, (lanes[lane], start, end, name), strict=True):
            digest.update(np.ascontiguousarray(column, np.int64).data)
    return b"".join(digest.digest() for digest in digests)
