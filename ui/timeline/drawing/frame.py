"""The pixels of a frame, from the columns of a trace alone: one line of colours per row, with numpy.

`pixel_rows_numba` draws the same pixels with numba, about three times as fast; `pixel_rows` loads it where it is
installed. A test compares both pixel by pixel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

    Shades = NDArray[np.int32]
    Colors = NDArray[np.uint32]
    Pixels = NDArray[np.uint32]
    Owners = dict[int, NDArray[np.int64]]

    class DrawPixelRows(Protocol):
        """`draw_pixel_rows`, or the same compiled by numba."""

        def __call__(
            self,
            columns: SliceColumns,
            rows: NDArray[np.int64],
            offsets: NDArray[np.int64],
            edges: PixelEdges,
            shades: Shades,
            colors: Colors,
            background: Pixels = ...,
        ) -> Pixels: ...


LEVELS = 64
FAINTEST = 24  # of LEVELS: a slice that covers a tiny part of a column is still visible
SEAM = 22  # the first column of a wide slice that follows upon another
NO_BACKGROUND = np.zeros(1, np.uint32)
ROWS_AT_ONCE = 16  # rows whose arrays stay in the cache of a core together


@dataclass(frozen=True, kw_only=True)
class SliceColumns:
    """The columns of a trace as plain read-only arrays: each access to a memory map costs a microsecond."""

    start: NDArray[np.int64]
    name: NDArray[np.int32]
    cover: NDArray[np.int64]
    row_begin: NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class PixelEdges:
    """The borders of the pixel columns, [width + 1]: `base` + `rel` is the time in ns since the origin, `cuts` the
    first whole ns at or after it. Floats alone would be off by some ns far from the origin."""

    base: int
    rel: NDArray[np.float64]
    cuts: NDArray[np.int64]
    per_column: float


def slice_columns(trace: Trace) -> SliceColumns:
    return SliceColumns(
        start=_plain(trace.start), name=_plain(trace.name), cover=_plain(trace.cover), row_begin=_plain(trace.row_begin)
    )


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    plain = np.asarray(column).view(np.ndarray)[:]
    plain.flags.writeable = False
    return plain


def edges_of(begin: float, end: float, width: int) -> PixelEdges:
    base, per_column = int(np.floor(begin)), (end - begin) / width
    rel = (begin - base) + np.arange(width + 1) * (end - begin) / width
    return PixelEdges(base=base, rel=rel, cuts=np.ceil(rel).astype(np.int64) + base, per_column=per_column)


def shade_begins(shades: NDArray[np.uint8]) -> Shades:
    """Return where the colours of each name begin in a table of colours."""
    return shades.astype(np.int32) * np.int32(LEVELS + 1)


def draw_pixel_rows(
    columns: SliceColumns,
    rows: NDArray[np.int64],
    offsets: NDArray[np.int64],
    edges: PixelEdges,
    shades: Shades,
    colors: Colors,
    background: NDArray[np.uint32] = NO_BACKGROUND,
) -> Pixels:
    """Draw rows of slices: uint32 [rows, width], `background` ([1] or [width]) where there is no slice.

    `offsets`: ns by which each row is drawn later. `shades`: from `shade_begins`. `colors` [shades, LEVELS + 1]: from
    no slice (0) over the background to the full colour. A column has the colour of the slice that covers most of it, at
    a strength given by how much of it is covered in total; the full colour where there are only slices without length.
    """
    pixels = blank(len(rows), edges, background)
    filled = np.flatnonzero(columns.row_begin[rows] < columns.row_begin[rows + 1])
    for first in range(0, len(filled), ROWS_AT_ONCE):
        batch = filled[first : first + ROWS_AT_ONCE]
        drawn = _batch(columns, rows[batch], offsets[batch], edges, shades, colors)
        pixels[batch] = np.where(drawn, drawn, background)
    return pixels


def blank(rows: int, edges: PixelEdges, background: NDArray[np.uint32]) -> Pixels:
    pixels = np.empty((rows, len(edges.rel) - 1), np.uint32)
    pixels[:] = background
    return pixels


def _batch(
    columns: SliceColumns,
    rows: NDArray[np.int64],
    offsets: NDArray[np.int64],
    edges: PixelEdges,
    shades: Shades,
    colors: Colors,
) -> Pixels:
    last = last_begun(columns, rows, offsets, edges)  # the last slice that begins before each edge
    first = columns.row_begin[rows][:, None]
    at = np.maximum(last, first)
    before = columns.cover.take(at)
    length = columns.cover.take(at + 1)
    length -= before
    inside = edges.rel - (columns.start.take(at) - (edges.base - offsets)[:, None])
    np.maximum(inside, 0, out=inside)
    np.minimum(inside, length, out=inside)
    busy = np.diff(before) + np.diff(inside)
    begun = np.diff(last)
    has_begun = begun > 0
    left = (length - inside)[:, :-1]  # of the slice that reaches in from before
    np.minimum(left, edges.per_column, out=left)
    if (last[:, 0] < first[:, 0]).any():
        left[last[:, :-1] < first] = 0
    own = inside[:, 1:]  # of the slice that begins last
    pick = np.where(has_begun & (own >= left), at[:, 1:], at[:, :-1])
    _pick_between(pick, at, begun, busy, left, own)
    level = _levels(last, busy, begun, has_begun, edges)
    level += shades.take(columns.name.take(pick))
    return colors.ravel().take(level)


def last_begun(
    columns: SliceColumns, rows: NDArray[np.int64], offsets: NDArray[np.int64], edges: PixelEdges
) -> NDArray[np.int64]:
    """int64 [rows, edges]: the last slice of a row that begins before each edge; one less than the row's first slice
    where there is none."""
    last = np.empty((len(rows), len(edges.cuts)), np.int64)
    begins, ends = columns.row_begin[rows].tolist(), columns.row_begin[rows + 1].tolist()
    for index, (begin, end, offset) in enumerate(zip(begins, ends, offsets.tolist(), strict=True)):
        cuts = edges.cuts - offset if offset else edges.cuts
        np.add(columns.start[begin:end].searchsorted(cuts), begin - 1, out=last[index])
    return last


def _pick_between(
    pick: NDArray[np.int64],
    at: NDArray[np.int64],
    begun: NDArray[np.int64],
    busy: NDArray[np.float64],
    left: NDArray[np.float64],
    own: NDArray[np.float64],
) -> None:
    """Let a middle slice stand for those between the first and the last where these cover more than either."""
    many = begun > 2
    if many.any():
        rest = busy - left
        rest -= own
        many &= rest > left
        many &= rest > own
        np.copyto(pick, at[:, 1:] - (begun >> 1), where=many)


def _levels(
    last: NDArray[np.int64],
    busy: NDArray[np.float64],
    begun: NDArray[np.int64],
    has_begun: NDArray[np.bool_],
    edges: PixelEdges,
) -> NDArray[np.int32]:
    share = busy * (LEVELS / edges.per_column)
    share += 0.5
    np.maximum(share, FAINTEST, out=share)
    np.minimum(share, LEVELS, out=share)
    level = share.astype(np.int32)
    idle = busy <= 0
    if idle.any():
        level[idle] = has_begun[idle] * np.int32(LEVELS)
    wide = np.flatnonzero(last[:, -1] - last[:, 0] < level.shape[1]) if level.shape[1] > 4 else ()
    if len(wide):
        last, begun, some = last[wide], begun[wide], level[wide]
        seam = (begun[:, 1:-3] == 1) & (last[:, 2:-3] == last[:, 5:]) & (some[:, :-4] > 0)
        some[:, 1:-3][seam] = np.minimum(some[:, 1:-3][seam], SEAM)
        level[wide] = some
    return level


@dataclass(frozen=True, kw_only=True)
class PlacedRow:
    """A row and where it is drawn: px from the top of the picture, which may be negative. `is_over`: on top of the
    previous row, in the same band."""

    row: int
    offset: int
    top: int
    height: int
    is_over: bool = False


def paint(
    image: Pixels,
    background: NDArray[np.uint32],
    placed: list[PlacedRow],
    columns: SliceColumns,
    edges: PixelEdges,
    shades: Shades,
    colors: Colors,
    lines_of: DrawPixelRows = draw_pixel_rows,
) -> Owners:
    """Fill `image` [height, width]. `background` [width]: the colours where there is no slice. Returns, for each band
    of several rows, by the position of its first row in `placed`: the position of the row on top in each column."""
    if not placed:
        image[:] = background
        return {}
    rows = np.array([row.row for row in placed], np.int64)
    offsets = np.array([row.offset for row in placed], np.int64)
    is_over = any(one.is_over for one in placed)
    pixels = lines_of(columns, rows, offsets, edges, shades, colors, NO_BACKGROUND if is_over else background)
    owners = _lay_over(pixels, placed) if is_over else {}
    if is_over:
        np.copyto(pixels, background, where=pixels == 0)
    line = np.full(len(image), -1, np.int64)
    for index, one in enumerate(placed):
        if not one.is_over:
            line[max(0, one.top) : max(0, one.top + one.height)] = index
    np.take(pixels, line, axis=0, out=image, mode="clip")
    image[line < 0] = background
    return owners


def _lay_over(pixels: Pixels, placed: list[PlacedRow]) -> Owners:
    """Put each row on top of those below it in its band; return which one is on top in each column."""
    under = 0
    owners: Owners = {}
    for index, line in enumerate(placed):
        if line.is_over:
            is_drawn = pixels[index] != 0
            np.copyto(pixels[under], pixels[index], where=is_drawn)
            owners.setdefault(under, np.full(pixels.shape[1], under))[is_drawn] = index
        else:
            under = index
    return owners
