"""Activations that are computed again in the backward pass instead of being kept: less memory for more time."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from torch.utils.checkpoint import checkpoint

from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from ascend_engine.options import Config
    from ascend_engine.pytorch.recipe import Recipe


def recompute(plan: Recipe, config: Config) -> None:
    """Raises Failure for a recipe that names no modules."""
    if not config.recompute:
        return
    if not plan.recompute:
        raise Failure("launch.nothing_to_recompute", recipe=config.recipe)
    for module in plan.recompute:
        module.forward = functools.partial(checkpoint, module.forward, use_reentrant=False)
