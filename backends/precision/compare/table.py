"""Judged passes as the columns of a Comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.comparison import MEASURES, Comparison, First, Pass
from backends.precision.compare.first import name_at
from backends.precision.compare.scene import is_scalar
from backends.precision.compare.tokens import BACKWARD

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.judge import Judged
    from backends.precision.compare.scene import Scene
    from backends.precision.dump.dump import Dump


class _Numbered(dict[Any, int]):
    """A number for each thing, in the order in which they come."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number

    def column(self, things: Iterable[Any]) -> Array:
        """Of each its number, -1 for None."""
        return np.array([-1 if thing is None else self[thing] for thing in things], np.int32)

    def table(self, things: tuple[Any, ...]) -> Array:
        """Numbers of all things and, behind them, -1."""
        return np.array([*(self[thing] for thing in things), -1], np.int32)


@dataclass(kw_only=True)
class Table:
    """Grows pass by pass."""

    passes: list[Pass] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    parts: list[dict[str, Array]] = field(default_factory=list)
    items: _Numbered = field(default_factory=_Numbered)
    dtypes: _Numbered = field(default_factory=_Numbered)
    shapes: _Numbered = field(default_factory=_Numbered)
    texts: _Numbered = field(default_factory=_Numbered)
    stacks: _Numbered = field(default_factory=_Numbered)
    rows: int = 0

    def add(
        self, scene: Scene, judged: Judged, step: int, rank: int,
        measures: Array | None = None, msprobe: Array | None = None,
    ) -> tuple[int, int]:  # fmt: skip
        """Returns what the calls and the rows of this pass begin at."""
        begin = len(self.names), self.rows
        target, golden = (_folder(side) for side in (scene.target, scene.golden))
        self.passes.append(
            Pass(step=step, rank=rank, target=target, golden=golden, first_call=begin[0], first_row=begin[1])
        )
        names = [name_at(scene, call) for call in range(len(scene.names))]
        self.parts.append(
            {
                **self._of_calls(scene, judged, names, begin[0]),
                **self._of_rows(scene, judged, begin[0]),
                **_measured(len(scene.rows.call), measures, msprobe),
            }
        )
        self.names += names
        self.rows += len(scene.rows.call)
        return begin

    def _of_calls(self, scene: Scene, judged: Judged, names: list[str], begin: int) -> dict[str, Array]:
        golden = [
            scene.golden.calls[j] if j >= 0 and scene.golden.calls[j] != name else None
            for name, j in zip(names, scene.calls.golden.tolist(), strict=True)
        ]
        return {
            "target_call": scene.calls.target, "golden_call": scene.calls.golden,
            "golden_name": self.texts.column(golden), "call_verdict": judged.call_verdict,
            "call_error": judged.call_error, "call_input": judged.call_input, "call_allowed": judged.call_allowed,
            "parent": _parents(scene, begin), "moved": scene.calls.moved,
            "stack": self._stacks(scene.target, scene.calls.target),
            "golden_stack": self._stacks(scene.golden, scene.calls.golden),
            "is_backward": np.array([name.direction in BACKWARD for name in scene.names], bool),
            "is_module": np.array([bool(name.type) for name in scene.names], bool),
        }  # fmt: skip

    def _stacks(self, side: Dump, calls: Array) -> Array:
        known = self.stacks.table(side.stack_lines)
        return np.asarray(known[np.append(side.stacks, -1)[calls]])

    def _of_rows(self, scene: Scene, judged: Judged, begin: int) -> dict[str, Array]:
        rows = scene.rows
        found = {
            "call": rows.call + np.int32(begin), "role": rows.role, "item": self.items.table(rows.items)[rows.item],
            "is_scalar": is_scalar(scene.target, rows.target) | is_scalar(scene.golden, rows.golden),
            "target_stats": scene.stats, "golden_stats": scene.golden_stats,
            "error": scene.distance.astype(np.float32), "allowed": judged.allowed, "verdict": judged.verdict,
        }  # fmt: skip
        for name, side, where in (("target", scene.target, rows.target), ("golden", scene.golden, rows.golden)):
            found[f"{name}_dtype"] = self.dtypes.table(side.dtypes)[np.append(side.dtype, -1)[where]]
            found[f"{name}_shape"] = self.shapes.table(side.shapes)[np.append(side.shape, -1)[where]]
            found[f"{name}_text"] = self._texts(side, where, side.digest | side.value)
            found[f"{name}_file"] = self._texts(side, where, side.file)
        return found

    def _texts(self, side: Dump, rows: Array, texts: dict[int, str]) -> Array:
        known = np.full(len(side.call) + 1, -1, np.int32)
        known[list(texts)] = [self.texts[text] for text in texts.values()]
        return known[rows]

    def comparison(self, first: First | None, notes: tuple[dict[str, Any], ...]) -> Comparison:
        keys = self.parts[0] if self.parts else {}
        columns = {key: np.concatenate([part[key] for part in self.parts]) for key in keys}
        return Comparison(
            passes=tuple(self.passes), first=first, names=tuple(self.names), columns=columns, items=tuple(self.items),
            dtypes=tuple(self.dtypes), shapes=tuple(self.shapes), texts=tuple(self.texts), stacks=tuple(self.stacks),
            notes=notes,
        )  # fmt: skip


def _folder(side: Dump) -> Path | None:
    return side.place.folder if side.calls else None


def _parents(scene: Scene, begin: int) -> Array:
    """Of what the target misses, those of the golden side."""
    found = np.full(len(scene.names), -1, np.int32)
    for side, calls in ((scene.golden, scene.calls.golden), (scene.target, scene.calls.target)):
        places = np.full(len(side.calls) + 1, -1, np.int32)
        there = np.flatnonzero(calls >= 0)
        places[calls[there]] = there + begin
        above = np.append(side.parents, -1)[calls]
        found = np.where((calls >= 0) & (above >= 0), places[above], found)
    return np.asarray(found, np.int32)


def _measured(size: int, measures: Array | None, msprobe: Array | None) -> dict[str, Array]:
    return {
        "measures": np.full((size, len(MEASURES)), np.nan) if measures is None else measures,
        "msprobe": np.zeros(size, np.uint8) if msprobe is None else msprobe,
    }
