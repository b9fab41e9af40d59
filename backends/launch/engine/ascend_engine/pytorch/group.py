"""The processes that train together with PyTorch.

What a rank decides by itself is agreed first, in one small sum over all ranks that is part of each step: whether the
gradients and the losses are finite, and whether the training is to stop. Else one rank would leave out an update that
another does, or wait for ever for one that has stopped.
"""

from __future__ import annotations

import hashlib
import math
import os
from typing import TYPE_CHECKING

import ascend_studio
import numpy as np
import torch
from torch import distributed

from ascend_engine.failures import Failure, first_line
from ascend_engine.parallel.process_group import ProcessGroup
from ascend_engine.pytorch import device as devices
from ascend_engine.pytorch.row_files import RowFiles
from ascend_engine.pytorch.state import network_tensors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor, nn

    from ascend_engine.options import Config
    from ascend_engine.stopping import Stop

BACKENDS = {devices.CPU: "gloo", devices.ASCEND: "hccl", devices.VIRTUAL_NPU: "hccl"}
FLAGS = 4


class TorchGroup(ProcessGroup):
    """Rank `rank` of `size`; as a reader of samples, `reader` of `readers`: ranks that hold parts of the same tensors
    read the same samples."""

    reader = 0
    readers = 1
    holds_parts = False
    """Whether each rank holds a part of the weights, so that all of them have to bring theirs to a checkpoint."""
    row_files: RowFiles | None = None
    """What writes a checkpoint from the parts, where every rank sees the folder of the run."""

    def agree(self, whole: bool, loss: float) -> tuple[bool, bool]:
        """Whether the gradients are whole, and the losses finite, on all ranks."""
        return whole, math.isfinite(loss)

    def summed(self, numbers: Tensor) -> Tensor:
        """Added up over all ranks; all of them have to call this."""
        return numbers

    def first_says(self, *flags: bool) -> tuple[bool, ...]:
        """What rank 0 says; all ranks have to call this."""
        return flags


class Ranks(TorchGroup):
    """One of several. `asks`: this rank wants to stop; `agreed`: how many ranks of the latest step had gradients that
    were not finite, how many a loss, how many asked to stop, and the sum of their losses."""

    def __init__(self, config: Config, device: torch.device):
        self.rank = distributed.get_rank()
        self.size = distributed.get_world_size()
        self.holds_parts = config.parallel in ("fsdp", "tensor")
        self.device = device
        self.asks = False
        self.agreed = [0.0] * FLAGS
        if config.parallel == "fsdp" and os.environ.get("LOCAL_WORLD_SIZE") == os.environ.get("WORLD_SIZE"):
            self.row_files = RowFiles(self.rank)
        if config.parallel != "tensor":
            self.reader, self.readers = self.rank, self.size

    def agree(self, whole: bool, loss: float) -> tuple[bool, bool]:
        flags = torch.tensor([not whole, not math.isfinite(loss), self.asks, loss], dtype=torch.float32)
        self.agreed = self.summed(flags.to(self.device)).tolist()
        return self.agreed[0] == 0, self.agreed[1] == 0

    def must_stop(self, stop: Stop) -> bool:
        """One step later than asked, so that all ranks have heard of it in the same step."""
        self.asks = self.asks or bool(stop)
        return bool(self.agreed[2])

    def others_lost(self) -> bool:
        return bool(self.agreed[1])

    def mean_loss(self, loss: float) -> float:
        return self.agreed[3] / self.size

    def sums(self, numbers: dict[str, float]) -> dict[str, float]:
        """Over all readers: ranks that read the same samples have the same numbers."""
        values = torch.tensor(list(numbers.values()), dtype=torch.float32, device=self.device)
        total = self.summed(values) * (self.readers / self.size)
        return dict(zip(numbers, total.tolist(), strict=True))

    def summed(self, numbers: Tensor) -> Tensor:
        distributed.all_reduce(numbers)
        return numbers

    def first_says(self, *flags: bool) -> tuple[bool, ...]:
        values = torch.tensor(flags, dtype=torch.int32, device=self.device)
        distributed.broadcast(values, 0)
        return tuple(map(bool, values.tolist()))


ALONE = TorchGroup()


def local_rank() -> int:
    """Number of this process on its host, as torchrun counts them."""
    return int(os.environ.get("LOCAL_RANK", "0"))


def begin(config: Config, used: str, device: torch.device) -> TorchGroup:
    """Meet the other ranks. `used`: see `device.select`.

    Raises Failure: not started by a launcher, no connection, or another number of processes than asked for.
    """
    if config.parallel == "none":
        return ALONE
    if "WORLD_SIZE" not in os.environ:
        raise Failure("launch.no_torchrun", workers=config.workers)
    try:
        distributed.init_process_group(BACKENDS[used])
    except (RuntimeError, ValueError) as error:
        raise Failure("launch.no_group", reason=first_line(error)) from error
    if distributed.get_world_size() != config.workers:
        raise Failure("launch.other_size", asked=config.workers, found=distributed.get_world_size())
    return Ranks(config, device)


def end(process_group: TorchGroup) -> None:
    """Take leave of the other ranks, which torch asks for before a process ends."""
    if process_group.row_files is not None:
        process_group.row_files.wait()
    if process_group.size > 1:
        distributed.destroy_process_group()


def digest(tensors: Iterable[Tensor]) -> np.ndarray:
    """sha256 of the values, in order, as 32 numbers."""
    hasher = hashlib.sha256()
    for tensor in tensors:
        hasher.update(tensor.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return np.frombuffer(hasher.digest(), np.uint8)


def differ(process_group: TorchGroup, tensors: Iterable[Tensor]) -> bool:
    """Whether not all ranks hold the same bits; all ranks get the same answer. Sums of bytes are exact in float32."""
    own = torch.from_numpy(digest(tensors).astype(np.float32))
    device = process_group.device if isinstance(process_group, Ranks) else own.device
    total = process_group.summed(own.clone().to(device)).cpu()
    differs = torch.tensor([float((total != own * process_group.size).any())], device=device)
    return bool(process_group.summed(differs).item())


def check_begin(process_group: TorchGroup, network: nn.Module) -> None:
    """Raises Failure where the ranks do not begin alike: equal updates keep equal only what was equal."""
    if process_group.size > 1 and differ(process_group, network_tensors(network).values()):
        raise Failure("launch.ranks_differ", workers=process_group.size)


def check_end(process_group: TorchGroup, tensors: Iterable[Tensor]) -> None:
    """Tells whether the trained weights are still the same on all ranks, where each holds all of them."""
    if process_group.size == 1 or process_group.holds_parts:
        return
    is_equal = not differ(process_group, tensors)
    if process_group.is_first:
        ascend_studio.note("launch.ranks_equal" if is_equal else "launch.ranks_drifted", workers=process_group.size)
