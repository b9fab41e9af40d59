"""Filters, sorts and groups the rows of a comparison as whole arrays: 1,000,000 rows in some 30 ms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.comparison import MEASURES, VERDICTS
from ui.precision.tables.row_search import CallNames
from ui.precision.verdict_mark import WORST_FIRST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.precision.compare.comparison import Comparison

COLUMNS = ("number", "name", "place", "verdict", "error", "limit", "dtype", "shape", "msprobe")
"""The columns of every comparison; those of `MEASURES` follow where tensors were read."""
LAST_KEY = 0xFFFFFFFF
SEVERITY = np.argsort(np.array(WORST_FIRST, np.uint8)).astype(np.uint8)
"""The rank of each verdict among the worst, 0 for the worst."""


@dataclass(frozen=True, kw_only=True)
class RowQuery:
    """The rows to list, and their order.

    An empty set of verdicts means all; `role` is an index into dump.ROLES; `dtype` is its name on either side; `sort`
    is one of COLUMNS or of MEASURES."""

    text: str = ""
    verdicts: frozenset[int] = frozenset()
    role: int | None = None
    dtype: str = ""
    sort: str = "number"
    descending: bool = False
    by_module: bool = False


class RowOrder:
    """Sort keys of one comparison, computed when they are first needed; see `prepare`."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.count = len(comparison.call)
        self.names = CallNames(comparison.names)
        self._keys: dict[str, NDArray[np.uint32]] = {}

    def prepare(self) -> None:
        """Compute what the first search and the first sort by name would wait for; may be called in another thread."""
        self.names.prepare()
        self.key("name")

    def arrange(self, query: RowQuery) -> NDArray[np.int64]:
        """Return rows in the order in which they are listed.

        The head of a group is -2 - the index of its module's call, where -1 stands for calls outside any module."""
        mask = self._mask(query)
        rows = np.arange(self.count) if mask is None else np.flatnonzero(mask)
        if query.sort != "number" or query.descending:
            rows = _sort_rows(self.key(query.sort)[rows], rows, query.descending)
        return self._group_by_module(rows) if query.by_module else rows

    def counts(self) -> tuple[int, ...]:
        """Return how many rows have each verdict."""
        return tuple(np.bincount(self.comparison.verdict, minlength=len(VERDICTS))[: len(VERDICTS)].tolist())

    def key(self, column: str) -> NDArray[np.uint32]:
        """Return the sort key of each row for a column."""
        if column not in self._keys:
            self._keys[column] = self._key(column).astype(np.uint32, copy=False)
        return self._keys[column]

    def _key(self, column: str) -> NDArray[Any]:
        comparison = self.comparison
        if column == "name":
            ranks: NDArray[Any] = self.names.ranks()[comparison.call]
            return ranks
        if column == "place":
            roles: NDArray[Any] = comparison.role.astype(np.uint32) << 24 | _ranks(comparison.items)[comparison.item]
            return roles
        if column == "dtype":
            return _either_side(_ranks(comparison.dtypes), comparison.target_dtype, comparison.golden_dtype)
        if column == "shape":
            return _either_side(_sizes(comparison.shapes), comparison.target_shape, comparison.golden_shape)
        if column == "verdict":
            severities: NDArray[Any] = SEVERITY[comparison.verdict]
            return severities
        if column == "msprobe":
            return comparison.msprobe
        if column in MEASURES:
            return float_key(comparison.measures[:, MEASURES.index(column)])
        if column in ("error", "limit"):
            return float_key(comparison.error if column == "error" else comparison.allowed)
        return np.arange(self.count)

    def _mask(self, query: RowQuery) -> NDArray[np.bool_] | None:
        comparison = self.comparison
        masks = []
        if words := query.text.lower().split():
            masks.append(self.names.containing(words)[comparison.call])
        if query.verdicts:
            masks.append(np.isin(np.arange(len(VERDICTS)), list(query.verdicts))[comparison.verdict])
        if query.role is not None:
            masks.append(comparison.role == query.role)
        if query.dtype in comparison.dtypes:
            dtype = comparison.dtypes.index(query.dtype)
            masks.append((comparison.target_dtype == dtype) | (comparison.golden_dtype == dtype))
        return np.logical_and.reduce(masks) if masks else None

    def _group_by_module(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Group rows by module in the order of calls, keeping their order inside; a module's own rows belong to it."""
        comparison = self.comparison
        if not len(rows):
            return rows
        modules = np.where(comparison.is_module, np.arange(len(comparison.parent)), comparison.parent)
        groups = modules[comparison.call[rows]].astype(np.int64)
        rows = _sort_rows((groups + 1).astype(np.uint32), rows, False)
        groups = modules[comparison.call[rows]].astype(np.int64)
        begins = np.flatnonzero(np.diff(groups, prepend=-2))
        return np.insert(rows, begins, -2 - groups[begins])


def _sort_rows(keys: NDArray[np.uint32], rows: NDArray[np.int64], descending: bool) -> NDArray[np.int64]:
    """Sort stably: sorting (key, position) as one number is ten times as fast as a stable argsort."""
    wide = keys.astype(np.uint64)
    if descending:
        wide = np.where(wide == LAST_KEY, wide, LAST_KEY - 1 - wide)
    positions = np.sort(wide << np.uint64(32) | np.arange(len(rows), dtype=np.uint64)) & np.uint64(LAST_KEY)
    return rows[positions.astype(np.int64)]


def float_key(values: NDArray[Any]) -> NDArray[np.uint32]:
    """Return unsigned keys in the order of the floats, NaN last: the IEEE 754 bits, inverted for negative numbers."""
    bits = values.astype(np.float32).view(np.uint32)
    keys = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))
    return np.where(np.isnan(values), np.uint32(LAST_KEY), keys)


def _ranks(texts: tuple[str, ...]) -> NDArray[np.uint32]:
    """Return the alphabetical rank of each text, and the last key for rows without one."""
    ranks = np.empty(len(texts) + 1, np.uint32)
    ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts), dtype=np.uint32)
    ranks[-1] = LAST_KEY
    return ranks


def _sizes(shapes: tuple[tuple[int, ...], ...]) -> NDArray[np.uint32]:
    sizes = [min(int(np.prod(shape, dtype=np.float64)), LAST_KEY - 1) for shape in shapes]
    return np.array([*sizes, LAST_KEY], np.uint32)


def _either_side(keys: NDArray[np.uint32], target: NDArray[Any], golden: NDArray[Any]) -> NDArray[np.uint32]:
    """Return the target's key, or golden's where the target has none; -1 takes the last key."""
    ranks: NDArray[np.uint32] = keys[np.where(target >= 0, target, golden)]
    return ranks
