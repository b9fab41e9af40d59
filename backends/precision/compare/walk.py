"""One walk through two dumps in execution order: what each value may differ by, and where that is not enough.

Each value has a level: the relative error that it may have. An output's is what its own statistics show or, as far as
that may be hidden from them, what the levels of its inputs lead to (`growth`). An input's is that of what made it: of
the latest earlier tensor with the same value. What no call made is data, a parameter, or the result of something that
is not traced.
"""

from __future__ import annotations

from backends.precision.compare.comparison import DIFFERS, EQUAL, EXPLAINED, EXTRA, FOLLOWS, MISSING, UNKNOWN
from backends.precision.compare.growth import LOW, cancelled, factors, kappa, rounding
from backends.precision.compare.kinds import GROWTH, Kind, growth_of, is_random
from backends.precision.compare.levels import ANY, AT_LEAST, HIDES, Levels
from backends.precision.compare.links import is_broken
from backends.precision.dump.dump import GRADIENT, OUTPUT, PARAMETER

HEAT = 8.0
"""What is exponentiated is large beyond that."""
RECENT = 64
"""How many outputs back the noise of what is not traced is taken from."""
UNTRACED = 16.0
"""By how much what is not traced may let the noise grow."""
UNEVEN = 4.0
"""An update's noise sits in single elements: Adam makes a step of a gradient that is nothing but rounding. Of n
elements, the norm and the mean hide sqrt(n) times what they show, of which a product of sqrt(n) summands shows its
root: so many times the fourth root of n."""
UPDATED = 1 / 8
"""Of what a parameter may differ by, where its gradients came from products of few bits: so many of its elements may
have gone the other way without its statistics."""
COPIED = 4.0
"""The same where one side traced what made it: then nothing but a copy is expected between."""
ARGUMENTS = 1e-5
"""A number that came from a tensor may differ by the noise, and by no more than this: others are written in code."""
NOTHING_INSIDE = (0.0, 0.0, False)
"""Of what a module called: the largest level and eps, and whether something differed."""


