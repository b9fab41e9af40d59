"""What a training asks a device for, recorded so that two rehearsals can be compared: its contract.

    placement    devices and their indices, where the parameters of each optimizer are, moves to the host
    dtypes       autocast and its regions, dtypes of parameters, buffers, inputs and the loss
    scaler       the GradScaler and the order of its calls
    seeds        which generators were given which seed
    groups       backends, process groups, wrappers of several ranks, and the order of collectives
    optimizer    class, groups, hyperparameters of each step
    batches      a digest of each batch that a network was fed, and how the loader was made
    saved        what checkpoints hold
    memory       what decides how much is kept: checkpointing, graphs that are retained, limits
    lines        the lines of the script that ran

Nothing here changes what is computed. It is installed last, around whatever the rehearsal has put in place, and sees
what the script asked for, not what stands in for it.
"""

from __future__ import annotations

import sys

from ascend_studio import hooks

if False:
    from typing import Any

_PARTS = ("placement", "dtypes", "scaler", "seeds", "groups", "optimizer", "batches", "saved", "memory")


def install(torch: Any) -> None:
    from importlib import import_module

    from ascend_studio.contract import lines, log

    log.begin(torch)
    lines.begin()
    for name in _PARTS:
        part = import_module("ascend_studio.contract." + name)
        hooks.guarded("contract of " + name)(part.install)(torch)
    if "torch_npu" in sys.modules and hasattr(torch, "npu"):
        follow_npu(torch)


def follow_npu(torch: Any) -> None:
    """Follow what torch_npu brought, once it is imported."""
    from ascend_studio.contract import log, placement, seeds

    if log.torch is not None:
        placement.follow_npu(torch)
        seeds.follow(torch, torch.npu, "npu")
