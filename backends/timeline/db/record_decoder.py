"""Decoding of records into columns: https://www.sqlite.org/fileformat2.html, section 2.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from backends.timeline.db.cells import NULL, SIZES, figure_column, only, whole_column
from backends.timeline.db.pages import MARGIN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.db.columns import ColumnBlock, ColumnRequest, Reals
    from backends.timeline.db.database import Database, DbTable
    from backends.timeline.db.pages import Bytes, Numbers, Records


def decode_records(base: Database, request: ColumnRequest, block: Records) -> tuple[ColumnBlock, Numbers]:
    """Return the rows, and the rowids of records whose header or end is unexpected."""
    todo = request.places()
    size = block.data[block.header].astype(np.int64)
    own = ~_foreign(block, len(request.table.columns), size)
    base.damaged += int(len(own) - own.sum())
    good = own & (size > 0) & (size < 128) & (block.header + size <= block.end)
    fewest = int(size[good].min()) - 1 if good.any() else 0
    end, words = block.header + size, block.words
    columns: dict[str, Numbers | Reals] = {}
    heads = _heads(block.data, block.header, todo[-1][0] + 1 if todo else 0)
    for number in range(heads.shape[1]):
        kinds = np.ascontiguousarray(heads[:, number])
        if number >= fewest:  # records that were written before the table got this column
            kinds = np.where(number < size - 1, kinds, np.uint8(NULL))
        if (same := only(kinds)) >= 0:
            end = end + SIZES[same]
        else:
            good &= kinds < 128
            end = end + SIZES[kinds]
        while todo and todo[0][0] == number:
            _, name, real = todo.pop(0)
            inside = np.minimum(end, block.end)
            if real:
                columns[name] = figure_column(block, words, kinds, inside)
            else:
                columns[name] = _whole(request.table, block, number, whole_column(block, words, kinds, inside), kinds)
    good &= end <= block.end
    return request.rows(block.rowid, columns).where(good), np.concatenate([block.unusual, block.rowid[own & ~good]])


def _foreign(block: Records, fields: int, size: Numbers) -> NDArray[np.bool_]:
    """Return which records have more fields than the table has columns, and so belong to another table."""
    is_foreign = size > fields + 1
    if is_foreign.any():  # or with types that take more than a byte
        is_foreign[is_foreign] = (_heads(block.data, block.header[is_foreign], fields) < 128).all(axis=1)
    return is_foreign


def _heads(data: Bytes, header: Numbers, width: int) -> Bytes:
    """Return the serial types of the first columns, uint8 [records, width]. Bytes after a header are meaningless."""
    parts = []
    for first in range(0, width, MARGIN):
        size = min(MARGIN, width - first)
        at = np.minimum(header + 1 + first, len(data) - MARGIN)
        every: NDArray[Any] = np.ndarray(len(data) - MARGIN + 1, f"V{size}", data, strides=(1,))
        parts.append(every[at].view(np.uint8).reshape(len(at), size))
    return np.concatenate(parts, axis=1) if parts else np.empty((len(header), 0), np.uint8)


def _whole(table: DbTable, block: Records, number: int, column: Numbers, kinds: Bytes) -> Numbers:
    """Fill in the column that is an alias of the rowid and is stored as NULL."""
    return np.where(kinds == NULL, block.rowid, column) if number == table.identity else column
