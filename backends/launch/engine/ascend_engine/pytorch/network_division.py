"""How ranks share a network: each holds all of it (DDP), a part of each weight that is brought together while it is
used (FSDP2), or a part that it computes with (tensor parallel, DTensor)."""

from __future__ import annotations

import contextlib
import inspect
from typing import TYPE_CHECKING, Any

import ascend_studio
from torch import distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor.parallel import parallelize_module
from torch.nn.parallel import DistributedDataParallel

from ascend_engine.failures import Failure
from ascend_engine.pytorch import shards

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import torch
    from torch import nn

    from ascend_engine.options import Config
    from ascend_engine.pytorch.group import TorchGroup
    from ascend_engine.pytorch.recipe import Recipe

OPTIONS = inspect.signature(DistributedDataParallel).parameters
BUFFERS_OPTION = "forward_sync_buffers" if "forward_sync_buffers" in OPTIONS else "broadcast_buffers"
"""Of torch 2.13 on, and of those before."""


def divide(plan: Recipe, config: Config, device: torch.device, process_group: TorchGroup) -> nn.Module:
    """The network to call. Divided weights replace those of `plan.network`, so that an optimizer is made after this.

    Raises Failure for a recipe whose network cannot be divided as asked.
    """
    network = plan.network
    if config.parallel == "data":
        unused = config.recipe == "own"  # a network of which some part may take no part in a step
        # A buffer may belong to a rank's own samples, as that of a dropout does.
        own_buffers: dict[str, Any] = {BUFFERS_OPTION: False}
        return DistributedDataParallel(
            network, bucket_cap_mb=config.fusion, find_unused_parameters=unused, **own_buffers
        )
    if config.parallel in ("fsdp", "tensor"):
        if plan.optimizer is not None:
            raise Failure("launch.torch_optimizer_of_whole", file=str(config.recipe_file))
        mesh = init_device_mesh(device.type, (process_group.size,))
        if config.parallel == "tensor":
            if not plan.tensor_parallel:
                raise Failure("launch.rule.tensor_recipe", recipe=config.recipe)
            parallelize_module(network, mesh, dict(plan.tensor_parallel), src_data_rank=None)
        else:
            for module in (*plan.recompute, network):
                fully_shard(module, mesh=mesh)
    return network


def synchronizing(network: Any, is_last: bool) -> AbstractContextManager[None]:
    """The gradients of micro batches before the last one are added up on each rank, without a word to the others."""
    if isinstance(network, DistributedDataParallel) and not is_last:
        return network.no_sync()
    if isinstance(network, FSDPModule):
        network.set_requires_gradient_sync(is_last)
    return contextlib.nullcontext()


def share_statistics(network: nn.Module, process_group: TorchGroup) -> None:
    """Give all ranks the buffers of rank 0 that a checkpoint keeps: each took those of BatchNorm from its own samples,
    and what is measured has to be measured with what is saved."""
    if process_group.size == 1:
        return
    saved_names = network.state_dict().keys()
    for name, buffer in network.named_buffers():
        if name in saved_names:
            distributed.broadcast(shards.part(buffer), 0)


def note_bytes(process_group: TorchGroup, network: nn.Module) -> None:
    """What a rank holds of the weights, and the size of the whole. Gradients are no part of it: those that FSDP adds up
    over micro batches are whole until the last one."""
    if process_group.size == 1 or not process_group.is_first:
        return
    parameters = list(network.parameters())
    whole = sum(parameter.numel() * parameter.element_size() for parameter in parameters)
    part = sum(shards.part(parameter).numel() * parameter.element_size() for parameter in parameters)
    ascend_studio.note("launch.torch_bytes", workers=process_group.size, part=part, whole=whole)
