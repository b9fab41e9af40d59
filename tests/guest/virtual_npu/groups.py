"""What two processes of a training do together on two cards: `python -m torch.distributed.run … groups.py DEVICE FILE`.

Each process writes what it got as JSON into FILE.<rank>. On the CPU the group is gloo, for the numbers to compare with.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

if TYPE_CHECKING:
    from collections.abc import Callable

KIND = sys.argv[1]
RANK = int(os.environ["LOCAL_RANK"])
DEVICE = torch.device(KIND, RANK) if KIND == "npu" else torch.device("cpu")


def collectives() -> list[Any]:
    total = torch.full((3,), RANK + 1.0, device=DEVICE)
    distributed.all_reduce(total)
    gathered = [torch.empty(2, device=DEVICE) for _ in range(2)]
    distributed.all_gather(gathered, torch.full((2,), float(RANK), device=DEVICE))
    part = torch.empty(2, device=DEVICE)
    distributed.reduce_scatter(part, list(torch.arange(4.0, device=DEVICE).view(2, 2).unbind()))
    first = torch.full((2,), float(RANK), device=DEVICE)
    distributed.broadcast(first, 0)
    exchanged = torch.empty(2, device=DEVICE)
    distributed.all_to_all_single(exchanged, torch.full((2,), float(RANK), device=DEVICE))
    distributed.all_reduce(total, async_op=True).wait()  # type: ignore[union-attr]
    objects: list[Any] = [None, None]
    distributed.all_gather_object(objects, {"rank": RANK})
    distributed.barrier()
    tensors = (total, *gathered, part, first, exchanged)
    return [[tensor.tolist() for tensor in tensors], objects]


def network() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(DEVICE)


def losses(net: nn.Module) -> list[str]:
    """Three steps, each rank with data of its own; the losses as exact hexadecimals."""
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    numbers = []
    for step in range(3):
        torch.manual_seed(10 * step + RANK)
        loss = net(torch.randn(8, 4).to(DEVICE)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        numbers.append(loss.item().hex())
    return numbers


def data_parallel() -> list[str]:
    ids = [RANK] if KIND == "npu" else None
    return losses(nn.parallel.DistributedDataParallel(network(), device_ids=ids))


def fully_sharded() -> list[str]:
    net, mesh = network(), init_device_mesh(KIND, (2,))
    for module in (net[0], net[2], net):  # type: ignore[index]
        fully_shard(module, mesh=mesh)
    return losses(net)


def fully_sharded_from_nothing() -> list[str]:
    """Weights that are drawn when they are sharded already, as a model from the meta device has them."""
    with torch.device("meta"):
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2), nn.Dropout(0.2))
    fully_shard(net, mesh=init_device_mesh(KIND, (2,)))
    net.to_empty(device=DEVICE)
    torch.manual_seed(5)
    for module in net:
        if isinstance(module, nn.Linear):
            module.reset_parameters()
    return losses(net)


def tensor_parallel() -> list[str]:
    net = parallelize_module(network(), init_device_mesh(KIND, (2,)), {"0": ColwiseParallel(), "2": RowwiseParallel()})
    return losses(net)


def tensor_of_the_cpu_in_the_group() -> Any:
    distributed.all_reduce(torch.ones(2))


def group_of_nccl() -> Any:
    distributed.new_group(backend="nccl")


def result_of(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception as error:
        return {"error": [type(error).__name__, str(error)]}


if __name__ == "__main__":
    if KIND == "npu":
        import torch_npu  # type: ignore[import-not-found]  # noqa: F401

        torch.npu.set_device(RANK)
    distributed.init_process_group("hccl" if KIND == "npu" else "gloo")
    functions = (collectives, data_parallel, fully_sharded, fully_sharded_from_nothing, tensor_parallel)
    refused = (tensor_of_the_cpu_in_the_group, group_of_nccl) if KIND == "npu" else ()
    results = {function.__name__: result_of(function) for function in (*functions, *refused)}
    Path(f"{sys.argv[2]}.{RANK}").write_text(json.dumps(results), encoding="utf-8")
    distributed.destroy_process_group()
