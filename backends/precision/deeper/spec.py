"""Around which call of which comparison, and how far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backends.precision.deeper.reruns import run_problem
from backends.precision.reproduce.spec import Chosen, has_comparison
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Depth:
    """`around`: calls before and behind it that are kept with it. `digests`: first the digests of the whole step, which
    may find a call before it."""

    around: int = option(4, low=0, high=200)
    digests: bool = option(True)


def _can_run_again(spec: DeeperSpec) -> Iterable[Problem]:
    if rule := run_problem(spec.chosen.comparison):
        yield Problem(field="comparison", rule=rule)


@dataclass(frozen=True, kw_only=True)
class DeeperSpec:
    chosen: Chosen = field(default_factory=Chosen)
    depth: Depth = field(default_factory=Depth)

    RULES = (has_comparison, _can_run_again)
