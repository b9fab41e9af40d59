"""What the preview estimates of data parallel, and what the ranks measured, in the same terms."""

from __future__ import annotations

from typing import Any

from backends.launch.preview.memory import memory_of
from backends.launch.preview.recipes import recipe
from backends.launch.preview.split import Setting, Split
from backends.launch.preview.traffic import ring_all_reduce, traffic_of

AGREEMENT = 16


def estimated(name: Any, optimizer: Any, workers: int) -> dict[str, float]:
    """What the preview says of data parallel in float32."""
    setting = Setting(
        precision="fp32", optimizer=optimizer, micro_batch=8, micro_batches=workers, recomputation="none",
        sequence_parallel=False,
    )  # fmt: skip
    split = Split(data=workers, tensor=1, pipeline=1, sharded=False)
    memory = memory_of(recipe(name), setting, split)
    return {
        "parameters": memory.parameters, "gradients": memory.gradients, "optimizer": memory.optimizer,
        "sent": traffic_of(recipe(name), setting, split).data,
    }  # fmt: skip


def measured(args: dict[str, Any]) -> dict[str, float]:
    held = {name: args[name] for name in ("parameters", "gradients", "optimizer")}
    return held | {"sent": ring_all_reduce(args["reduced"] - AGREEMENT, args["workers"])}
