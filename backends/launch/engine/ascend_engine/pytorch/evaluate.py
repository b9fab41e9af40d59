"""The metrics of a recipe over its validation samples, with PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from ascend_engine.pytorch.group import ALONE
from ascend_engine.pytorch.network_division import share_statistics
from ascend_engine.pytorch.precision import autocast
from ascend_engine.pytorch.step import labels_of, tensor_of

if TYPE_CHECKING:
    from ascend_engine.options import Config
    from ascend_engine.pytorch.group import TorchGroup
    from ascend_engine.pytorch.recipe import Recipe

BATCH = 256


@torch.no_grad()
def evaluate(plan: Recipe, config: Config, device: torch.device, process_group: TorchGroup = ALONE) -> dict[str, float]:
    """Each metric, averaged over all validation samples. Several ranks share the work, and have the same answer.

    All of them call the network equally often, as those that hold parts of it have to: one for which no samples are
    left repeats some, which do not count.
    """
    if plan.eval_data is None:
        return {}
    share_statistics(plan.network, process_group)
    plan.network.train(False)
    size = len(plan.eval_data)
    totals = dict.fromkeys(plan.metrics, 0.0)
    for begin in range(0, size, process_group.readers * BATCH):
        own = begin + process_group.reader * BATCH
        counts = own < size
        first = own if counts else begin
        inputs, labels = plan.eval_data[np.arange(first, min(first + BATCH, size))]
        with autocast(config, device):
            outputs = plan.network(tensor_of(inputs, device))
        outputs = outputs.float() if config.amp != "O0" else outputs
        for name, metric in plan.metrics.items():
            totals[name] += float(metric(outputs, labels_of(labels, device))) * len(inputs) * counts
    plan.network.train()
    return {name: total / size for name, total in process_group.sums(totals).items()}
