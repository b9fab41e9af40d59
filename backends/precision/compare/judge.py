"""Walks through two dumps in execution order and holds each difference against what explains it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare import arguments
from backends.precision.compare.comparison import DIFFERS, EQUAL, EXPLAINED, EXTRA, FOLLOWS, MISSING, UNKNOWN
from backends.precision.compare.distance import largest, non_finite, typical
from backends.precision.compare.growth import Size, cancelled, factors, rounding
from backends.precision.compare.kinds import BACKWARD, GROWTH, Kind, is_random, kind_of
from backends.precision.compare.scene import Scene, is_scalar
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, MAX, MIN, OUTPUT, PARAMETER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.dump.dump import Name

HIDES = 8.0
"""An error may be so many times larger than the statistics of its tensor show: they see its extremes, its mean and its
norm, where errors of single elements cancel."""
AT_LEAST = 1 / 8
"""Of an eps of the coarsest dtype that a value came through: so much of its rounding may be in a wider tensor, and not
be seen in its statistics."""
RECENT = 64
"""How many outputs back the noise of what is not traced is taken from."""
UNTRACED = 16.0
"""By how much what is not traced may let the noise grow."""
COPIED = 4.0
"""The same where one side traced what made it: then nothing but a copy is expected between."""
ARGUMENTS = 1e-5
"""A number that came from a tensor may differ by the noise, and by no more than this: others are written in code."""
NOTHING_INSIDE = (0.0, 0.0, False)
"""Of what a module called: the largest level and eps, and whether something differed."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """What is not explained: in a call, at a row (-1: the call itself), and why, a reason of `first`."""

    call: int
    row: int
    reason: str
    args: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Of each row `verdict` and `allowed`; of each call `verdict`, `error`, `input` and `allowed`. `events` in
    execution order. `producer` and `golden_producer`: of each row the earlier row that has its value, -1 without.
    `level`: of each row the relative error that it may have."""

    verdict: np.ndarray
    allowed: np.ndarray
    call_verdict: np.ndarray
    call_error: np.ndarray
    call_input: np.ndarray
    call_allowed: np.ndarray
    events: tuple[Event, ...]
    producer: np.ndarray
    golden_producer: np.ndarray
    level: np.ndarray


def judge(scene: Scene, state: Mapping[int, float], noise: np.ndarray | None = None) -> Judged:
    """`state`: by how much what is kept between steps may differ. `noise`: of each row the distance of two golden runs, NaN where unknown."""
    walk = _Walk(scene, state, noise)
    for call in range(len(scene.names)):
        walk.visit(call)
    return walk.result()


