"""A network that starts from given weights: read, matched by name and shape, and told in a table.

MindSpore's .ckpt is protobuf, safetensors is JSON and bytes: reading either runs nothing of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mindspore as ms
import numpy as np
from mindspore import Tensor

from ascend_engine.checkpoints import safetensors
from ascend_engine.checkpoints.weights_table import MATCHED, compare, file_of, report_table, write_table
from ascend_engine.failures import Failure, first_line
from ascend_engine.recipe_data.initial_weights import portable_weights, torch_name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mindspore import Parameter, nn


def start_from(network: nn.Cell, source: Path, tells: bool = True) -> None:
    """Give the parameters of a network what a file has under their names; the others keep their initial value.
    Leaves a table of all names where it `tells`: of several processes one does. Raises Failure where nothing fits, or
    the file cannot be read."""
    path = file_of(source)
    parameters = {parameter.name: parameter for parameter in network.get_parameters()}
    arrays = named_like_mindspore(read(path), parameters)
    rows = compare({name: tuple(parameter.shape) for name, parameter in parameters.items()}, arrays)
    if tells:
        write_table(path, rows)
    if not any(row.status == MATCHED for row in rows):
        first = {"here": next(iter(parameters), "–"), "there": next(iter(arrays), "–")}
        raise Failure("launch.weights_nothing", file=str(path), **first)
    for row in rows:
        if row.status == MATCHED:
            _set(parameters[row.name], arrays[row.name])
    if tells:
        report_table(path, rows)


def read(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a .safetensors or .ckpt file by name. Raises Failure."""
    try:
        content = path.read_bytes()
        return safetensors.decode(content) if path.suffix == ".safetensors" else _of_ckpt(path)
    except (OSError, ValueError) as error:
        raise Failure("launch.weights_unreadable", file=str(path), error=first_line(error)) from error


def _of_ckpt(path: Path) -> dict[str, np.ndarray]:
    """Without what is no array: a checkpoint of Model.train also holds texts."""
    if path.suffix != ".ckpt":
        raise ValueError(f"{path.suffix or path.name} is neither .ckpt nor .safetensors")
    loaded = ms.load_checkpoint(str(path))
    return {name: array_of(parameter) for name, parameter in loaded.items() if isinstance(parameter, ms.Parameter)}


def array_of(parameter: Parameter) -> np.ndarray:
    """numpy has no bfloat16; float32 holds each of its values."""
    return (parameter.astype(ms.float32) if parameter.dtype == ms.bfloat16 else parameter).asnumpy()


def _set(parameter: Parameter, array: np.ndarray) -> None:
    """Before the first step: kernels that ran once go on with the first value."""
    parameter.set_data(Tensor(np.array(array), parameter.dtype))


def named_like_mindspore(arrays: dict[str, np.ndarray], parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Names that PyTorch gives as MindSpore has them, where the network has those."""
    names = {torch_name(name): name for name in parameters}
    return {name if name in parameters else names.get(name, name): array for name, array in arrays.items()}


def draw_portable(network: nn.Cell, seed: int) -> None:
    """Give each parameter the value that it has in PyTorch, too."""
    for parameter in network.get_parameters():
        if parameter.requires_grad:
            _set(parameter, portable_weights(parameter.name, array_of(parameter), seed))
