"""artifacts/losses.json: how far two curves are apart, and the verdict; written anew while the runs go on."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from backends.precision.measure.formats import number
from studio import files

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.losses.compare import Distance, LossJudgement
    from backends.precision.losses.ranks import RankJudgement
    from studio.run import Run

LOSSES_FILE = "artifacts/losses.json"


def write_losses(run: Run, metric: str, judgement: LossJudgement, of_ranks: RankJudgement) -> None:
    """Raises OSError."""
    ranks = {"ranks": list(of_ranks.ranks), "rank": of_ranks.rank, "mean_over_ranks": of_ranks.is_mean}
    content = {**as_json(metric, judgement), **ranks, "lone_ranks": list(of_ranks.lacking)}
    files.write_json(run.folder / LOSSES_FILE, content)


def as_json(metric: str, judgement: LossJudgement) -> dict[str, Any]:
    return {
        "metric": metric, "verdict": judgement.verdict, "pass": judgement.verdict == "pass",
        "exceeded": list(judgement.exceeded), "expected": judgement.expected, **_distance_json(judgement.distance),
        "limit": judgement.limit, "window_limit": judgement.window_limit, "step_limit": judgement.step_limit,
        "trend_limit": judgement.trend_limit, "shift_limit": judgement.shift_limit, "all_steps": judgement.all_steps,
        "first_beyond": judgement.first_beyond, "spikes": judgement.spikes.count,
        "spike_steps": list(judgement.spikes.steps), "spike_limit": judgement.spike_limit,
        "spikes_allowed": judgement.spikes_allowed, "burst": number(judgement.burst.error),
        "burst_limit": number(judgement.burst.limit), "burst_steps": judgement.burst.steps,
        "noise": _distance_json(judgement.noise) if judgement.noise else None,
        "noise_problem": judgement.noise_problem,
    }  # fmt: skip


def _distance_json(distance: Distance) -> dict[str, Any]:
    values = dataclasses.asdict(distance)
    return {name: number(value) if isinstance(value, float) else value for name, value in values.items()}


def read_losses(folder: Path) -> dict[str, Any]:
    """{} where the file is missing or damaged."""
    content = files.read_json(folder / LOSSES_FILE)
    return content if isinstance(content, dict) else {}


def losses_answer(run: Run) -> dict[str, Any]:
    """What `--json` adds: all of the file."""
    return read_losses(run.folder)
