"""One optimizer step: gradients of one or more micro batches, then one update.

Everything that `@jit` compiles is a plain function over Tensors and Parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mindspore as ms
from mindspore import Tensor, ops
from mindspore.amp import all_finite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np
    from mindspore import nn
    from mindspore.amp import LossScaler


def make_gradient(network: nn.Cell, loss: Callable, parameters: Any, scaler: LossScaler | None):
    """(inputs, labels) -> ((what was differentiated, the loss), gradients of `parameters`)."""

    def forward(inputs, labels):
        value = loss(network(inputs), labels)
        return value, value

    def scaled_forward(inputs, labels):
        value = loss(network(inputs), labels)
        return scaler.scale(value), value

    function = forward if scaler is None else scaled_forward
    return ms.value_and_grad(function, None, parameters, has_aux=True)


def make_update(optimizer: Any, scaler: LossScaler | None):
    """gradients -> whether the weights were updated. With a scaler, an overflow skips the update
    and lowers the scale."""

    def update(gradients):
        optimizer(gradients)
        return True

    def scaled_update(gradients):
        gradients = scaler.unscale(gradients)
        finite = all_finite(gradients)
        if finite:
            optimizer(gradients)
        scaler.adjust(finite)
        return finite

    return update if scaler is None else scaled_update


def make_single_step(gradient: Callable, update: Callable):
    """(inputs, labels) -> (loss, updated), for one batch per update."""

    def train_step(inputs, labels):
        (_, loss), gradients = gradient(inputs, labels)
        updated = update(gradients)
        return loss, updated

    return train_step


def make_accumulated_step(gradient: Callable, update: Callable, parameters: Any, count: int):
    """(inputs, labels) -> loss, which adds to the sums of gradients; () -> updated, which uses
    their mean over `count` micro batches and clears them.

    The sums are Parameters: under `@jit` nothing else outlives a call.
    """
    sums = parameters.clone("accumulated", "zeros")
    each = ops.HyperMap()

    def add(total, gradient):
        return ops.assign_add(total, gradient)

    def mean(total):
        return total / count

    def clear(total):
        return ops.assign(total, ops.zeros_like(total))

    def micro_step(inputs, labels):
        (_, loss), gradients = gradient(inputs, labels)
        return ops.depend(loss, each(add, sums, gradients))

    def accumulated_update():
        updated = update(each(mean, sums))
        return ops.depend(updated, each(clear, sums))

    return micro_step, accumulated_update


@dataclass(frozen=True)
class Outcome:
    """loss: mean over the step's samples; updated: False where an overflow skipped the update."""

    loss: float
    updated: bool


class Step:
    """Calls the functions of a step and waits for their result."""

    def __init__(
        self,
        network: nn.Cell,
        loss: Callable,
        optimizer: Any,
        *,
        accumulate: int = 1,
        scaler: LossScaler | None = None,
        compiled: bool = False,
    ):
        gradient = make_gradient(network, loss, optimizer.parameters, scaler)
        update = make_update(optimizer, scaler)
        prepare = ms.jit if compiled else _as_it_is
        self.micro_step = self.update = self.single_step = None
        if accumulate == 1:
            self.single_step = prepare(make_single_step(gradient, update))
        else:
            functions = make_accumulated_step(gradient, update, optimizer.parameters, accumulate)
            self.micro_step, self.update = map(prepare, functions)

    def __call__(self, batches: Iterable[tuple[np.ndarray, np.ndarray]]) -> Outcome:
        if self.single_step:
            ((inputs, labels),) = batches
            loss, updated = self.single_step(Tensor(inputs), Tensor(labels))
            return Outcome(float(loss.asnumpy()), bool(updated))
        losses = [self.micro_step(Tensor(inputs), Tensor(labels)) for inputs, labels in batches]
        updated = self.update()
        # Read only now, so that the device need not wait for us between micro batches.
        return Outcome(sum(float(loss.asnumpy()) for loss in losses) / len(losses), bool(updated))


def _as_it_is(function: Callable) -> Callable:
    return function
