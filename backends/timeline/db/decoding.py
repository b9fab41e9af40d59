"""Records of pages into columns: https://www.sqlite.org/fileformat2.html, section 2.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.db.cells import NULL, SIZES, figure_column, only, whole_column
from backends.timeline.db.pages import MARGIN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.db.base import Base, Table
    from backends.timeline.db.columns import Reals, Rows, Wanted
    from backends.timeline.db.pages import Bytes, Numbers, Records


def decoded(base: Base, wanted: Wanted, block: Records) -> tuple[Rows, Numbers]:
    """The rows, and the rowids of those whose header or end is not as expected."""
    todo = wanted.places()
    size = block.data[block.header].astype(np.int64)
    own = ~_foreign(block, len(wanted.table.columns), size)
    base.damaged += int(len(own) - own.sum())
    good = own & (size > 0) & (size < 128) & (block.header + size <= block.end)
    fewest = int(size[good].min()) - 1 if good.any() else 0
    end, words = block.header + size, block.words
    found: dict[str, Numbers | Reals] = {}
    heads = _heads(block.data, block.header, todo[-1][0] + 1 if todo else 0)
    for place in range(heads.shape[1]):
        kinds = np.ascontiguousarray(heads[:, place])
        if place >= fewest:  # records that were written before the table got this column
            kinds = np.where(place < size - 1, kinds, np.uint8(NULL))
        if (same := only(kinds)) >= 0:
            end = end + SIZES[same]
        else:
            good &= kinds < 128
            end = end + SIZES[kinds]
        while todo and todo[0][0] == place:
            _, name, real = todo.pop(0)
            inside = np.minimum(end, block.end)
            if real:
                found[name] = figure_column(block, words, kinds, inside)
            else:
                found[name] = _whole(wanted.table, block, place, whole_column(block, words, kinds, inside), kinds)
    good &= end <= block.end
    return wanted.rows(block.rowid, found).where(good), np.concatenate([block.odd, block.rowid[own & ~good]])


def _foreign(block: Records, fields: int, size: Numbers) -> NDArray[np.bool_]:
    """Records with more fields than the table has columns, which are another table's."""
    found = size > fields + 1
    if found.any():  # or with types that take more than a byte
        found[found] = (_heads(block.data, block.header[found], fields) < 128).all(axis=1)
    return found


def _heads(data: Bytes, header: Numbers, width: int) -> Bytes:
    """Serial types of the first columns: uint8 [records, width]. What lies behind a header means nothing."""
    parts = []
    for first in range(0, width, MARGIN):
        size = min(MARGIN, width - first)
        at = np.minimum(header + 1 + first, len(data) - MARGIN)
        every: NDArray[Any] = np.ndarray(len(data) - MARGIN + 1, f"V{size}", data, strides=(1,))
        parts.append(every[at].view(np.uint8).reshape(len(at), size))
    return np.concatenate(parts, axis=1) if parts else np.empty((len(header), 0), np.uint8)


def _whole(table: Table, block: Records, place: int, column: Numbers, kinds: Bytes) -> Numbers:
    """The column that stands for the rowid is stored as NULL."""
    return np.where(kinds == NULL, block.rowid, column) if place == table.identity else column
