"""All state of a training with PyTorch as arrays by name, and back."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ascend_engine.failures import Failure
from ascend_engine.pytorch.shards import part, part_of, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor, nn, optim

    from ascend_engine.pytorch.precision import LossScale
    from ascend_engine.pytorch.recipe import Recipe

NETWORK = "network."


def array_of(tensor: Tensor) -> np.ndarray:
    """A copy of the whole tensor. numpy has no bfloat16, float32 holds each of its values."""
    tensor = whole(tensor)
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).cpu().numpy().copy()


def network_tensors(network: nn.Module, has_frozen: bool = True) -> dict[str, Tensor]:
    """Parameters and buffers by name, those that torch saves; what several names share, under its first. Without
    `has_frozen` those that are trained alone."""
    tensors, listed_ids = {}, set()
    for name, tensor in network.state_dict(keep_vars=True).items():
        is_saved = has_frozen or (isinstance(tensor, torch.Tensor) and tensor.requires_grad)
        if isinstance(tensor, torch.Tensor) and is_saved and id(tensor) not in listed_ids:
            listed_ids.add(id(tensor))
            tensors[name] = tensor
    return tensors


def arrays_of(
    plan: Recipe, optimizer: optim.Optimizer, scale: LossScale | None, array_of: Callable[[Tensor], Any] = array_of
) -> dict[str, Any]:
    """`network.NAME`, `optimizer.NAME.STATE` and the loss scale. `array_of`: what is taken of each tensor."""
    tensors = network_tensors(plan.network, plan.saves_frozen)
    arrays = {NETWORK + name: array_of(tensor) for name, tensor in tensors.items()}
    for name, parameter in plan.network.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            if isinstance(value, (torch.Tensor, int, float)):
                arrays[f"optimizer.{name}.{key}"] = array_of(torch.as_tensor(value))
    if scale is not None:
        arrays["scaler.value"] = np.array(scale.scale, np.float64)
        arrays["scaler.counter"] = np.array(scale.counter, np.int64)
    return arrays


@torch.no_grad()
def restore(
    plan: Recipe, optimizer: optim.Optimizer, scale: LossScale | None, arrays: Mapping[str, np.ndarray]
) -> list[str]:
    """The weights must fit; of the rest what fits, so that another optimizer begins afresh. Returns ["state"] where
    something began afresh or was left over. Raises Failure."""
    tensors = network_tensors(plan.network, plan.saves_frozen)
    saved = {name[len(NETWORK) :]: array for name, array in arrays.items() if name.startswith(NETWORK)}
    wrong = sorted(
        name
        for name in {*tensors, *saved}
        if name not in tensors or name not in saved or tuple(tensors[name].shape) != saved[name].shape
    )
    if wrong:
        raise Failure("launch.other_network", count=len(wrong), first=wrong[0])
    for name, tensor in tensors.items():
        part(tensor).copy_(part_of(torch.from_numpy(saved[name].copy()).to(tensor.dtype), tensor))
    is_whole = _restore_optimizer(plan.network, optimizer, arrays)
    return [] if _restore_scale(scale, arrays) and is_whole else ["state"]


def _restore_optimizer(network: nn.Module, optimizer: optim.Optimizer, arrays: Mapping[str, np.ndarray]) -> bool:
    """What an optimizer keeps begins with its first step: what it has after one says whether the arrays are its own.
    One of the user's own, whose like cannot be made, begins afresh. Where there is nothing, no update was made yet, or
    by another optimizer, of which the options or the recipe's code tell."""
    if not any(name.startswith("optimizer.") for name in arrays):
        return True
    names = {parameter: name for name, parameter in network.named_parameters()}
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    try:
        expected = expected_state(optimizer)
    except (TypeError, ValueError, RuntimeError):
        return False
    states: dict[Any, dict[str, Tensor]] = {}
    for parameter in parameters:
        prefix = f"optimizer.{names.get(parameter, '')}."
        saved_state = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
        if set(saved_state) == expected:
            states[parameter] = {key: _state_tensor(key, array, parameter) for key, array in saved_state.items()}
        elif saved_state or expected:
            return False
    optimizer.state.update(states)
    return True


def expected_state(optimizer: optim.Optimizer) -> set[str]:
    """The names of what an optimizer keeps for a parameter, as one step of its like shows."""
    probe = torch.zeros(2, requires_grad=True)
    probe.grad = torch.zeros(2)
    accepted = inspect.signature(type(optimizer)).parameters
    like = type(optimizer)([probe], **{name: value for name, value in optimizer.defaults.items() if name in accepted})
    like.step()
    return {key for key, value in like.state[probe].items() if isinstance(value, (torch.Tensor, int, float))}


def _state_tensor(key: str, array: np.ndarray, parameter: Tensor) -> Tensor:
    """Counters stay where torch keeps them, on the host; what is shaped like the parameter goes beside it."""
    tensor = torch.from_numpy(array.copy())
    if tuple(array.shape) != tuple(parameter.shape) or key == "step":
        return tensor
    state = torch.empty_like(parameter)
    part(state).copy_(part_of(tensor.to(parameter.dtype), parameter))
    return state


def _restore_scale(scale: LossScale | None, arrays: Mapping[str, np.ndarray]) -> bool:
    if scale is None or not scale.dynamic:
        return True
    if "scaler.value" not in arrays:
        return False
    scale.scale, scale.counter = float(arrays["scaler.value"]), int(arrays["scaler.counter"])
    return True