class _Walk:
    """The state of one walk. Python lists, since it looks at each row once: numpy's scalars are slower."""

    def __init__(self, scene: Scene, state: Mapping[int, float], noise: np.ndarray | None) -> None:
        rows = scene.rows
        self.scene, self.state = scene, state
        self.first = np.searchsorted(rows.call, np.arange(len(scene.names) + 1)).tolist()
        self.role = rows.role.tolist()
        self.distance = scene.distance.tolist()
        self.eps = scene.eps.tolist()
        self.mine, self.theirs = scene.mine.tolist(), scene.theirs.tolist()
        self.target, self.golden = rows.target.tolist(), rows.golden.tolist()
        self.calls = list(zip(scene.calls.target.tolist(), scene.calls.golden.tolist(), strict=True))
        self.tensor = scene.is_tensor.tolist()
        self.odd = scene.odd.tolist()
        self.noise = None if noise is None else np.nan_to_num(noise).tolist()
        self.sizes = _sizes(scene)
        self.same_size = (scene.size == scene.golden_size).tolist()
        self.differing = arguments.differing(scene)
        self.bad = _bad(scene)
        self.parents = _parents(scene)
        size = len(self.role)
        self.level = [0.0] * size
        self.coarse = list(self.eps)
        self.limit = [float("nan")] * size
        self.verdict = [UNKNOWN] * size
        self.tainted = [False] * size
        self.producer, self.golden_producer = [-1] * size, [-1] * size
        self.seen: dict[int, int] = {}
        self.golden_seen: dict[int, int] = {}
        self.recent: list[float] = []
        self.inside: dict[int, tuple[float, float, bool]] = {}
        self.of_forward: dict[tuple[str, str, str, int], tuple[float, float]] = {}
        self.events: list[Event] = []
        count = len(scene.names)
        self.call_verdict = [UNKNOWN] * count
        self.call_error, self.call_input = [0.0] * count, [0.0] * count
        self.call_allowed = [float("nan")] * count
        self.has_differed = False

    def visit(self, call: int) -> None:
        mine, theirs = self.calls[call]
        rows = range(self.first[call], self.first[call + 1])
        if mine < 0 or theirs < 0:
            self._alone(call, rows, MISSING if mine < 0 else EXTRA)
            return
        outputs = [row for row in rows if self.role[row] in (OUTPUT, GRADIENT)]
        inputs = [row for row in rows if self.role[row] in (INPUT, KWARG, PARAMETER)]
        begun = len(self.events)
        for row in inputs:
            self._input(call, row)
        self._outputs(call, inputs, outputs)
        self._sum_up(call, inputs, outputs, begun)
        self._pass_up(call, outputs)

    def _alone(self, call: int, rows: range, verdict: int) -> None:
        self.call_verdict[call] = verdict
        for row in rows:
            self.verdict[row] = verdict
            self._remember(row, self.role[row] == OUTPUT)

    def _event(self, call: int, row: int, reason: str, **args: object) -> None:
        self.events.append(Event(call=call, row=row, reason=reason, args=args))
        if row >= 0:
            self.verdict[row] = DIFFERS
            self.tainted[row] = True

    # Inputs

    def _input(self, call: int, row: int) -> None:
        mine, theirs = self.seen.get(self.mine[row], -1), self.golden_seen.get(self.theirs[row], -1)
        self.producer[row], self.golden_producer[row] = mine, theirs
        if not self.tensor[row]:
            self._argument(call, row)
        elif mine >= 0 and mine == theirs:
            self._same(row, mine)
        else:
            self._new(call, row, mine, theirs)
        self._remember(row, self.tainted[row] or mine < 0 or theirs < 0)

    def _argument(self, call: int, row: int) -> None:
        known = self.differing.get(row)
        self.verdict[row] = EQUAL
        if known is None:
            return
        is_backward = self.scene.names[call].direction != "forward"
        if is_backward or known.by_noise(min(self._noise(), ARGUMENTS)):
            self.verdict[row] = UNKNOWN if is_backward else EXPLAINED
            return
        self._event(call, row, "argument", target=known.target, golden=known.golden)

    def _same(self, row: int, producer: int) -> None:
        """Both sides use what the same call made: what was to be said of it was said there."""
        self.level[row] = self.level[producer]
        self.coarse[row] = self.coarse[producer]
        self.limit[row] = self.limit[producer]
        self.tainted[row] = self.tainted[producer]
        self.verdict[row] = self._explained(row)

    def _new(self, call: int, row: int, mine: int, theirs: int) -> None:
        known = [self.level[one] for one in (mine, theirs) if one >= 0]
        self.coarse[row] = max([self.eps[row], *(self.coarse[one] for one in (mine, theirs) if one >= 0)])
        self.tainted[row] = any(self.tainted[one] for one in (mine, theirs) if one >= 0)
        allowed = rounding(self.eps[row])
        if row in self.state and mine < 0 and theirs < 0:
            allowed += self.state[row]
        elif self.eps[row]:
            allowed += COPIED * max(known) if known else UNTRACED * self._noise()
        self._check(call, row, allowed, self._why(call, row, mine, theirs))
        self.level[row] = self._level(row, allowed if row in self.state and not known else max([0.0, *known]))

    def _why(self, call: int, row: int, mine: int, theirs: int) -> str:
        if self.odd[row]:
            return "input_cast"
        if mine < 0 and theirs < 0 and not self.recent:
            return "parameter" if self._is_parameter(row) else "data"
        if mine < 0 and theirs < 0 and self.scene.names[call].direction == "forward":
            if self._is_parameter(row):
                return "parameter"
            return "data" if self.eps[row] == 0 else "input_untraced"
        return "input_untraced"

    def _is_parameter(self, row: int) -> bool:
        return self.role[row] == PARAMETER or row in self.state

    # Outputs

    def _outputs(self, call: int, inputs: list[int], outputs: list[int]) -> None:
        name = self.scene.names[call]
        kind = kind_of(name.type or name.api)
        used = [row for row in inputs if self.tensor[row] and self.eps[row] > 0]
        inner, inner_coarse, inner_tainted = self.inside.pop(call, NOTHING_INSIDE)
        coarse = max([inner_coarse, self._of_forward(name)[1], *(self.coarse[row] for row in used)])
        tainted = inner_tainted or any(self.tainted[row] for row in inputs)
        growth = GROWTH[kind] * (1.0 if name.direction == "forward" else BACKWARD)
        for row in outputs:
            sizes = [self.sizes[one] for one in used]
            f = factors(kind, sizes, self.sizes[row]) if name.direction == "forward" else []
            siblings = [self.sizes[one] for one in outputs if self.role[one] == GRADIENT]
            kappa = max([1.0, *f]) if name.direction == "forward" else cancelled(sizes, siblings, self.sizes[row])
            led = max([inner, *(one * self.level[i] for one, i in zip(f or [1.0] * len(used), used, strict=False))])
            if name.direction != "forward":
                led = kappa * max(led, self._of_forward(name)[0], self._noise() if not used else 0.0)
            allowed = kappa * rounding(self.eps[row] if name.direction == "forward" else coarse) + growth * led
            self.tainted[row] = tainted
            self.coarse[row] = max(self.eps[row], coarse)
            self._check(call, row, allowed, self._reason(call, row, name.direction))
            self.level[row] = self._level(row, led)
            self.call_allowed[call] = max(allowed, self.call_allowed[call]) if self.call_allowed[call] == self.call_allowed[call] else allowed
            self._remember(row, True)
            if not self.tainted[row] and self.eps[row]:
                self.recent.append(self.level[row] / kappa)
        if name.direction == "forward":
            rows = (*used, *outputs)
            level = max((self.level[row] for row in rows), default=0.0)
            self.of_forward[key_of(name)] = (level, max((self.coarse[row] for row in rows), default=0.0))

    def _reason(self, call: int, row: int, direction: str) -> str:
        name = self.scene.names[call]
        if self.odd[row]:
            return "output_cast"
        if direction != "forward":
            return "gradient" if not self.has_differed else "output"
        return "random" if is_random(name.type or name.api) else "output"

    def _of_forward(self, name: Name) -> tuple[float, float]:
        """Of a backward: the level of what its forward kept, and the coarsest eps in it."""
        return (0.0, 0.0) if name.direction == "forward" else self.of_forward.get(key_of(name), (0.0, 0.0))

    # Rows

    def _check(self, call: int, row: int, allowed: float, reason: str) -> None:
        if self.noise is not None:
            allowed = max(allowed, HIDES * self.noise[row])
        self.limit[row] = allowed
        if not self.tensor[row]:
            self.verdict[row] = UNKNOWN
            return
        if row in self.bad:
            self._event(call, row, self.bad[row])
        elif not self.same_size[row]:
            if self.scene.names[call].direction == "forward":
                self._event(call, row, "shape")
        elif self.odd[row] or self.distance[row] > allowed:
            self._event(call, row, reason)
        else:
            self.verdict[row] = self._explained(row)

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
        shown = min(shown, 1.0) if shown == shown else 0.0
        hidden = max(HIDES * max(shown, rounding(self.eps[row])), AT_LEAST * self.coarse[row])
        return max(shown, min(led, hidden))

    def _noise(self) -> float:
        return max(self.recent[-RECENT:], default=0.0)

    def _remember(self, row: int, is_new: bool) -> None:
        if is_new:
            if self.target[row] >= 0 and self.mine[row]:
                self.seen[self.mine[row]] = row
            if self.golden[row] >= 0 and self.theirs[row]:
                self.golden_seen[self.theirs[row]] = row

    # Calls

    def _sum_up(self, call: int, inputs: list[int], outputs: list[int], begun: int) -> None:
        rows = (*inputs, *outputs)
        self.call_error[call] = max((self.distance[row] for row in outputs if self.distance[row] > 0), default=0.0)
        self.call_input[call] = max((self.distance[row] for row in inputs if self.distance[row] > 0), default=0.0)
        verdicts = {self.verdict[row] for row in rows}
        self.call_verdict[call] = next((one for one in (DIFFERS, FOLLOWS, EXPLAINED, EQUAL) if one in verdicts), UNKNOWN)
        if len(self.events) > begun:
            self.call_verdict[call] = DIFFERS
            for row in outputs:
                self.tainted[row] = True
            if self.scene.names[call].direction == "forward":
                self.has_differed = True

    def _pass_up(self, call: int, outputs: list[int]) -> None:
        """A module may let through whatever its calls did."""
        parent = self.parents[call]
        if parent < 0:
            return
        level, coarse, tainted = self.inside.get(parent, NOTHING_INSIDE)
        self.inside[parent] = (
            max([level, *(self.level[row] for row in outputs)]),
            max([coarse, *(self.coarse[row] for row in outputs)]),
            tainted or self.call_verdict[call] == DIFFERS or any(self.tainted[row] for row in outputs),
        )

    def result(self) -> Judged:
        return Judged(
            verdict=np.array(self.verdict, np.uint8), allowed=np.array(self.limit, np.float32),
            call_verdict=np.array(self.call_verdict, np.uint8), call_error=np.array(self.call_error, np.float32),
            call_input=np.array(self.call_input, np.float32), call_allowed=np.array(self.call_allowed, np.float32),
            events=tuple(self.events), producer=np.array(self.producer, np.int64),
            golden_producer=np.array(self.golden_producer, np.int64), level=np.array(self.level),
        )  # fmt: skip


