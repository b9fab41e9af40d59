"""A network of PyTorch that starts from given weights: read, matched by name and shape, and told in a table.

safetensors is JSON and bytes; a file of torch.save is read with weights_only, which runs nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from ascend_engine.checkpoints import safetensors
from ascend_engine.checkpoints.weights_table import MATCHED, compare, file_of, report_table, write_table
from ascend_engine.failures import Failure, first_line
from ascend_engine.pytorch.state import array_of, network_tensors
from ascend_engine.recipe_data.initial_weights import portable_weights, torch_name

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from torch import nn

SUFFIXES = (".pt", ".pth", ".bin")
PARTS = ("state_dict", "model", "model_state_dict", "module")
"""Under which of its keys a checkpoint of torch has the weights."""


@torch.no_grad()
def start_from(network: nn.Module, source: Path, tells: bool = True) -> None:
    """Give the parameters of a network what a file has under their names; the others keep their initial value.
    Leaves a table of all names where it `tells`: of several processes one does. Raises Failure where nothing fits, or
    the file cannot be read."""
    path = file_of(source)
    tensors = network_tensors(network)
    arrays = named_like_torch(read(path), tensors)
    rows = compare({name: tuple(tensor.shape) for name, tensor in tensors.items()}, arrays)
    if tells:
        write_table(path, rows)
    if not any(row.status == MATCHED for row in rows):
        first = {"here": next(iter(tensors), "–"), "there": next(iter(arrays), "–")}
        raise Failure("launch.weights_nothing", file=str(path), **first)
    for row in rows:
        if row.status == MATCHED:
            tensors[row.name].copy_(torch.from_numpy(arrays[row.name].copy()))
    if tells:
        report_table(path, rows)


def read(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a .safetensors file, or of one of torch.save, by name. Raises Failure."""
    try:
        if path.suffix == ".safetensors":
            return safetensors.decode(path.read_bytes())
        if path.suffix not in SUFFIXES:
            raise ValueError(f"{path.suffix or path.name} is neither .safetensors nor one of {', '.join(SUFFIXES)}")
        loaded = torch.load(path, map_location="cpu", weights_only=True)
        return {name: array_of(value) for name, value in tensors_of(loaded).items()}
    except Exception as error:  # of many kinds, as what torch.load refuses is
        raise Failure("launch.weights_unreadable", file=str(path), error=first_line(error)) from error


def tensors_of(loaded: Any) -> dict[str, torch.Tensor]:
    """The tensors of a state_dict, also of one inside a checkpoint. Raises ValueError where there is none."""
    for content in (loaded, *((loaded.get(part) for part in PARTS) if isinstance(loaded, dict) else ())):
        if isinstance(content, dict):
            tensors = {name: value for name, value in content.items() if isinstance(value, torch.Tensor)}
            if tensors:
                return tensors
    raise ValueError("it has no tensors by name")


def named_like_torch(arrays: dict[str, np.ndarray], tensors: dict[str, Any]) -> dict[str, np.ndarray]:
    """Names that MindSpore gives as torch has them, where the network has those."""
    renamed = {}
    for name, array in arrays.items():
        other = torch_name(name)
        renamed[other if name not in tensors and other in tensors else name] = array
    return renamed


@torch.no_grad()
def draw_portable(network: nn.Module, seed: int) -> None:
    """Give each parameter the value that it has in MindSpore, too."""
    for name, parameter in network.named_parameters():
        parameter.copy_(torch.from_numpy(portable_weights(name, array_of(parameter), seed)))
