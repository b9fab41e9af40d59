"""Which checkpoints are compared, and what difference is accepted."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Checkpoints:
    """Files, folders of them, or runs of the studio, whose last checkpoint is meant."""

    target_weights: Path = option(Path(), positional=True, wants="file", names_runs=True)
    golden_weights: Path = option(Path(), positional=True, wants="file", names_runs=True)


@dataclass(frozen=True, kw_only=True)
class Accepted:
    """`allow_weights`: the largest |target - golden| / |golden|, of each tensor as a whole, that still passes; with 0
    all values have to be equal, and dtypes. `torch_python`: has the torch for files that only torch can read; empty:
    the studio's own."""

    allow_weights: float = option(0.0, low=0, high=1e6, flag_name="allow")
    torch_python: Path = option(Path(), wants="file")


def _both_exist(spec: WeightsSpec) -> Iterable[Problem]:
    choices = spec.checkpoints
    for name, path in (("target_weights", choices.target_weights), ("golden_weights", choices.golden_weights)):
        if path == Path():
            yield Problem(field=name, rule="precision.rule.no_weights")
        elif not path.exists():
            yield Problem(field=name, rule="precision.rule.weights_not_there", args={"place": str(path)})


def _golden_is_another(spec: WeightsSpec) -> Iterable[Problem]:
    """A checkpoint compared with itself passes whatever it holds."""
    choices = spec.checkpoints
    if choices.golden_weights != Path() and choices.target_weights.resolve() == choices.golden_weights.resolve():
        yield Problem(field="golden_weights", rule="precision.rule.same_weights")


@dataclass(frozen=True, kw_only=True)
class WeightsSpec:
    checkpoints: Checkpoints = field(default_factory=Checkpoints)
    accepted: Accepted = field(default_factory=Accepted)

    RULES = (_both_exist, _golden_is_another)
