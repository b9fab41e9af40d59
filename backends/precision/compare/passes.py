"""One step of one rank, from its joined dumps to its first divergence. Pure: it reads and writes no file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.precision.compare.alignment.unmatched import find_unmatched
from backends.precision.compare.judgement.drift import DriftState, drift_of, state_after
from backends.precision.compare.judgement.judge import judge
from backends.precision.compare.values.joined import golden_noise
from backends.precision.compare.verdict.first_divergence import first_of_pass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.alignment.unmatched import UnmatchedCalls
    from backends.precision.compare.comparison import First
    from backends.precision.compare.judgement.state import Judgement
    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.dump import Dump


@dataclass(frozen=True, kw_only=True)
class JudgedPass:
    """`first`: the first divergence of this pass, its indices those of the pass; `drift`: by how much each row that is
    kept between steps was allowed to differ."""

    joined: JoinedDumps
    step: int
    drift: Mapping[int, float]
    judgement: Judgement
    unmatched: UnmatchedCalls
    first: First | None

    def state(self) -> DriftState:
        """Return what the next step of the rank has to know."""
        return state_after(self.joined, self.drift, self.step, self.judgement.product_error)


def judge_pass(
    joined: JoinedDumps, before: DriftState, step: int, rank: int, second_golden: Dump | None = None
) -> JudgedPass:
    """Judge one step of one rank. `before`: what the steps before it left; `second_golden`: the golden run captured
    again, whose distance is the noise."""
    drift = drift_of(joined, before, step)
    noise = None if second_golden is None else golden_noise(joined, second_golden)
    judgement = judge(joined, drift, noise, before.product_error)
    unmatched = find_unmatched(joined, judgement)
    return JudgedPass(
        joined=joined, step=step, drift=drift, judgement=judgement, unmatched=unmatched,
        first=first_of_pass(joined, judgement, unmatched, step, rank),
    )  # fmt: skip
