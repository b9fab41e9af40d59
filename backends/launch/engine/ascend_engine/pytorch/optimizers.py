"""The optimizers of torch by name, their weight decay and their learning rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import optim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import nn

MOMENTUM = 0.9


def make_optimizer(
    name: str, parameters: Iterable[nn.Parameter], lr: float, weight_decay: float, fused: bool
) -> optim.Optimizer:
    """Matrices and kernels decay. Biases and what a norm scales and shifts by have one dimension; to pull them to 0
    only takes away what they are for."""
    parameters = list(parameters)
    groups = [
        {"params": [parameter for parameter in parameters if parameter.ndim > 1], "weight_decay": weight_decay},
        {"params": [parameter for parameter in parameters if parameter.ndim <= 1], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    if name == "sgd":
        return optim.SGD(groups, lr=lr, fused=fused)
    if name == "momentum":
        return optim.SGD(groups, lr=lr, momentum=MOMENTUM, fused=fused)
    if name == "adam":
        return optim.Adam(groups, lr=lr, fused=fused)
    if name == "adamw":
        return optim.AdamW(groups, lr=lr, fused=fused)
    raise ValueError(f"no optimizer is called {name!r}")


def set_learning_rate(optimizer: optim.Optimizer, lr: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = lr
