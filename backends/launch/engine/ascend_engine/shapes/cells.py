"""The cells of a network of MindSpore, with what goes in and comes out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import ascend_studio
import mindspore as ms
from mindspore import Tensor

from ascend_engine import debugging, device, modes, precision, recipe
from ascend_engine.batches.sequence import config_for
from ascend_engine.shapes.table import report_shapes
from ascend_engine.train import Training

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mindspore import nn

    from ascend_engine.options import Config
    from ascend_engine.stopping import Stop

AMP_WRAPPER = "_backbone"  # the name under which a cell lies in those that mixed precision puts around it
REWRITTEN = re.compile(r"Opt(_\d+)?$")  # what mixed precision adds to the name of a class that it rewrites
INSIDE = ("O1", "auto")  # levels at which operators lower the precision inside a cell and raise it again


def shapes(config: Config, stop: Stop) -> int:
    """Do one step in the current folder, a run's, and tell the shapes; returns the exit code.

    One micro batch, operator by operator: inside a compiled step no cell is called one by one.
    """
    config = config.replace(
        loop="functional", mode="pynative", jit_level="", accumulate=1, steps=1, parallel="none", stages=1,
        sink=False, recompute=False,
    )  # fmt: skip
    modes.enter(config)
    used = device.select(config.device)
    modes.check(config, used)
    debugging.leave_cache_out()
    ms.set_seed(config.seed)
    plan = recipe.build(config)
    classes = {name: type(cell).__name__ for name, cell in plan.network.cells_and_names()}
    training = Training(config_for(plan.train_data, config), used, plan)
    training.set_learning_rate(1)
    cells = Cells(training.network, classes, is_wrapped=training.network is not plan.network)
    cells.watch()
    if stop:
        return stop.exit_code
    ascend_studio.progress(0, 1, "train")
    training.step(training.batches(1))
    ascend_studio.progress(1, 1, "finish")
    report_shapes(training.config, used, cells.rows(), inside_of(config))
    return 0


class Cells:
    """The cells of a network under the names that its author gave them, without those that mixed precision adds.

    classes: name -> class, from before mixed precision was applied, which rewrites some of them.
    """

    def __init__(self, network: nn.Cell, classes: dict[str, str], *, is_wrapped: bool):
        self.classes = classes
        self.is_wrapped = is_wrapped
        # Of several with one name the innermost, which comes last, is the author's.
        self.cells = {self.own_name(full): cell for full, cell in network.cells_and_names()}
        self.shapes_by_cell: dict[str, dict[str, Any]] = {}

    def own_name(self, full: str) -> str:
        words = full.split(".")
        return ".".join(word for word in (words[1:] if self.is_wrapped else words) if word != AMP_WRAPPER)

    def own_class(self, cell: nn.Cell) -> str:
        """Return the name of a cell's class as its author wrote it."""
        name = type(cell).__name__
        return REWRITTEN.sub("", name) if self.is_wrapped else name

    def watch(self) -> None:
        for name, cell in self.cells.items():
            cell.register_forward_hook(self.hook(name))

    def hook(self, name: str) -> Callable:
        """Keeps what the first call had, and counts the others."""

        def see(cell, inputs, outputs):
            first = {"inputs": list(tensors_in(inputs)), "outputs": list(tensors_in(outputs)), "calls": 0}
            self.shapes_by_cell.setdefault(name, first)["calls"] += 1

        return see

    def rows(self) -> list[dict[str, Any]]:
        """As in the file: one for each cell, the outer before the inner ones. A Parameter that two cells share is the
        first one's."""
        counted: set[int] = set()
        return [self.row(name, cell, counted) for name, cell in self.cells.items()]

    def row(self, name: str, cell: nn.Cell, counted: set[int]) -> dict[str, Any]:
        own = [parameter for parameter in cell.get_parameters(expand=False) if id(parameter) not in counted]
        counted.update(map(id, own))
        return {
            "name": name,
            "type": self.classes.get(name) or self.own_class(cell),
            **self.shapes_by_cell.get(name, {"inputs": [], "outputs": [], "calls": 0}),
            "parameters": sum(parameter.size for parameter in own),
            "trainable": sum(parameter.size for parameter in own if parameter.requires_grad),
        }


def tensors_in(value: Any) -> Iterable[dict[str, Any]]:
    """The tensors of a cell's arguments or results, also in tuples, lists and dicts."""
    if isinstance(value, Tensor):
        yield {"shape": list(value.shape), "dtype": str(value.dtype).lower()}
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def inside_of(config: Config) -> str:
    """The type that operators compute in where that shows neither in inputs nor in outputs, else ""."""
    return str(precision.DTYPES[config.amp_dtype]).lower() if config.amp in INSIDE else ""
