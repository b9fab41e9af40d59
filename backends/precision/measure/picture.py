"""What is drawn of two tensors. Every function reads both files once or twice, in pieces, and keeps only the picture.

|d| is |target - golden| of an element, of a complex number the length of the difference: 0 where both are the same NaN
or infinity, infinite where only one is. StudioError for different shapes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.measure.formats import Array, widened
from backends.precision.measure.measures import CHUNK_ELEMENTS, LENGTH, SHAPES
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.precision.measure.measures import Tensor


@dataclass(frozen=True, kw_only=True)
class Picture:
    """`cells`: the largest |d| of a block of elements, float32 (rows, columns). The tensor of `shape` is looked at as a
    table: its last axis lies across, all others one after the other down; a cell is `block` (down, across) of it."""

    cells: Array
    shape: tuple[int, ...]
    block: tuple[int, int]

    def index_of(self, row: int, column: int) -> tuple[int, ...]:
        """The first element of a cell."""
        return unraveled(
            row * self.block[0] * (self.shape[-1] if self.shape else 1) + column * self.block[1], self.shape
        )


def difference_picture(a: Tensor, b: Tensor, rows: int, columns: int) -> Picture:
    """A heat map of |d| of at most so many cells."""
    width = a.shape[-1] if a.shape else 1
    height = math.prod(a.shape) // width if width else 0
    block = max(1, -(-height // rows)), max(1, -(-width // columns))
    shape = -(-height // block[0]), -(-width // block[1])
    cells = np.zeros(shape[0] * shape[1], np.float32)
    for begin, distances, _, _ in _distances(a, b):
        starts = _cell_starts(begin, begin + len(distances), width, block[1])
        largest = np.maximum.reduceat(distances, starts - begin)
        places = starts // width // block[0] * shape[1] + starts % width // block[1]
        np.maximum.at(cells, places, largest.astype(np.float32))
    return Picture(cells=cells.reshape(shape), shape=tuple(a.shape), block=block)


def _cell_starts(begin: int, end: int, width: int, across: int) -> Array:
    """Where in [begin, end) of the flat tensor a row of a cell begins, and the beginning itself."""
    firsts = np.arange(begin // width * width, end, width)
    starts = (firsts[:, None] + np.arange(0, width, across)).reshape(-1)
    inside = starts[(starts > begin) & (starts < end)]
    return np.concatenate((np.array([begin]), inside))


@dataclass(frozen=True, kw_only=True)
class Histograms:
    """Counts of the values of both between `edges`, of one bin more than there are counts, and of |d| between
    `difference_edges`, which grow by a constant factor. `equal`: elements with d = 0; `nonfinite`: elements of either
    side, or differences, that are in no bin."""

    edges: Array
    target: Array
    golden: Array
    difference_edges: Array
    difference: Array
    equal: int
    nonfinite: int


def histograms(a: Tensor, b: Tensor, bins: int) -> Histograms:
    low, high, smallest, largest = _ranges(a, b)
    edges = np.linspace(low, high, bins + 1)
    powers = np.linspace(math.log2(smallest), math.log2(largest), bins + 1)
    counts = np.zeros((3, bins), np.int64)
    equal = nonfinite = 0
    for _, distances, target_piece, golden_piece in _distances(a, b):
        differs = distances[(distances > 0) & (distances < np.inf)]
        counts[0] += _counted(target_piece, edges)
        counts[1] += _counted(golden_piece, edges)
        counts[2] += _counted(np.log2(differs), powers)
        equal += int(np.count_nonzero(distances == 0))
        nonfinite += sum(int(np.count_nonzero(~np.isfinite(side))) for side in (target_piece, golden_piece))
    return Histograms(
        edges=edges, target=counts[0], golden=counts[1], difference_edges=np.exp2(powers), difference=counts[2],
        equal=equal, nonfinite=nonfinite,
    )  # fmt: skip


def _ranges(a: Tensor, b: Tensor) -> tuple[float, float, float, float]:
    """Lowest and highest finite value of both, smallest and largest finite |d| but zero; each pair apart."""
    low, high, smallest, largest = math.inf, -math.inf, math.inf, 0.0
    for _, distances, target_piece, golden_piece in _distances(a, b):
        for side in (target_piece, golden_piece):
            finite = _finite(side)
            low = min(low, float(finite.min(initial=math.inf)))
            high = max(high, float(finite.max(initial=-math.inf)))
        differs = distances[(distances > 0) & (distances < np.inf)]
        smallest = min(smallest, float(differs.min(initial=math.inf)))
        largest = max(largest, float(differs.max(initial=0.0)))
    low, high = (low, high) if low < high else (low - 0.5, low + 0.5) if low == high else (0.0, 1.0)
    smallest, largest = (
        (smallest, largest) if smallest < largest else (smallest / 2, smallest * 2) if largest else (0.5, 1.0)
    )
    return low, high, max(smallest, 5e-324), largest


def _finite(values: Array) -> Array:
    is_finite = np.isfinite(values)
    return values if is_finite.all() else values[is_finite]


def _counted(values: Array, edges: Array) -> Array:
    values = _finite(values).astype(np.float64)
    bins = len(edges) - 1
    places = (values / 2 - edges[0] / 2) * (bins / (edges[-1] / 2 - edges[0] / 2))  # halves: the span may be infinite
    return np.bincount(np.clip(places, 0, bins - 1).astype(np.intp), minlength=bins)


@dataclass(frozen=True, kw_only=True)
class Element:
    """`relative`: |d| / |golden|, infinite where golden is zero and d is not."""

    index: tuple[int, ...]
    target: float
    golden: float
    absolute: float
    relative: float


def worst_elements(a: Tensor, b: Tensor, count: int) -> tuple[Element, ...]:
    """The elements with the largest |d|, the largest first; none that are equal. Of a complex number the length."""
    rows = np.empty((0, 4))
    for begin, distances, target_piece, golden_piece in _distances(a, b):
        smallest = rows[-1, 0] if len(rows) == count else 0.0
        places = np.flatnonzero(distances > smallest)
        if len(places) > count:
            places = places[np.argpartition(distances[places], -count)[-count:]]
        candidates = np.stack(
            (distances[places], begin + places, target_piece[places], golden_piece[places]), 1, dtype=np.float64
        )
        rows = np.concatenate((rows, candidates))
        rows = rows[np.lexsort((rows[:, 1], -rows[:, 0]))[:count]]
    return tuple(_element(row, a.shape) for row in rows.tolist())


def _element(row: list[float], shape: tuple[int, ...]) -> Element:
    distance, index, target, golden = row
    relative = distance / abs(golden) if golden else math.inf
    return Element(
        index=unraveled(int(index), shape), target=target, golden=golden, absolute=distance, relative=relative
    )


@dataclass(frozen=True, kw_only=True)
class Channels:
    """Figures for each index of an axis: the largest and the mean |d|, and |d| of all its elements against |golden|.
    float64."""

    max_abs: Array
    mean_abs: Array
    l2_rel: Array


def per_channel(a: Tensor, b: Tensor, axis: int) -> Channels:
    """`axis` as numpy counts them, of a tensor with at least one."""
    size = a.shape[axis]
    stride = math.prod(a.shape[axis % len(a.shape) + 1 :])
    largest, sums, squares, golden = np.zeros((4, size))
    for begin, distances, _, golden_piece in _distances(a, b):
        channels = np.arange(begin, begin + len(distances)) // stride % size
        np.maximum.at(largest, channels, distances.astype(np.float64))
        for total, weights in ((sums, distances), (squares, distances**2), (golden, golden_piece**2)):
            total += np.bincount(channels, weights, size)
    with np.errstate(all="ignore"):
        l2 = np.sqrt(squares) / np.sqrt(golden)
    l2[squares == 0] = 0.0
    return Channels(max_abs=largest, mean_abs=sums / max(1, math.prod(a.shape) // max(1, size)), l2_rel=l2)


def _distances(a: Tensor, b: Tensor) -> Iterator[tuple[int, Array, Array, Array]]:
    """(place of its first element, |d|, target, golden) of each piece. Raises StudioError for different shapes."""
    if tuple(a.shape) != tuple(b.shape):
        raise StudioError(SHAPES)
    begin = 0
    others = iter(b.chunks(CHUNK_ELEMENTS))
    for piece in a.chunks(CHUNK_ELEMENTS):
        target_piece, golden_piece = _numbers(piece, a.dtype), _numbers(next(others, piece[:0]), b.dtype)
        if len(target_piece) != len(golden_piece):
            raise StudioError(LENGTH)
        with np.errstate(all="ignore"):
            distances = np.abs(target_piece - golden_piece)
        is_nan = np.isnan(distances)
        if is_nan.any():
            same = (target_piece == golden_piece) | (np.isnan(target_piece) & np.isnan(golden_piece))
            distances[is_nan] = np.where(same[is_nan], 0.0, np.inf)
        yield begin, distances, _length(target_piece), _length(golden_piece)
        begin += len(target_piece)


def _numbers(piece: Array, dtype: str) -> Array:
    """As floats or complex numbers."""
    if piece.dtype.kind == "c":
        return piece
    wide = widened(piece, dtype)
    return wide if wide.dtype.kind == "f" else wide.astype(np.float64)


def _length(numbers: Array) -> Array:
    return np.abs(numbers) if numbers.dtype.kind == "c" else numbers


def unraveled(index: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index of an element by its place in C order."""
    return tuple(int(number) for number in np.unravel_index(index, shape)) if shape else ()
