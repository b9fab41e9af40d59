"""Activations that are computed again in the backward pass instead of being kept: less memory for more time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from ascend_engine.options import Config
    from ascend_engine.recipe import Recipe


def recompute(plan: Recipe, config: Config) -> None:
    """After mixed precision was put into the cells: operator by operator, a cell is called again as it is now.

    MindSpore 2.10 honours it in all modes (measured on the CPU: the same losses to the last bit).
    Raises Failure for a recipe that names no cells.
    """
    if not config.recompute:
        return
    if not plan.recompute:
        raise Failure("launch.nothing_to_recompute", recipe=config.recipe)
    for cell in plan.recompute:
        cell.recompute()
