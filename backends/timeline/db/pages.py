"""Records of a table read directly from its pages, a block at a time: sqlite3 creates a Python object for each cell,
which takes five times as long as everything else. The format: https://www.sqlite.org/fileformat2.html, sections 1.6 and
2.1."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from backends.timeline.db.database import Database, DbTable

    Bytes = NDArray[np.uint8]
    Numbers = NDArray[np.int64]

INTERIOR, LEAF = 5, 13
LOWEST, HIGHEST = -(1 << 63), (1 << 63) - 1
BLOCK = 1 << 20  # bytes of pages at a time: their arrays stay in a core's cache, and their memory is reused
MARGIN = 32  # a value is read as the 8 bytes that end with it, a text of digits as 24


@dataclass(frozen=True, kw_only=True)
class Records:
    """`data`: bytes of the pages. `rowid`, `header` (first byte of the record), `end` (byte after its payload): int64
    [records]. `unusual`: rowids of records that span pages or are malformed; sqlite3 may be able to read them."""

    data: Bytes
    rowid: Numbers
    header: Numbers
    end: Numbers
    unusual: Numbers

    @property
    def words(self) -> NDArray[Any]:
        """Words of 8 bytes, big-endian, one starting at every byte."""
        return np.ndarray(len(self.data) - 7, ">i8", self.data, strides=(1,))


def read_records(base: Database, table: DbTable) -> Iterator[Records]:
    """Yield all records of a table in page order; each block is valid until the next one. Missing pages are counted in
    `base.lost`."""
    leaves = _leaves(base, table.root)
    at_once = max(1, BLOCK // base.page_size)
    data: Bytes = np.zeros(2 * MARGIN + min(at_once, len(leaves)) * base.page_size, np.uint8)
    for begin in range(0, len(leaves), at_once):
        some = leaves[begin : begin + at_once]
        _read(base, some[:, 0], data)
        base.advance(len(some) * base.page_size)
        yield _records(base, data, some)


def _leaves(base: Database, root: int) -> Numbers:
    """Return the leaf pages, int64 [leaves, 3]: the page, and the rowids it is for, above the first number and up to
    the second. All leaves of a tree have the same depth."""
    level = _inside(base, np.array([[root, LOWEST, HIGHEST]], np.int64))
    visited = len(level)
    max_pages = base.size // base.page_size
    while len(level) and os.pread(base.descriptor, 1, (int(level[0, 0]) - 1) * base.page_size) == bytes([INTERIOR]):
        level = _inside(base, np.concatenate([_children(base, *row) for row in level.tolist()]))
        visited += len(level)
        if visited > max_pages:  # a page that is its own ancestor
            base.lost += 1
            return level[:0]
    return level


def _inside(base: Database, level: Numbers) -> Numbers:
    """Return the pages that the file contains completely, each once."""
    pages = level[:, 0]
    existing = level[(pages > 1) & (pages <= base.size // base.page_size)]
    if len(existing) > 1 and not (np.diff(existing[:, 0]) > 0).all():
        existing = existing[np.sort(np.unique(existing[:, 0], return_index=True)[1])]
    base.lost += len(level) - len(existing)
    return existing


def _children(base: Database, page: int, low: int, high: int) -> Numbers:
    raw = os.pread(base.descriptor, base.page_size, (page - 1) * base.page_size)
    count = int.from_bytes(raw[3:5], "big")
    if raw[:1] != bytes([INTERIOR]) or 12 + 2 * count > len(raw):
        base.lost += 1
        return np.empty((0, 3), np.int64)
    data = np.frombuffer(raw + bytes(MARGIN), np.uint8)
    at = np.frombuffer(raw, ">u2", count, 12).astype(np.int64)
    at = at[at <= len(raw) - 4]
    base.lost += count - len(at)
    children = (data[at[:, None] + np.arange(4)].astype(np.int64) << np.array([24, 16, 8, 0])).sum(axis=1)
    keys, _ = varints(data, at + 4)
    bounds = np.clip(np.concatenate([[low], keys, [high]]), low, high)
    last = int.from_bytes(raw[8:12], "big")
    return np.stack([np.append(children, last), bounds[:-1], bounds[1:]], axis=1)


def _read(base: Database, numbers: Numbers, data: Bytes) -> None:
    """Read consecutive pages with pread: under a memory map, a file that shrinks would kill the process."""
    size = base.page_size
    view = memoryview(data)  # type: ignore[arg-type]
    bounds = [0, *(np.flatnonzero(np.diff(numbers) != 1) + 1).tolist(), len(numbers)]
    for begin, end in pairwise(bounds):
        first, last = MARGIN + begin * size, MARGIN + end * size
        got = os.preadv(base.descriptor, [view[first:last]], (int(numbers[begin]) - 1) * size)
        data[first + got : last] = 0


def _records(base: Database, data: Bytes, leaves: Numbers) -> Records:
    first = MARGIN + np.arange(len(leaves)) * base.page_size
    count = data[first + 3].astype(np.int64) << 8 | data[first + 4]
    whole = (data[first] == LEAF) & (8 + 2 * count <= base.usable)
    base.lost += int(len(leaves) - whole.sum())
    first, count, leaves = first[whole], count[whole], leaves[whole]
    leaf = np.repeat(np.arange(len(first)), count)
    page = first[leaf]
    pointer = page + 8 + 2 * (np.arange(len(leaf)) - np.repeat(np.cumsum(count) - count, count))
    within = data[pointer].astype(np.int64) << 8 | data[pointer + 1]
    size, at = varints(data, page + np.minimum(within, base.usable - 4))
    rowid, header = varints(data, at)
    end = header + size
    # What claims to reach behind its page, or to be a row that its page is not for, is damaged.
    sound = (within >= 8) & (within <= base.usable - 4) & (size > 0)
    sound &= (rowid > leaves[leaf, 1]) & (rowid <= leaves[leaf, 2]) | (rowid == LOWEST)
    sound &= _once(rowid)
    local = sound & (size <= base.usable - 35) & (end <= page + base.usable)
    if local.all():
        return Records(data=data, rowid=rowid, header=header, end=end, unusual=rowid[:0])
    spread = sound & (size > base.usable - 35)  # payload that does not fit is continued on other pages
    base.damaged += int(len(local) - local.sum() - spread.sum())
    return Records(data=data, rowid=rowid[local], header=header[local], end=end[local], unusual=rowid[spread])


def _once(rowid: Numbers) -> NDArray[np.bool_]:
    """Return a mask that drops repetitions, which only a damaged page has: it points at some records twice."""
    if (rowid[1:] > rowid[:-1]).all():
        return np.ones(len(rowid), bool)
    once = np.zeros(len(rowid), bool)
    once[np.unique(rowid, return_index=True)[1]] = True
    return once


def varints(data: Bytes, at: Numbers) -> tuple[Numbers, Numbers]:
    """Return the number that begins at each position, and the position after it. A varint has nine bytes at most, and
    the last of nine counts in full."""
    byte = data[at]
    value, after = (byte & 127).astype(np.int64), at + 1
    some: slice | NDArray[np.int64] = slice(None)  # those that go on; all of them for as long as all do
    for length in range(2, 10):
        goes_on = byte > 127
        if not goes_on.any():
            break
        if not goes_on.all():
            some = np.flatnonzero(goes_on) if isinstance(some, slice) else some[goes_on]
        byte = data[after[some]]
        value[some] = value[some] << 8 | byte if length == 9 else value[some] << 7 | (byte & 127)
        after[some] += 1
    return value, after
