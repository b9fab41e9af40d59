"""One step of one rank, from its joined dumps to its first divergence. Pure: it reads and writes no file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.precision.compare.alignment.unmatched import find_unmatched
from backends.precision.compare.judgement.drift import DriftState, drift_of, state_after
from backends.precision.compare.judgement.judge import judge
from backends.precision.compare.judgement.moves import gradient_noise, unexplained_updates
from backends.precision.compare.verdict.first_divergence import first_of_pass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.alignment.unmatched import UnmatchedCalls
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.comparison import First
    from backends.precision.compare.judgement.state import Judgement
    from backends.precision.compare.values.joined import JoinedDumps


@dataclass(frozen=True, kw_only=True)
class JudgedPass:
    """`first`: the first divergence of this pass, its indices those of the pass; `drift`: by how much each row that is
    kept between steps was allowed to differ; `agreed`: nothing diverged in the steps before."""

    joined: JoinedDumps
    step: int
    drift: Mapping[int, float]
    judgement: Judgement
    unmatched: UnmatchedCalls
    first: First | None
    agreed: bool

    def state(self) -> DriftState:
        """Return what the next step of the rank has to know."""
        judgement = self.judgement
        return replace(
            state_after(self.joined, self.drift, self.step),
            rounded_families=judgement.rounded_families, is_nonfinite=judgement.is_nonfinite,
            gradient_noise=gradient_noise(self.joined), agrees=self.agreed and not judgement.events,
        )  # fmt: skip


def judge_pass(joined: JoinedDumps, before: DriftState, step: int, rank: int, noise: Array | None = None) -> JudgedPass:
    """Judge one step of one rank. `before`: what the steps before it left; `noise`: of each row the distance of two
    golden runs, NaN where unknown."""
    drift = drift_of(joined, before, step)
    judgement = judge(
        joined, drift, noise, before.rounded_families, is_nonfinite=before.is_nonfinite,
        updates=unexplained_updates(joined, before, noise),
    )  # fmt: skip
    unmatched = find_unmatched(joined, judgement)
    return JudgedPass(
        joined=joined, step=step, drift=drift, judgement=judgement, unmatched=unmatched,
        first=first_of_pass(joined, judgement, unmatched, step, rank), agreed=before.agrees,
    )  # fmt: skip
