"""The losses of the two trainings that a comparison's dumps are from, held against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.precision.compare.spec import CompareSpec
from backends.precision.losses.compare import judge_losses
from backends.precision.losses.ranks import judge_ranks
from backends.precision.losses.work import Watched, sentence_args, verdict_key
from backends.precision.origin import run_around
from studio import schema
from studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison
    from backends.precision.losses.compare import Curve
    from studio.run import Run

METRIC = "loss"


@dataclass(frozen=True, kw_only=True)
class ReportedLosses:
    """`curves` of the lowest rank by side; `key` and `args`: the sentence of what compare-losses says of all ranks;
    `differ`: whether steps that both have differ, or one side alone is not finite there; `passes`: compare-losses
    would."""

    curves: dict[str, Curve]
    key: str
    args: dict[str, Any]
    differ: bool
    passes: bool


def losses_of(comparison: Comparison, run: Run) -> ReportedLosses | None:
    """None where one of the dumps is from no run of the studio."""
    first = comparison.passes[0] if comparison.passes else None
    if first is None or first.target is None or first.golden is None:
        return None
    target, golden = _curves(first.target), _curves(first.golden)
    if target is None or golden is None:
        return None
    if not target or not golden:
        lacking = [_run_name(dump) for dump, curves in ((first.target, target), (first.golden, golden)) if not curves]
        key = "precision.report.losses_of_one" if target or golden else "precision.report.losses_of_neither"
        return ReportedLosses(curves={}, key=key, args={"runs": ", ".join(lacking)}, differ=False, passes=False)
    again = schema.from_json(CompareSpec, run.request.values)[0].sides.golden_again
    of_ranks = judge_ranks(target, golden, (_curves(again) or {}) if again.parts else {}, judge_losses)
    judgement = of_ranks.judgement
    lone_rank, lone_step = of_ranks.lone_nonfinite or (0, 0)
    return ReportedLosses(
        curves={"target": target[min(target)], "golden": golden[min(golden)]}, key=verdict_key(judgement),
        args={**sentence_args(judgement), "lone_rank": lone_rank, "lone_step": lone_step},
        differ=bool(judgement.exceeded) or judgement.verdict in ("differs", "nonfinite"),
        passes=judgement.verdict == "pass",
    )  # fmt: skip


def _curves(dump: Path) -> dict[int, Curve] | None:
    """Return the losses of the run that a dump is from, by rank, {} where it has none or cannot be read; None where the
    dump is from no run."""
    folder = run_around(dump)
    if folder is None:
        return None
    try:
        return Watched(folder).curves(METRIC)
    except StudioError:
        return {}


def _run_name(dump: Path) -> str:
    folder = run_around(dump)
    return "" if folder is None else folder.name
