"""Which runs' losses are compared, over how many steps, and what difference is accepted."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Runs:
    """`noise_run`: the golden run once more, whose distance from the first is the noise."""

    target_run: Path = option(Path(), positional=True, wants="run")
    golden_run: Path = option(Path(), positional=True, wants="run")
    noise_run: Path = option(Path(), wants="run", flag_name="golden-again")


@dataclass(frozen=True, kw_only=True)
class Judging:
    """`loss_steps` None: all steps that both have. `allow_losses`: the mean relative error that passes; None: twice the
    noise, or 1 % without a second golden run. `follow`: until both have ended."""

    metric: str = option("loss")
    loss_steps: int | None = option(None, low=1, high=10**9, flag_name="steps")
    allow_losses: float | None = option(None, low=0, high=1e6, flag_name="allow")
    follow: bool = option(False)


def _runs_exist(spec: LossesSpec) -> Iterable[Problem]:
    choices = spec.runs
    for name, path in (("target_run", choices.target_run), ("golden_run", choices.golden_run)):
        if path == Path():
            yield Problem(field=name, rule="precision.rule.no_run")
        elif not (path / "run.json").is_file():
            yield Problem(field=name, rule="precision.rule.run_not_there", args={"place": str(path)})
    if choices.noise_run != Path() and not (choices.noise_run / "run.json").is_file():
        yield Problem(field="noise_run", rule="precision.rule.run_not_there", args={"place": str(choices.noise_run)})


def _golden_run_is_another(spec: LossesSpec) -> Iterable[Problem]:
    """A run compared with itself passes whatever it logged."""
    choices = spec.runs
    if choices.golden_run != Path() and choices.target_run.resolve() == choices.golden_run.resolve():
        yield Problem(field="golden_run", rule="precision.rule.same_run")


def _noise_run_is_another(spec: LossesSpec) -> Iterable[Problem]:
    """A run beside itself has no noise, and the target's own difference is not the noise of the golden runs."""
    choices = spec.runs
    if choices.noise_run != Path() and choices.noise_run.resolve() in (
        choices.target_run.resolve(),
        choices.golden_run.resolve(),
    ):
        yield Problem(field="noise_run", rule="precision.rule.noise_run_twice")


def _metric_is_named(spec: LossesSpec) -> Iterable[Problem]:
    if not spec.judging.metric.strip():
        yield Problem(field="metric", rule="precision.rule.no_metric")


@dataclass(frozen=True, kw_only=True)
class LossesSpec:
    runs: Runs = field(default_factory=Runs)
    judging: Judging = field(default_factory=Judging)

    RULES = (_runs_exist, _golden_run_is_another, _noise_run_is_another, _metric_is_named)
