"""The losses of two runs with several ranks: rank by rank where both have the same, else the mean over the ranks of
each run, since the ranks of one number of devices have other data than those of another. Pure."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.losses.compare import mean_curve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from backends.precision.losses.compare import Curve, LossJudgement, Verdict

    Curves = Mapping[int, Curve]
    Judge = Callable[[Curve, Curve, Curve | None], LossJudgement]


@dataclass(frozen=True, kw_only=True)
class RankJudgement:
    """`judgement`: of rank `rank`, the first of `ranks` that does not pass; where `is_mean`, of the means over all
    ranks of either run. `lacking`: ranks that one run alone has; `lone_nonfinite`: rank and step of their first loss
    that is NaN or infinite."""

    judgement: LossJudgement
    ranks: tuple[int, ...]
    rank: int
    is_mean: bool = False
    lacking: tuple[int, ...] = ()
    lone_nonfinite: tuple[int, int] | None = None


def judge_ranks(target: Curves, golden: Curves, again: Curves, judge: Judge, steps: int | None = None) -> RankJudgement:
    """Judge two runs, each with a curve at least. `again`: the second golden run, empty without; `steps`: so many of
    the first ones are judged. Ranks of one run alone that are in no comparison make a pass "lone_ranks", or
    "lone_nonfinite"."""
    common = sorted(target.keys() & golden.keys())
    lacking = tuple(sorted(target.keys() ^ golden.keys()))
    judgements = {rank: judge(target[rank], golden[rank], _of_rank(again, rank)) for rank in common}
    is_common_fine = bool(judgements) and all(judgement.verdict == "pass" for judgement in judgements.values())
    of_means = _of_means(target, golden, again, judge) if lacking else None
    if of_means is not None and (of_means.verdict == "pass" or not is_common_fine):
        ranks = tuple(sorted(target.keys() | golden.keys()))
        return RankJudgement(judgement=of_means, ranks=ranks, rank=ranks[0], is_mean=True, lacking=lacking)
    if not judgements:
        judgements = {min(target): judge(target[min(target)], golden[min(golden)], _of_rank(again, min(golden)))}
    rank = next((rank for rank, judged in judgements.items() if judged.verdict != "pass"), min(judgements))
    first_nonfinite = next(_nonfinite_steps({rank: {**target, **golden}[rank] for rank in lacking}, steps), None)
    judgement = judgements[rank]
    if judgement.verdict == "pass" and lacking:
        verdict: Verdict = "lone_ranks" if first_nonfinite is None else "lone_nonfinite"
        judgement = dataclasses.replace(judgement, verdict=verdict)
    return RankJudgement(
        judgement=judgement, ranks=tuple(judgements), rank=rank, lacking=lacking, lone_nonfinite=first_nonfinite
    )  # fmt: skip


def _of_means(target: Curves, golden: Curves, again: Curves, judge: Judge) -> LossJudgement | None:
    """Return None where the ranks of one run logged other steps than each other."""
    of_target, of_golden = mean_curve(target), mean_curve(golden)
    if of_target is None or of_golden is None:
        return None
    return judge(of_target, of_golden, mean_curve(again) if again else None)


def _of_rank(curves: Curves, rank: int) -> Curve | None:
    """Return the curve of a rank, of the lowest where that has none; None without any."""
    return curves.get(rank, curves[min(curves)]) if curves else None


def _nonfinite_steps(curves: Curves, steps: int | None) -> Iterator[tuple[int, int]]:
    """Yield rank and step of each curve's first loss that is NaN or infinite."""
    for rank, curve in sorted(curves.items()):
        places = np.flatnonzero(~np.isfinite(curve.values[:steps]))
        if len(places):
            yield rank, int(curve.steps[places[0]])
