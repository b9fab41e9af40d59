"""The optimizers by name, their weight decay and their learning rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.experimental import optim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MOMENTUM = 0.9


def make_optimizer(name: str, parameters: Iterable[Parameter], lr: float) -> Any:
    """`mindspore.experimental.optim` has the Adam of the paper and of torch: in 2.10 nn.Adam logs
    a deprecation warning of its own, nn.AdamWeightDecay lacks the bias correction, and mint.optim
    has no CPU kernel. None decays the weights: see `make_decay`."""
    if name == "sgd":
        return nn.SGD(parameters, learning_rate=lr)
    if name == "momentum":
        return nn.Momentum(parameters, learning_rate=lr, momentum=MOMENTUM)
    if name == "adam":
        return optim.Adam(parameters, lr=lr)
    if name == "adamw":
        return optim.AdamW(parameters, lr=lr, weight_decay=0.0)
    raise ValueError(f"no optimizer is called {name!r}")


def make_decay(name: str, optimizer: Any, weight_decay: float) -> Callable | None:
    """gradients -> gradients, to be called right before the optimizer; None where nothing decays.

    Ours, since optim.AdamW of 2.10 with a group of parameters that decays and one that does not
    logs warnings: the gradients of a group become constants of its graph. AdamW takes its part
    from the weights themselves (arXiv 1711.05101), the others add it to the gradients.
    """
    if weight_decay == 0:
        return None
    parameters = optimizer.parameters
    rates = learning_rates(optimizer)
    factors = tuple(weight_decay if decays(parameter) else 0.0 for parameter in parameters)
    each = ops.HyperMap()

    def shrink(rate, factor, parameter):
        if factor > 0:
            return ops.assign(parameter, parameter * (1 - rate * factor))
        return parameter

    def add(factor, parameter, gradient):
        if factor > 0:
            return gradient + parameter * factor
        return gradient

    def decay_weights(gradients):
        each(ops.partial(shrink, rates[0]), factors, parameters)
        return gradients

    def decay_gradients(gradients):
        return each(add, factors, parameters, gradients)

    return decay_weights if name == "adamw" else decay_gradients


def decays(parameter: Parameter) -> bool:
    """Matrices and kernels do. Biases and what a norm scales and shifts by have one dimension; to
    pull them to 0 only takes away what they are for."""
    return parameter.ndim > 1


def set_learning_rate(optimizer: Any, lr: float) -> None:
    """Only the value of a Parameter changes: nothing is compiled anew."""
    for parameter in learning_rates(optimizer):
        # Not set_data(): kernels that ran once go on with the first value (measured, MindSpore 2.10).
        ops.assign(parameter, Tensor(lr, ms.float32))


def has_single_rate(optimizer: Any) -> bool:
    """Whether its learning rate is a number that can be set, not a schedule of its own."""
    return isinstance(optimizer, optim.Optimizer) or (isinstance(optimizer, nn.Optimizer) and not optimizer.dynamic_lr)


def learning_rates(optimizer: Any) -> list[Parameter]:
    """The Parameters that an optimizer reads its learning rate from."""
    if isinstance(optimizer, optim.Optimizer):
        return optimizer.lrs
    rates = optimizer.learning_rate
    return [rates] if isinstance(rates, Parameter) else list(rates)
