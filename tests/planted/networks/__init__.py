"""Networks that the comparison was not built on, each with its healthy code and the plants in it.

A module here is a network. It has `make(plant, block)`, which returns an nn.Module whose forward returns the loss, and
`batch(plant, step, rank)`, which returns what that forward is called with. `plant` names what is wrong; "" is the
healthy network, WRITTEN the healthy one whose fused operators are written out. What is true of each plant is in
tests/planted/network_plants.py, which imports no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from torch import Tensor, nn

NAMES = (
    "contrastive", "decoder", "diffusion", "experts", "gan", "graph", "recurrent", "resnet", "scan", "tcn", "unet",
    "vae", "vit",
)  # fmt: skip
WRITTEN = "written"


class Network(Protocol):
    def make(self, plant: str, block: int) -> nn.Module: ...

    def batch(self, plant: str, step: int, rank: int) -> tuple[Tensor, ...]: ...


def network(name: str) -> Any:
    """Return the module of a network; its import brings torch."""
    if name not in NAMES:
        raise KeyError(name)
    return importlib.import_module(f"{__name__}.{name}")
