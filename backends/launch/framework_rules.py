"""What PyTorch's ways of training together ask of a recipe: refused before a training begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.schema import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.launch.spec import LaunchSpec

TEXT_HEADS = 4
"""Attention heads of recipe text; a test compares them with the network that is trained."""


def _tensors_can_be_divided(spec: LaunchSpec) -> Iterable[Problem]:
    """A recipe says how its tensors are divided; text does, by its attention heads."""
    parallel = spec.parallel
    if parallel.parallel != "tensor":
        return
    if spec.what.recipe not in ("text", "own"):
        yield Problem(field="parallel", rule="launch.rule.tensor_recipe", args={"recipe": spec.what.recipe})
    elif parallel.nodes > 1:
        yield Problem(field="nodes", rule="launch.rule.tensor_one_node")
    elif spec.what.recipe == "text" and TEXT_HEADS % parallel.workers:
        args = {"workers": parallel.workers, "heads": TEXT_HEADS}
        yield Problem(field="workers", rule="launch.rule.tensor_heads", args=args)


RULES = (_tensors_can_be_divided,)
