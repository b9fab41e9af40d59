"""The losses of the two trainings that a comparison's dumps are from, held against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.precision.compare.spec import CompareSpec
from backends.precision.losses.compare import judge_losses
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
    """`curves` by side; `key` and `args`: the sentence of what compare-losses says of them; `differ`:
    whether steps that both have differ, or one side alone is not finite there."""

    curves: dict[str, Curve]
    key: str
    args: dict[str, Any]
    differ: bool


def losses_of(comparison: Comparison, run: Run) -> ReportedLosses | None:
    """None where one of the dumps is from no run of the studio, or a run has no loss."""
    first = comparison.passes[0] if comparison.passes else None
    if first is None or first.target is None or first.golden is None:
        return None
    target, golden = _curve(first.target), _curve(first.golden)
    if target is None or golden is None:
        return None
    again = schema.from_json(CompareSpec, run.request.values)[0].sides.golden_again
    judgement = judge_losses(target, golden, _curve(again) if again.parts else None)
    return ReportedLosses(
        curves={"target": target, "golden": golden}, key=verdict_key(judgement), args=sentence_args(judgement),
        differ=bool(judgement.exceeded) or judgement.verdict in ("differs", "nonfinite"),
    )  # fmt: skip


def _curve(dump: Path) -> Curve | None:
    folder = run_around(dump)
    if folder is None:
        return None
    try:
        return Watched(folder).curve(METRIC)
    except StudioError:
        return None