class Walk(Levels):
    def visit(self, call: int) -> None:
        mine, theirs = self.calls[call]
        rows = range(self.first[call], self.first[call + 1])
        if mine < 0 or theirs < 0:
            self._alone(call, rows, MISSING if mine < 0 else EXTRA)
            return
        inputs = [row for row in rows if not self.is_made[row]]
        outputs = [row for row in rows if self.is_made[row]]
        begun = len(self.events)
        for row in inputs:
            self._input(call, row)
        self._outputs(call, inputs, outputs)
        self._sum_up(call, inputs, outputs, begun)
        self._pass_up(call, outputs)

    def _alone(self, call: int, rows: range, verdict: int) -> None:
        self.call_verdict[call] = verdict
        noise = UNTRACED / COPIED * _most(self.recent)
        for row in rows:
            self.verdict[row], self.level[row] = verdict, noise
            if self.role[row] == OUTPUT:
                self._remember(row)

    # Inputs

    def _input(self, call: int, row: int) -> None:
        if not self.is_tensor[row]:
            self._argument(call, row)
            return
        mine, theirs = self.seen.get(self.mine[row], -1), self.golden_seen.get(self.theirs[row], -1)
        self.producer[row], self.golden_producer[row] = mine, theirs
        if mine >= 0 and mine == theirs and (not self.odd[row] or self.odd[mine]):
            self._same(row, mine)
            return
        self._new(call, row, mine, theirs)
        self._remember(row)

    def _argument(self, call: int, row: int) -> None:
        known = self.differing.get(row)
        if known is None:
            self.verdict[row] = EQUAL
        elif not self.is_forward[call]:
            self.verdict[row] = UNKNOWN
        elif known.by_noise(min(_most(self.recent), ARGUMENTS)):
            self.verdict[row] = EXPLAINED
        else:
            self._event(call, row, "argument", target=known.target or "-", golden=known.golden or "-")

    def _same(self, row: int, producer: int) -> None:
        """Both sides use what the same call made: what was to be said of it was said there."""
        self.level[row], self.coarse[row] = self.level[producer], self.coarse[producer]
        self.hides[row] = self.hides[producer]
        self.limit[row], self.tainted[row] = self.limit[producer], self.tainted[producer]
        self.verdict[row] = self._explained(row)

    def _new(self, call: int, row: int, mine: int, theirs: int) -> None:
        """What no call made, or not the same call on both sides."""
        makers = [one for one in (mine, theirs) if one >= 0]
        if row in self.state:  # zeros are the value of many parameters
            makers = [one for one in makers if self.role[one] == OUTPUT]
        known = max((self.level[one] for one in makers), default=0.0)
        self.coarse[row] = max([self.eps[row], *(self.coarse[one] for one in makers)])
        self.tainted[row] = bool(self.events) and any(self.tainted[one] for one in makers)
        self.hides[row] = max((self.hides[one] for one in makers), default=HIDES)
        if self.state.get(row, 0.0) > 0:
            self.hides[row] = max(HIDES, UNEVEN * self.sizes[row].elements ** 0.25)
        if row in self.state and self.product_error:
            self.hides[row] = max(self.hides[row], UPDATED * self.state[row] / rounding(self.eps[row]))
        is_state = row in self.state and not makers
        led = self.state[row] if is_state else COPIED * known if makers else UNTRACED * _most(self.recent)
        if not makers and not self.is_forward[call] and not self.is_back and self.sizes[row].elements == 1:
            led = 0.0  # the gradient of the loss itself
        if len(makers) == 1 and is_broken(self.scene, row, makers[0], golden=mine >= 0, forward=self.is_forward[call]):
            led = 0.0
        if not makers and not is_state and self._follows(row, led):
            led, self.tainted[row] = UNTRACED * _most(self.recent_tainted), True
        allowed = rounding(self.eps[row]) + led if self.eps[row] else 0.0
        if self.unequal[row] and not makers and not (self.state[row] if is_state else self.recent):
            allowed = 0.0  # nothing has rounded it yet
        if is_state and not self.state[row] and self.other_ends[row]:
            allowed = 0.0
        if is_state and row in self.trained:
            mine_trains, other_trains = self.trained[row]
            self._event(call, row, "needs_grad", target=str(mine_trains), golden=str(other_trains))
            return
        self._check(call, row, allowed, self._why(call, row, bool(makers)))
        self.level[row] = self._level(row, led if is_state else known)

    def _follows(self, row: int, led: float) -> bool:
        """What is more than noise may come from a divergence by what is not traced."""
        own, found = rounding(self.eps[row]), self.distance[row]
        return self.eps[row] > 0 and own + led < found <= own + UNTRACED * _most(self.recent_tainted)

    def _why(self, call: int, row: int, is_made: bool) -> str:
        if self.odd[row]:
            return "input_cast"
        if is_made or not self.is_forward[call]:
            return "input_untraced"
        if self.role[row] == PARAMETER or row in self.state:
            return "parameter"
        return "input_untraced" if self.recent and self.eps[row] else "data"

    # Outputs

    def _outputs(self, call: int, inputs: list[int], outputs: list[int]) -> None:
        used = [row for row in inputs if self.is_tensor[row] and self.eps[row] > 0]
        level, coarse, tainted = self.inside.pop(call, NOTHING_INSIDE)
        kept, kept_coarse = (
            self.of_forward.get(self.keys[call], (0.0, 0.0)) if not self.is_forward[call] else (0.0, 0.0)
        )
        coarse = max([coarse, kept_coarse, *(self.coarse[row] for row in used)])
        tainted = tainted or (bool(self.events) and any(self.tainted[row] for row in inputs))
        if not self.is_forward[call] and call in self.unlike:
            self._leave_out(outputs)
        led_by = self._forward if self.is_forward[call] else self._backward
        self.is_back |= not self.is_forward[call]
        for row in outputs:
            allowed, led, cancels = led_by(call, row, used, outputs, max(level, kept), coarse)
            self.tainted[row], self.coarse[row] = tainted, max(self.eps[row], coarse)
            if not self.eps[row]:
                allowed = ANY if led > 0 else 0.0  # an index or a mask that the noise may have turned
            self._check(call, row, allowed, self._reason(call, row))
            self.hides[row] = self._hides(call, used, cancels)
            self.level[row] = self._level(row, led)
            self.call_allowed[call] = max(allowed, self.call_allowed[call]) if row != outputs[0] else allowed
            self._remember(row)
            self.is_exact |= coarse >= LOW > self.eps[row] > 0 == self.distance[row]
            if self.eps[row]:
                (self.recent_tainted if self.tainted[row] else self.recent).append(self.level[row] / cancels)
        if self.is_forward[call]:
            rows = (*used, *outputs)
            levels = max((self.level[row] for row in rows), default=0.0)
            self.of_forward[self.keys[call]] = (levels, max((self.coarse[row] for row in rows), default=0.0))

    def _leave_out(self, outputs: list[int]) -> None:
        """Another kernel's backward is another function, with other results."""
        for row in outputs:
            self.is_tensor[row], self.distance[row] = False, float("nan")

    def _hides(self, call: int, used: list[int], cancels: float) -> float:
        """A softmax of large numbers is mostly ones and zeros, which show no error; nor does what is picked by them,
        until weights mix it."""
        kind = self.kinds[call]
        if kind is Kind.SOFT:
            return max(HIDES, HIDES * cancels / HEAT)
        if not used or (kind is Kind.PRODUCT and any(row in self.state for row in used)):
            return HIDES
        return max(self.hides[row] for row in used)

    def _forward(
        self, call: int, row: int, used: list[int], outputs: list[int], level: float, coarse: float
    ) -> tuple[float, float, float]:
        """What is allowed, the relative error that the inputs lead to, and κ."""
        kind = self.kinds[call]
        f = factors(kind, [self.sizes[one] for one in used], self.sizes[row])
        led = self._hidden(max([level, *(one * self.level[i] for one, i in zip(f, used, strict=True))]), coarse)
        cancels = kappa(kind, f)
        return cancels * self._rounding(kind, self.eps[row]) + GROWTH[kind] * led, led, cancels

    def _backward(
        self, call: int, row: int, used: list[int], outputs: list[int], level: float, coarse: float
    ) -> tuple[float, float, float]:
        siblings = [self.sizes[one] for one in outputs if self.role[one] == GRADIENT]
        cancels = cancelled([self.sizes[one] for one in used], siblings, self.sizes[row])
        levels = [self.level[i] for i in used] if used else [_most(self.recent)]
        led = cancels * self._hidden(max([level, *levels]), coarse)
        kind = self.kinds[call]
        own = self._rounding(kind, max(coarse, self.eps[row]))
        return cancels * own + growth_of(self.apis[call], forward=False) * led, led, cancels

    def _rounding(self, kind: Kind, eps: float) -> float:
        """Products may be rounded to fewer bits than their dtype has."""
        return max(rounding(eps), self.product_error) if kind in (Kind.PRODUCT, Kind.SOFT) else rounding(eps)

    def _hidden(self, led: float, coarse: float) -> float:
        """Where there is noise, what is rounded to few bits has elements that fell to the other side, which its
        statistics, rounded as well, need not show."""
        return max(led, AT_LEAST * coarse) if coarse >= LOW and (led > 0 or not self.is_exact) else led

    def _reason(self, call: int, row: int) -> str:
        if self.odd[row]:
            return "output_cast"
        if not self.is_forward[call]:
            return "gradient"
        return "random" if is_random(self.apis[call]) else "output"

    # Calls

    def _sum_up(self, call: int, inputs: list[int], outputs: list[int], begun: int) -> None:
        self.call_error[call] = self._furthest(outputs)
        self.call_input[call] = self._furthest(inputs)
        if len(self.events) > begun:
            self.call_verdict[call] = DIFFERS
            for row in outputs:
                self.tainted[row] = True
            return
        verdicts = {self.verdict[row] for row in (*inputs, *outputs)}
        self.call_verdict[call] = next((one for one in (FOLLOWS, EXPLAINED, EQUAL) if one in verdicts), UNKNOWN)

    def _furthest(self, rows: list[int]) -> float:
        return max([self.distance[row] for row in rows if self.distance[row] > 0], default=0.0)

    def _pass_up(self, call: int, outputs: list[int]) -> None:
        """A module may let through whatever its calls did."""
        parent = self.parents[call]
        if parent < 0:
            return
        level, coarse, tainted = self.inside.get(parent, NOTHING_INSIDE)
        self.inside[parent] = (
            max([level, *(self.level[row] for row in outputs)]),
            max([coarse, *(self.coarse[row] for row in outputs)]),
            tainted or (bool(self.events) and any(self.tainted[row] for row in outputs)),
        )


def _most(levels: list[float]) -> float:
    return max(levels[-RECENT:]) if levels else 0.0
