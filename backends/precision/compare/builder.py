"""Judged passes as the columns of a Comparison."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.alignment.tokens import BACKWARD
from backends.precision.compare.comparison import EXTRA, FIRST, MEASURES, MISSING, Comparison, First, Pass
from backends.precision.compare.values.joined import is_scalar
from backends.precision.compare.verdict.first_divergence import name_at

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.comparison import AllowedNoise, Coverage
    from backends.precision.compare.judgement.state import Judgement
    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.dump import Dump


class _Numbered(dict[Any, int]):
    """A number for each value, in the order in which they come."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number

    def column(self, values: Iterable[Any]) -> Array:
        """Return the number of each value, -1 for None."""
        return np.array([-1 if value is None else self[value] for value in values], np.int32)

    def lookup(self, values: tuple[Any, ...]) -> Array:
        """Return the numbers of all values and, behind them, -1."""
        return np.array([*(self[value] for value in values), -1], np.int32)


@dataclass(kw_only=True)
class ComparisonBuilder:
    """Grows pass by pass. `firsts`: the first divergence of each pass that has one, with its indices in the whole,
    and which call of its pass it is."""

    passes: list[Pass] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    columns: list[dict[str, Array]] = field(default_factory=list)
    firsts: list[tuple[First, int]] = field(default_factory=list)
    items: _Numbered = field(default_factory=_Numbered)
    dtypes: _Numbered = field(default_factory=_Numbered)
    shapes: _Numbered = field(default_factory=_Numbered)
    texts: _Numbered = field(default_factory=_Numbered)
    stacks: _Numbered = field(default_factory=_Numbered)
    rows: int = 0

    def add(
        self, joined: JoinedDumps, judgement: Judgement, step: int, rank: int, first: First | None,
        measures: Array | None = None, msprobe: Array | None = None,
    ) -> None:  # fmt: skip
        """Append a pass. `first`: its first divergence; `measures` and `msprobe`: columns of the same names."""
        begin = len(self.names)
        target, golden = (_folder(side) for side in (joined.target, joined.golden))
        self.passes.append(
            Pass(step=step, rank=rank, target=target, golden=golden, first_call=begin, first_row=self.rows)
        )
        names = [name_at(joined, call) for call in range(len(joined.names))]
        self.columns.append(
            {
                **self._call_columns(joined, judgement, names, begin),
                **self._row_columns(joined, judgement, begin),
                **_measured(len(joined.rows.call), measures, msprobe),
            }
        )
        if first is not None:
            row = first.row + self.rows if first.row >= 0 else -1
            self.firsts.append((replace(first, call=first.call + begin, row=row), first.call))
        self.names += names
        self.rows += len(joined.rows.call)

    def _call_columns(
        self, joined: JoinedDumps, judgement: Judgement, names: list[str], begin: int
    ) -> dict[str, Array]:
        golden = [
            joined.golden.calls[j] if j >= 0 and joined.golden.calls[j] != name else None
            for name, j in zip(names, joined.calls.golden.tolist(), strict=True)
        ]
        return {
            "target_call": joined.calls.target, "golden_call": joined.calls.golden,
            "golden_name": self.texts.column(golden), "call_verdict": judgement.call_verdict,
            "call_error": judgement.call_error, "call_input": judgement.call_input,
            "call_allowed": judgement.call_allowed,
            "parent": _parents(joined, begin), "moved": joined.calls.moved,
            "stack": self._stack_column(joined.target, joined.calls.target),
            "golden_stack": self._stack_column(joined.golden, joined.calls.golden),
            "is_backward": np.array([name.direction in BACKWARD for name in joined.names], bool),
            "is_module": np.array([bool(name.type) for name in joined.names], bool),
        }  # fmt: skip

    def _stack_column(self, side: Dump, calls: Array) -> Array:
        numbers = self.stacks.lookup(side.stack_lines)
        return np.asarray(numbers[np.append(side.stacks, -1)[calls]])

    def _row_columns(self, joined: JoinedDumps, judgement: Judgement, begin: int) -> dict[str, Array]:
        rows = joined.rows
        columns = {
            "call": rows.call + np.int32(begin), "role": rows.role, "item": self.items.lookup(rows.items)[rows.item],
            "is_scalar": is_scalar(joined.target, rows.target) | is_scalar(joined.golden, rows.golden),
            "target_stats": joined.stats, "golden_stats": joined.golden_stats,
            "error": joined.distance.astype(np.float32), "allowed": judgement.allowed, "verdict": judgement.verdict,
        }  # fmt: skip
        for name, side, indices in (("target", joined.target, rows.target), ("golden", joined.golden, rows.golden)):
            columns[f"{name}_dtype"] = self.dtypes.lookup(side.dtypes)[np.append(side.dtype, -1)[indices]]
            columns[f"{name}_shape"] = self.shapes.lookup(side.shapes)[np.append(side.shape, -1)[indices]]
            columns[f"{name}_text"] = self._text_column(side, indices, side.digest | side.value)
            columns[f"{name}_file"] = self._text_column(side, indices, side.file)
        return columns

    def _text_column(self, side: Dump, rows: Array, texts: dict[int, str]) -> Array:
        numbers = np.full(len(side.call) + 1, -1, np.int32)
        numbers[list(texts)] = [self.texts[text] for text in texts.values()]
        return numbers[rows]

    def build(
        self, notes: tuple[dict[str, Any], ...], coverage: Coverage | None = None, noise: AllowedNoise | None = None
    ) -> Comparison:
        """Return all passes as one comparison, in which its first divergence is marked."""
        keys = self.columns[0] if self.columns else {}
        columns = {key: np.concatenate([of_pass[key] for of_pass in self.columns]) for key in keys}
        first = self._first()
        if first is not None:
            if columns["call_verdict"][first.call] not in (MISSING, EXTRA):
                columns["call_verdict"][first.call] = FIRST
            if first.row >= 0:
                columns["verdict"][first.row] = FIRST
        return Comparison(
            passes=tuple(self.passes), first=first, names=tuple(self.names), columns=columns, items=tuple(self.items),
            dtypes=tuple(self.dtypes), shapes=tuple(self.shapes), texts=tuple(self.texts), stacks=tuple(self.stacks),
            notes=notes, coverage=coverage, noise=noise,
        )  # fmt: skip

    def _first(self) -> First | None:
        """Return the first divergence of the earliest step that has one, of that the earliest in execution order over
        its ranks; `ranks` in its arguments says which of them have one."""
        order = sorted(self.firsts, key=lambda entry: (entry[0].step, entry[1], entry[0].rank))
        if not order:
            return None
        first, _ = order[0]
        ranks = sorted({other.rank for other, _ in order if other.step == first.step})
        return replace(first, args={**first.args, "ranks": ", ".join(map(str, ranks))})


def _folder(side: Dump) -> Path | None:
    return side.place.folder if side.calls else None


def _parents(joined: JoinedDumps, begin: int) -> Array:
    """Return the index of the module that each call was made in, on the golden side of what the target misses."""
    parents = np.full(len(joined.names), -1, np.int32)
    for side, calls in ((joined.golden, joined.calls.golden), (joined.target, joined.calls.target)):
        indices = np.full(len(side.calls) + 1, -1, np.int32)
        aligned = np.flatnonzero(calls >= 0)
        indices[calls[aligned]] = aligned + begin
        above = np.append(side.parents, -1)[calls]
        parents = np.where((calls >= 0) & (above >= 0), indices[above], parents)
    return np.asarray(parents, np.int32)


def _measured(size: int, measures: Array | None, msprobe: Array | None) -> dict[str, Array]:
    return {
        "measures": np.full((size, len(MEASURES)), np.nan) if measures is None else measures,
        "msprobe": np.zeros(size, np.uint8) if msprobe is None else msprobe,
    }
