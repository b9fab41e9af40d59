"""The state of a walk, row by row: what each value may differ by, what it was led to, and its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare import arguments
from backends.precision.compare.comparison import DIFFERS, EQUAL, EXPLAINED, FOLLOWS, UNKNOWN
from backends.precision.compare.evidence import (
    bad_of,
    key_of,
    other_ends_of,
    parents_of,
    sizes_of,
    trained_of,
    with_other_outputs_of,
)
from backends.precision.compare.growth import rounding
from backends.precision.compare.judge import Event, Judged
from backends.precision.compare.kinds import kind_of
from backends.precision.compare.products import product_error
from backends.precision.dump.dump import GRADIENT, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.scene import Scene

HIDES = 8.0
"""An error may be so many times larger than the statistics of its tensor show: they see its extremes, its mean and its
norm, where errors of single elements cancel."""
AT_LEAST = 1 / 8
"""Of an eps of the coarsest dtype that a value came through: so much of its rounding may be in a wider tensor, and not
be seen in its statistics."""
LOST = 0.1
"""Two runs whose noise has come to this have nothing in common any more, and may differ by anything."""
ANY = float("inf")


class Levels:
    """Its state is in Python lists: it looks at each row once, and numpy's scalars are slower."""

    def __init__(self, scene: Scene, state: Mapping[int, float], noise: Array | None, known_error: float) -> None:
        rows, names = scene.rows, scene.names
        self.scene = scene
        self.state = state
        self.first = np.searchsorted(rows.call, np.arange(len(names) + 1)).tolist()
        self.role, self.eps = rows.role.tolist(), scene.eps.tolist()
        self.distance: list[float] = scene.distance.tolist()
        self.mine, self.theirs = scene.mine.tolist(), scene.theirs.tolist()
        self.is_tensor, self.odd = scene.is_tensor.tolist(), scene.odd.tolist()
        self.same_size = (scene.size == scene.golden_size).tolist()
        self.noise = None if noise is None else np.nan_to_num(noise).tolist()
        self.unequal = scene.unequal.tolist()
        self.other_ends = other_ends_of(scene).tolist()
        self.trained = trained_of(scene)
        self.unlike = with_other_outputs_of(scene)
        self.product_error = max(product_error(scene), known_error)
        self.sizes = sizes_of(scene)
        self.differing, self.bad = arguments.differing(scene), bad_of(scene)
        self.calls = list(zip(scene.calls.target.tolist(), scene.calls.golden.tolist(), strict=True))
        self.apis = [name.type or name.api for name in names]
        self.kinds = [kind_of(api) for api in self.apis]
        self.is_made = ((rows.role == OUTPUT) | (rows.role == GRADIENT)).tolist()
        self.keys = [key_of(name) for name in names]
        self.is_forward = [name.direction == "forward" for name in names]
        self.parents = parents_of(scene)
        self._begin(len(self.role), len(names))

    def _begin(self, rows: int, calls: int) -> None:
        self.level, self.limit = [0.0] * rows, [float("nan")] * rows
        self.coarse: list[float] = list(self.eps)
        self.hides = [HIDES] * rows
        self.verdict, self.tainted = [UNKNOWN] * rows, [False] * rows
        self.producer, self.golden_producer = [-1] * rows, [-1] * rows
        self.seen: dict[int, int] = {}
        self.golden_seen: dict[int, int] = {}
        self.recent: list[float] = []
        self.recent_tainted: list[float] = []
        self.inside: dict[int, tuple[float, float, bool]] = {}
        self.of_forward: dict[tuple[str, str, str, int], tuple[float, float]] = {}
        self.events: list[Event] = []
        self.is_exact = self.is_back = False
        self.call_verdict = [UNKNOWN] * calls
        self.call_error, self.call_input = [0.0] * calls, [0.0] * calls
        self.call_allowed = [float("nan")] * calls

    def _check(self, call: int, row: int, allowed: float, reason: str) -> None:
        if self.noise is not None:
            allowed = max(allowed, HIDES * self.noise[row])
        if allowed >= LOST:
            allowed = ANY
        self.limit[row] = allowed
        if not self.is_tensor[row] or not (self.same_size[row] or self.is_forward[call]):
            self.verdict[row] = UNKNOWN
        elif row in self.bad:
            self._event(call, row, self.bad[row])
        elif not self.same_size[row]:
            self._event(call, row, "shape")
        elif self.odd[row] or self.distance[row] > allowed:
            self._event(call, row, reason)
        else:
            self.verdict[row] = self._explained(row)

    def _event(self, call: int, row: int, reason: str, **args: object) -> None:
        self.events.append(Event(call=call, row=row, reason=reason, args=args))
        self.verdict[row], self.tainted[row] = DIFFERS, True

    def _explained(self, row: int) -> int:
        found = self.distance[row]
        if found == 0:
            return EQUAL
        if found != found:
            return UNKNOWN
        return FOLLOWS if self.tainted[row] and found > rounding(self.eps[row]) else EXPLAINED

    def _level(self, row: int, led: float) -> float:
        """What the tensor shows, or what it was led to, as far as that may be hidden."""
        shown = self.distance[row]
        shown = shown if shown < 1.0 else 0.0 if shown != shown else 1.0
        if led <= shown:
            return shown
        hidden = max(self.hides[row] * max(shown, rounding(self.eps[row])), AT_LEAST * self.coarse[row])
        return max(shown, min(led, hidden))

    def _remember(self, row: int) -> None:
        if self.mine[row]:
            self.seen[self.mine[row]] = row
        if self.theirs[row]:
            self.golden_seen[self.theirs[row]] = row

    def result(self) -> Judged:
        return Judged(
            verdict=np.array(self.verdict, np.uint8), allowed=np.array(self.limit, np.float32),
            call_verdict=np.array(self.call_verdict, np.uint8), call_error=np.array(self.call_error, np.float32),
            call_input=np.array(self.call_input, np.float32), call_allowed=np.array(self.call_allowed, np.float32),
            events=tuple(self.events), producer=np.array(self.producer, np.int64),
            golden_producer=np.array(self.golden_producer, np.int64), level=np.array(self.level),
            product_error=self.product_error,
        )  # fmt: skip
