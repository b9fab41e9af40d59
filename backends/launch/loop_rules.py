"""What a loop, recomputing and data sink need, and where they cannot be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.recipes import RECIPES
from studio.schema import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.launch.spec import LaunchSpec


def _sink_has_a_queue(spec: LaunchSpec) -> Iterable[Problem]:
    if not spec.how.sink or spec.how.loop != "model":
        return
    if spec.how.device == "cpu" or spec.how.mode != "graph":
        yield Problem(field="sink", rule="launch.no_sink")
    elif spec.how.accumulate > 1 and RECIPES[spec.what.recipe].has_dropout:
        yield Problem(field="sink", rule="launch.no_sink_between", args={"accumulate": spec.how.accumulate})


def _recompute_has_cells(spec: LaunchSpec) -> Iterable[Problem]:
    if not spec.how.recompute:
        return
    if not RECIPES[spec.what.recipe].recomputes:
        yield Problem(field="recompute", rule="launch.nothing_to_recompute", args={"recipe": spec.what.recipe})
    elif spec.precision.amp == "O1":
        yield Problem(field="recompute", rule="launch.no_recompute_o1")


RULES = (_sink_has_a_queue, _recompute_has_cells)
