"""The tree of modules and calls as arrays: 100,000 nodes, of which only open ones are listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ui.precision.tables.row_order import SEVERITY
from ui.precision.verdict_mark import WORST_FIRST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.precision.compare.comparison import Comparison

MAX_DEPTH = 1000
"""A guard against a module that contains itself, which no dump should have."""


class CallNodes:
    """A node below `calls` is a call; above are headings, two directions for each pass and, with several passes, one
    for each pass.

    `worst` is the worst verdict inside each node; `visible` and `depths` are those of the nodes that are listed."""

    def __init__(self, comparison: Comparison) -> None:
        self.calls, self.passes = len(comparison.parent), len(comparison.passes)
        self._first_head = self.calls
        self.count = self.calls + 3 * self.passes
        self.parents = self._parents(comparison)
        self._order = np.argsort(self.parents, kind="stable").astype(np.int32)
        self._starts = np.searchsorted(self.parents[self._order], np.arange(self.count + 1))
        self.worst = self._worst_inside(comparison)
        self.visible = np.empty(0, np.int32)
        self.depths = np.empty(0, np.int16)
        self._show_roots()

    def _parents(self, comparison: Comparison) -> NDArray[np.int32]:
        calls, passes = self.calls, self.passes
        begins = np.array([dump_pass.first_call for dump_pass in comparison.passes], np.int64)
        of_pass = np.searchsorted(begins, np.arange(calls), "right") - 1
        heads = calls + 2 * np.maximum(of_pass, 0) + comparison.is_backward
        above = np.where(comparison.parent >= 0, comparison.parent, heads)
        tops = calls + 2 * passes + np.arange(passes) if passes > 1 else np.full(passes, -1)
        parents: NDArray[np.int32] = np.concatenate([above, np.repeat(tops, 2), np.full(passes, -1)]).astype(np.int32)
        return parents

    def _worst_inside(self, comparison: Comparison) -> NDArray[np.uint8]:
        severity = np.full(self.count, len(WORST_FIRST) - 1, np.uint8)
        severity[: self.calls] = SEVERITY[comparison.call_verdict]
        below = np.flatnonzero(self.parents >= 0)
        for _ in range(MAX_DEPTH):
            before = severity.copy()
            np.minimum.at(severity, self.parents[below], severity[below])
            if np.array_equal(before, severity):
                break
        return np.array(WORST_FIRST, np.uint8)[severity]

    def _show_roots(self) -> None:
        """List the root headings that are not empty."""
        passes = self.calls + 2 * self.passes + np.arange(self.passes)
        directions = self.calls + np.arange(2 * self.passes)
        tops = passes if self.passes > 1 else directions
        self.visible = np.array([top for top in tops if self.child_count(int(top))], np.int32)
        self.depths = np.zeros(len(self.visible), np.int16)

    def children(self, node: int) -> NDArray[np.int32]:
        nodes = self._order[self._starts[node] : self._starts[node + 1]]
        return nodes if node < self.calls + 2 * self.passes else self._non_empty(nodes)

    def _non_empty(self, heads: NDArray[np.int32]) -> NDArray[np.int32]:
        return np.array([head for head in heads if self.child_count(int(head))], np.int32)

    def child_count(self, node: int) -> int:
        return int(self._starts[node + 1] - self._starts[node])

    def row_of(self, node: int) -> int:
        """Return the row of a node, -1 where it is not listed."""
        rows = np.flatnonzero(self.visible == node)
        return int(rows[0]) if len(rows) else -1

    def is_open(self, row: int) -> bool:
        return row + 1 < len(self.visible) and bool(self.depths[row + 1] > self.depths[row])

    def count_opened(self, row: int) -> int:
        """Return how many rows opening it adds."""
        return 0 if self.is_open(row) else len(self.children(int(self.visible[row])))

    def open(self, row: int) -> None:
        children = self.children(int(self.visible[row]))
        self.visible = np.insert(self.visible, row + 1, children)
        depths = np.full(len(children), self.depths[row] + 1, np.int16)
        self.depths = np.insert(self.depths, row + 1, depths)

    def count_below(self, row: int) -> int:
        """Return how many rows are listed below a node."""
        outside = np.flatnonzero(self.depths[row + 1 :] <= self.depths[row])
        return int(outside[0]) if len(outside) else len(self.visible) - row - 1

    def close(self, row: int) -> None:
        gone = slice(row + 1, row + 1 + self.count_below(row))
        self.visible = np.delete(self.visible, gone)
        self.depths = np.delete(self.depths, gone)

    def ancestors(self, node: int) -> list[int]:
        """Return the nodes above, from the root heading down to its own module."""
        path: list[int] = []
        above = int(self.parents[node])
        while above >= 0 and len(path) < MAX_DEPTH:
            path.append(above)
            above = int(self.parents[above])
        return path[::-1]

    def heading_of(self, node: int) -> tuple[int, bool | None] | None:
        """Return (pass, is backward) of a heading, with None for the direction of a pass's own heading; None for a
        call."""
        number = node - self.calls
        if number < 0:
            return None
        return (number // 2, bool(number % 2)) if number < 2 * self.passes else (number - 2 * self.passes, None)
