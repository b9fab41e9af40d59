"""The optimizers by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import nn
from mindspore.experimental import optim

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mindspore import Parameter

MOMENTUM = 0.9
WEIGHT_DECAY = 0.01


def make_optimizer(name: str, parameters: Iterable[Parameter], lr: float) -> Any:
    """`mindspore.experimental.optim` has the Adam of the paper and of torch: in 2.10 nn.Adam logs
    a deprecation warning of its own, nn.AdamWeightDecay lacks the bias correction, and mint.optim
    has no CPU kernel."""
    if name == "sgd":
        return nn.SGD(parameters, learning_rate=lr)
    if name == "momentum":
        return nn.Momentum(parameters, learning_rate=lr, momentum=MOMENTUM)
    if name == "adam":
        return optim.Adam(parameters, lr=lr)
    if name == "adamw":
        return optim.AdamW(parameters, lr=lr, weight_decay=WEIGHT_DECAY)
    raise ValueError(f"no optimizer is called {name!r}")
