"""A network that starts from given weights: read, matched by name and shape, and told in a table.

MindSpore's .ckpt is protobuf, safetensors is JSON and bytes: reading either runs nothing of the file.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ascend_studio
import mindspore as ms
import numpy as np
from mindspore import Tensor

from ascend_engine.checkpoints import checkpoint, safetensors
from ascend_engine.failures import Failure, first_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mindspore import Parameter, nn

TABLE = Path("artifacts", "weights.json")
FORMAT = 1
NAMED = 3  # parameters in a sentence
MATCHED, MISSING, LEFT_OVER, OTHER_SHAPE = "matched", "missing", "left_over", "other_shape"


@dataclass(frozen=True)
class Row:
    """One name. `here`: its shape in the network, `there`: in the file; None where it is not in it."""

    name: str
    status: str
    here: tuple[int, ...] | None
    there: tuple[int, ...] | None


def start_from(network: nn.Cell, source: Path, tells: bool = True) -> None:
    """Give the parameters of a network what a file has under their names; the others keep their initial value.
    Leaves a table of all names where it `tells`: of several processes one does. Raises Failure where nothing fits, or
    the file cannot be read."""
    path = file_of(source)
    arrays = read(path)
    parameters = {parameter.name: parameter for parameter in network.get_parameters()}
    rows = compare({name: tuple(parameter.shape) for name, parameter in parameters.items()}, arrays)
    if tells:
        _write(path, rows)
    if not any(row.status == MATCHED for row in rows):
        first = {"here": next(iter(parameters), "–"), "there": next(iter(arrays), "–")}
        raise Failure("launch.weights_nothing", file=str(path), **first)
    for row in rows:
        if row.status == MATCHED:
            _set(parameters[row.name], arrays[row.name])
    if tells:
        _report_table(path, rows)


def file_of(source: Path) -> Path:
    """The file itself; of a folder the weights of a checkpoint, of a run its last one's."""
    if not source.is_dir():
        return source
    checkpoints = source / "artifacts" / "checkpoints"
    folder = checkpoints / checkpoint.target(checkpoints / "last") if checkpoints.is_dir() else source
    return folder / checkpoint.WEIGHTS


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


def compare(shapes: Mapping[str, tuple[int, ...]], arrays: Mapping[str, np.ndarray]) -> list[Row]:
    """Every name of the network, in its order, then what is left over of the file."""
    rows = [_row(name, shape, arrays) for name, shape in shapes.items()]
    left = [Row(name, LEFT_OVER, None, array.shape) for name, array in arrays.items() if name not in shapes]
    return rows + left


def _row(name: str, shape: tuple[int, ...], arrays: Mapping[str, np.ndarray]) -> Row:
    if name not in arrays:
        return Row(name, MISSING, shape, None)
    file_shape = arrays[name].shape
    return Row(name, MATCHED if file_shape == shape else OTHER_SHAPE, shape, file_shape)


def _set(parameter: Parameter, array: np.ndarray) -> None:
    """Before the first step: kernels that ran once go on with the first value."""
    parameter.set_data(Tensor(np.array(array), parameter.dtype))


def _write(path: Path, rows: list[Row]) -> None:
    TABLE.parent.mkdir(exist_ok=True)
    table = {"format": FORMAT, "file": str(path), "rows": [asdict(row) for row in rows]}
    TABLE.write_text(json.dumps(table, indent=1, ensure_ascii=False), "utf-8")
    ascend_studio.artifact("weights", TABLE.absolute())


def _report_table(path: Path, rows: list[Row]) -> None:
    counts = {status: sum(row.status == status for row in rows) for status in (MATCHED, LEFT_OVER)}
    initial = [row.name for row in rows if row.status in (MISSING, OTHER_SHAPE)]
    print(f"starts from {path}: {counts[MATCHED]} of {counts[MATCHED] + len(initial)} parameters")
    if not initial:
        ascend_studio.note("launch.weights", file=path.name, **counts)
        return
    more = {"initial": len(initial), "names": ", ".join(initial[:NAMED]) + (" …" if len(initial) > NAMED else "")}
    ascend_studio.finding("launch.weights_partly", "warning", file=path.name, **counts, **more)
    print("at their initial value: " + ", ".join(initial))
