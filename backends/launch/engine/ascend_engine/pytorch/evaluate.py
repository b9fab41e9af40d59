"""The metrics of a recipe over its validation samples, with PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from ascend_engine.parallel.process_group import ALONE
from ascend_engine.pytorch.precision import autocast
from ascend_engine.pytorch.step import labels_of, tensor_of

if TYPE_CHECKING:
    from ascend_engine.options import Config
    from ascend_engine.parallel.process_group import ProcessGroup
    from ascend_engine.pytorch.recipe import Recipe

BATCH = 256


@torch.no_grad()
def evaluate(
    plan: Recipe, config: Config, device: torch.device, process_group: ProcessGroup = ALONE
) -> dict[str, float]:
    """Each metric, averaged over all validation samples. Several ranks share the work, and have the same answer."""
    if plan.eval_data is None:
        return {}
    plan.network.train(False)
    size = len(plan.eval_data)
    totals = dict.fromkeys(plan.metrics, 0.0)
    for begin in range(process_group.rank * BATCH, size, process_group.size * BATCH):
        inputs, labels = plan.eval_data[np.arange(begin, min(begin + BATCH, size))]
        with autocast(config, device):
            outputs = plan.network(tensor_of(inputs, device))
        outputs = outputs.float() if config.amp != "O0" else outputs
        for name, metric in plan.metrics.items():
            totals[name] += float(metric(outputs, labels_of(labels, device))) * len(inputs)
    plan.network.train()
    return {name: total / size for name, total in process_group.sums(totals).items()}
