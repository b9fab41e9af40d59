"""Which rows of a comparison are listed, and in what order: whole arrays, 1,000,000 rows in some 30 ms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.comparison import MEASURES, VERDICTS
from ui.precision.row_search import Names
from ui.precision.verdict_mark import WORST_FIRST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.precision.compare.comparison import Comparison

COLUMNS = ("number", "name", "place", "verdict", "error", "limit", "dtype", "shape", "msprobe")
"""Of every comparison; where tensors were read, those of `MEASURES` follow."""
LAST = 0xFFFFFFFF
SEVERITY = np.argsort(np.array(WORST_FIRST, np.uint8)).astype(np.uint8)
"""Of each verdict its place among the worst, 0 the worst."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is to be listed. No verdicts: all of them. `role`: an index into dump.ROLES. `dtype`: its name on either
    side. `sort`: one of COLUMNS or of MEASURES."""

    text: str = ""
    verdicts: frozenset[int] = frozenset()
    role: int | None = None
    dtype: str = ""
    sort: str = "number"
    descending: bool = False
    by_module: bool = False


class RowOrder:
    """Of one comparison. What takes a text is put together when it is first asked for, see `prepare`."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.count = len(comparison.call)
        self.names = Names(comparison.names)
        self._keys: dict[str, NDArray[np.uint32]] = {}

    def prepare(self) -> None:
        """What the first search and the first sort by name would wait for; may be called in another thread."""
        self.names.prepare()
        self.key("name")

    def arrange(self, wanted: Wanted) -> NDArray[np.int64]:
        """Rows in the order in which they are listed. Of a group's head: -2 - the index of its module's call, which is
        -1 for what was called in no module."""
        mask = self._mask(wanted)
        rows = np.arange(self.count) if mask is None else np.flatnonzero(mask)
        if wanted.sort != "number" or wanted.descending:
            rows = _sorted(self.key(wanted.sort)[rows], rows, wanted.descending)
        return self._grouped(rows) if wanted.by_module else rows

    def counts(self) -> tuple[int, ...]:
        """How many rows have each verdict."""
        return tuple(np.bincount(self.comparison.verdict, minlength=len(VERDICTS))[: len(VERDICTS)].tolist())

    def key(self, column: str) -> NDArray[np.uint32]:
        """What a column is sorted by, of each row."""
        if column not in self._keys:
            self._keys[column] = self._key(column).astype(np.uint32, copy=False)
        return self._keys[column]

    def _key(self, column: str) -> NDArray[Any]:
        found = self.comparison
        if column == "name":
            return self.names.ranks()[found.call]
        if column == "place":
            return found.role.astype(np.uint32) << 24 | _ranks(found.items)[found.item]
        if column == "dtype":
            return _of_either(_ranks(found.dtypes), found.target_dtype, found.golden_dtype)
        if column == "shape":
            return _of_either(_sizes(found.shapes), found.target_shape, found.golden_shape)
        if column == "verdict":
            return SEVERITY[found.verdict]
        if column == "msprobe":
            return found.msprobe
        if column in MEASURES:
            return float_key(found.measures[:, MEASURES.index(column)])
        if column in ("error", "limit"):
            return float_key(found.error if column == "error" else found.allowed)
        return np.arange(self.count)

    def _mask(self, wanted: Wanted) -> NDArray[np.bool_] | None:
        found = self.comparison
        masks = []
        if words := wanted.text.lower().split():
            masks.append(self.names.containing(words)[found.call])
        if wanted.verdicts:
            masks.append(np.isin(np.arange(len(VERDICTS)), list(wanted.verdicts))[found.verdict])
        if wanted.role is not None:
            masks.append(found.role == wanted.role)
        if wanted.dtype in found.dtypes:
            dtype = found.dtypes.index(wanted.dtype)
            masks.append((found.target_dtype == dtype) | (found.golden_dtype == dtype))
        return np.logical_and.reduce(masks) if masks else None

    def _grouped(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Modules in the order of their calls, in each the order that there was; a module's own rows are in it."""
        found = self.comparison
        if not len(rows):
            return rows
        modules = np.where(found.is_module, np.arange(len(found.parent)), found.parent)
        groups = modules[found.call[rows]].astype(np.int64)
        rows = _sorted((groups + 1).astype(np.uint32), rows, False)
        groups = modules[found.call[rows]].astype(np.int64)
        begins = np.flatnonzero(np.diff(groups, prepend=-2))
        return np.insert(rows, begins, -2 - groups[begins])


def _sorted(keys: NDArray[np.uint32], rows: NDArray[np.int64], descending: bool) -> NDArray[np.int64]:
    """Equal ones stay in their order: sorting (key, place) as one number is ten times as fast as a stable argsort."""
    wide = keys.astype(np.uint64)
    if descending:
        wide = np.where(wide == LAST, wide, LAST - 1 - wide)
    places = np.sort(wide << np.uint64(32) | np.arange(len(rows), dtype=np.uint64)) & np.uint64(LAST)
    return rows[places.astype(np.int64)]


def float_key(values: NDArray[Any]) -> NDArray[np.uint32]:
    """Unsigned numbers in the order of the floats, NaN the last: IEEE's bits, those of negative ones turned round."""
    bits = values.astype(np.float32).view(np.uint32)
    keys = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))
    return np.where(np.isnan(values), np.uint32(LAST), keys)


def _ranks(texts: tuple[str, ...]) -> NDArray[np.uint32]:
    """Of each text its place in the alphabet; the last one, for those that have none."""
    ranks = np.empty(len(texts) + 1, np.uint32)
    ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts), dtype=np.uint32)
    ranks[-1] = LAST
    return ranks


def _sizes(shapes: tuple[tuple[int, ...], ...]) -> NDArray[np.uint32]:
    sizes = [min(int(np.prod(shape, dtype=np.float64)), LAST - 1) for shape in shapes]
    return np.array([*sizes, LAST], np.uint32)


def _of_either(keys: NDArray[np.uint32], target: NDArray[Any], golden: NDArray[Any]) -> NDArray[np.uint32]:
    """The target's, where it has one; -1 takes the last key."""
    return keys[np.where(target >= 0, target, golden)]
