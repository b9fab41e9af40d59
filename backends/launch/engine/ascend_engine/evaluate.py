"""The metrics of a recipe over its validation samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from mindspore import Tensor

from ascend_engine.parallel.process_group import ALONE

if TYPE_CHECKING:
    from mindspore import nn

    from ascend_engine.parallel.process_group import ProcessGroup
    from ascend_engine.recipe import Recipe

BATCH = 256


def evaluate(recipe: Recipe, network: nn.Cell, process_group: ProcessGroup = ALONE) -> dict[str, float]:
    """Each metric, averaged over all validation samples. Several ranks share the work, and have the same answer."""
    if recipe.eval_data is None:
        return {}
    network.set_train(False)
    size = len(recipe.eval_data)
    totals = dict.fromkeys(recipe.metrics, 0.0)
    for begin in range(process_group.rank * BATCH, size, process_group.size * BATCH):
        inputs, labels = recipe.eval_data[np.arange(begin, min(begin + BATCH, size))]
        outputs = network(Tensor(inputs))
        for name, metric in recipe.metrics.items():
            totals[name] += float(metric(outputs, Tensor(labels)).asnumpy()) * len(inputs)
    network.set_train(True)
    return {name: total / size for name, total in process_group.sums(totals).items()}
