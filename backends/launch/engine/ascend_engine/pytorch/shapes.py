"""The modules of a network of PyTorch, with what goes in and comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ascend_studio
import torch

from ascend_engine.batches.sequence import config_for
from ascend_engine.pytorch import device as devices
from ascend_engine.pytorch import recipe
from ascend_engine.pytorch.precision import DTYPES
from ascend_engine.pytorch.train import Training
from ascend_engine.shapes.table import report_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import nn

    from ascend_engine.options import Config
    from ascend_engine.stopping import Stop


def shapes(config: Config, stop: Stop) -> int:
    """Do one step in the current folder, a run's, and tell the shapes; returns the exit code.

    One micro batch of one process, eager: inside a compiled network no module is called one by one.
    """
    config = config.replace(
        mode="eager", compile=False, accumulate=1, steps=1, parallel="none", workers=1, recompute=False, resume=None
    )
    used, device = devices.select(config.device)
    if used == devices.VIRTUAL_NPU:
        ascend_studio.note("launch.on_virtual_npu")
    torch.manual_seed(config.seed)
    plan = recipe.build(config)
    training = Training(config_for(plan.train_data, config), used, device, plan)
    modules = Modules(plan.network)
    modules.watch()
    if stop:
        return stop.exit_code
    ascend_studio.progress(0, 1, "train")
    training.begin_step()
    training.step(training.batches(1))
    ascend_studio.progress(1, 1, "finish")
    report_shapes(training.config, used, modules.rows(), inside_of(config))
    return 0


class Modules:
    """The modules of a network under their names, and what each was called with first."""

    def __init__(self, network: nn.Module):
        self.modules = dict(network.named_modules())
        self.shapes_by_module: dict[str, dict[str, Any]] = {}

    def watch(self) -> None:
        for name, module in self.modules.items():
            module.register_forward_hook(self.hook(name), with_kwargs=True)

    def hook(self, name: str) -> Callable[..., None]:
        """Keeps what the first call had, and counts the others."""

        def see(module: nn.Module, args: Any, kwargs: Any, outputs: Any) -> None:
            first = {"inputs": list(tensors_in((args, kwargs))), "outputs": list(tensors_in(outputs)), "calls": 0}
            self.shapes_by_module.setdefault(name, first)["calls"] += 1

        return see

    def rows(self) -> list[dict[str, Any]]:
        """As in the file: one for each module, the outer before the inner ones. A parameter that two modules share is
        the first one's."""
        counted: set[int] = set()
        return [self.row(name, module, counted) for name, module in self.modules.items()]

    def row(self, name: str, module: nn.Module, counted: set[int]) -> dict[str, Any]:
        own = [parameter for parameter in module.parameters(recurse=False) if id(parameter) not in counted]
        counted.update(map(id, own))
        return {
            "name": name,
            "type": type(module).__name__,
            **self.shapes_by_module.get(name, {"inputs": [], "outputs": [], "calls": 0}),
            "parameters": sum(parameter.numel() for parameter in own),
            "trainable": sum(parameter.numel() for parameter in own if parameter.requires_grad),
        }


def tensors_in(value: Any) -> Iterator[dict[str, Any]]:
    """The tensors of a module's arguments or results, also in tuples, lists and dicts."""
    if isinstance(value, torch.Tensor):
        yield {"shape": list(value.shape), "dtype": str(value.dtype).rpartition(".")[2]}
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))


def inside_of(config: Config) -> str:
    """What autocast lowers the inputs of an operator to, inside the module that calls it; "" without it."""
    return "" if config.amp == "O0" else str(DTYPES[config.amp_dtype]).rpartition(".")[2]
