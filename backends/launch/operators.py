"""The operators of a recipe that a shard strategy can be given to, with the shapes that it divides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.launch.preview.shard import check_shard, read_shapes
from backends.launch.recipes import DENSE, readers, resolved
from studio.schema import Problem

if TYPE_CHECKING:
    from backends.launch.preview.shard import Shapes
    from backends.launch.spec import LaunchSpec


@dataclass(frozen=True, kw_only=True)
class Operator:
    """`shapes`: of its inputs, in order, over all devices of a stage; None where they are the user's own."""

    name: str
    shapes: Shapes | None


def operators(spec: LaunchSpec) -> tuple[Operator, ...]:
    """Those of the recipe; for an own one those that were named. Other recipes have none that a strategy reaches."""
    if spec.what.recipe == "own":
        return tuple(Operator(name=name, shapes=None) for name, _ in spec.parallel.strategy)
    if spec.what.recipe != "dense":
        return ()
    rows, (inputs, width, outputs) = logical_batch(spec), DENSE
    return (
        Operator(name="matmul1", shapes=((rows, inputs), (inputs, width))),
        Operator(name="relu", shapes=((rows, width),)),
        Operator(name="matmul2", shapes=((rows, width), (width, outputs))),
    )


def logical_batch(spec: LaunchSpec) -> int:
    """Samples that an operator sees at once, over all devices of a stage: a strategy divides these."""
    micro_batches = spec.parallel.pipeline_batches if spec.parallel.parallel == "hybrid" else 1
    return resolved(spec).batch * readers(spec) // micro_batches


def check_strategy(spec: LaunchSpec, name: str, text: str) -> tuple[Problem, ...]:
    """What is wrong with one operator's strategy, with `launch.rule.strategy_of` around what is known of it."""
    by_name = {operator.name: operator for operator in operators(spec)}
    if not by_name:
        return (_problem("launch.rule.no_operators"),)
    if name not in by_name:
        return (_problem("launch.rule.no_operator", operator=name[:40], operators=", ".join(by_name)),)
    strategy = read_shapes(text)
    if strategy is None:
        return (_problem("launch.rule.strategy_form", text=f"{name}={text}"[:80]),)
    # Without shapes what can be said is how many devices each input needs, by itself.
    shapes = by_name[name].shapes
    if shapes is None:
        alone = (check_shard((parts,), (parts,), readers(spec), "strategy") for parts in strategy)
        return tuple(problem for problems in alone for problem in problems)
    return check_shard(shapes, strategy, readers(spec), "strategy")


def _problem(rule: str, **args: str) -> Problem:
    return Problem(field="strategy", rule=rule, args=args)
