"""Tensors that ranks hold parts of: DTensors, of which plain ones are the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.distributed.tensor import DTensor, distribute_tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor


def whole(tensor: Tensor) -> Tensor:
    """The tensor with all its parts, without its graph. All ranks have to call this for one that is divided."""
    tensor = tensor.detach()
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def part(tensor: Tensor) -> Tensor:
    """The part of this rank; it shares its memory with the tensor."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def part_of(values: Tensor, like: Tensor) -> Tensor:
    """The part of a whole tensor that this rank holds of `like`, which has the same shape."""
    if not isinstance(like, DTensor):
        return values
    return distribute_tensor(values, like.device_mesh, like.placements, src_data_rank=None).to_local()


def is_divided(tensor: Tensor) -> bool:
    """Whether other ranks hold other elements."""
    return isinstance(tensor, DTensor) and any(placement.is_shard() for placement in tensor.placements)


def sum_of_squares(tensors: Iterable[Tensor], device: torch.device) -> Tensor:
    """The sum over all their elements, a float32 scalar."""
    tensors = [tensor for tensor in tensors if tensor.numel()]
    if not tensors:
        return torch.zeros((), device=device)
    return torch.stack([norm.float() for norm in torch._foreach_norm(tensors)]).square().sum()