def key_of(name: Name) -> tuple[str, str, str, int]:
    """The same of a forward and its backward."""
    return name.kind, name.api, name.type, name.number


def _sizes(scene: Scene) -> list[Size]:
    stats = np.where(np.isnan(scene.golden_stats), scene.stats, scene.golden_stats)
    amax, rms = largest(stats), typical(stats, scene.golden_size)
    spread = np.nan_to_num(stats[:, MAX] - stats[:, MIN], nan=0.0, posinf=0.0, neginf=0.0)
    columns = (amax.tolist(), rms.tolist(), spread.tolist(), scene.golden_size.tolist())
    return [Size(*each) for each in zip(*columns, strict=True)]


def _bad(scene: Scene) -> dict[int, str]:
    """Rows where the target has NaN or infinity and the golden side has not."""
    nan, inf = non_finite(scene.target, scene.rows.target)
    golden_nan, golden_inf = non_finite(scene.golden, scene.rows.golden)
    found = dict.fromkeys(np.flatnonzero(inf & ~golden_inf & ~golden_nan & scene.is_tensor).tolist(), "first_inf")
    return found | dict.fromkeys(np.flatnonzero(nan & ~golden_nan & scene.is_tensor).tolist(), "first_nan")


def _parents(scene: Scene) -> list[int]:
    """Of each call the place of the module that it was called in, -1 without."""
    places = {call: n for n, call in enumerate(scene.calls.target.tolist()) if call >= 0}
    above = scene.target.parents.tolist()
    return [places.get(above[call], -1) if call >= 0 and above[call] >= 0 else -1 for call in scene.calls.target.tolist()]
