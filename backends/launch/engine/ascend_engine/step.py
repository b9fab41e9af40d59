"""One optimizer step: gradients of one or more micro batches, then one update.

Everything that is compiled is a plain function, or a Cell's construct, over Tensors and Parameters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.amp import all_finite

from ascend_engine.nonfinite_values import Outcome
from ascend_engine.parallel.group import make_agreement, make_mean
from ascend_engine.parallel.process_group import ALONE, ProcessGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np
    from mindspore.amp import LossScaler

# Added to the norm that a clipped gradient is divided by, as torch does: no division by 0.
EPSILON = 1e-6


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


def make_norm():
    """gradients -> their global norm: the root of the sum of all squares, in float32."""
    each = ops.HyperMap()
    half_of_squares = ops.L2Loss()

    def halved(gradient):
        return half_of_squares(ops.cast(gradient, ms.float32))

    def global_norm(gradients):
        return ops.sqrt(2 * ops.addn(each(halved, gradients)))

    return global_norm


def make_change(clip: float | None, decay: Callable | None):
    """(gradients, their norm) -> gradients whose norm is at most `clip`, through the weight decay."""
    each = ops.HyperMap()
    unscaled = Tensor(1.0, ms.float32)

    def shorten(factor, gradient):
        return gradient * ops.cast(factor, gradient.dtype)

    def change(gradients, norm):
        if clip is not None:
            factor = ops.minimum(clip / (norm + EPSILON), unscaled)
            gradients = each(ops.partial(shorten, factor), gradients)
        if decay is not None:
            gradients = decay(gradients)
        return gradients

    return change


def make_update(
    optimizer: Any, scaler: LossScaler | None, change: Callable, guarded: bool, process_group: ProcessGroup
):
    """(loss, gradients) -> (loss, finite, norm, sound).

    change: (gradients, norm) -> what the optimizer gets, see `make_change`. finite: loss and
    gradients are; a guarded update leaves the weights alone where they are not, and a scaler
    always guards. norm: of the gradients, unscaled and before clipping. sound: the weights that
    the gradients were computed with are finite. Of several ranks all use the mean of the gradients
    and agree on `finite`; the loss is each one's own.
    """
    parameters = optimizer.parameters
    global_norm = make_norm()
    mean_of_ranks, agreed = make_mean(process_group, parameters), make_agreement(process_group)

    def apply(gradients, norm):
        optimizer(change(gradients, norm))

    def finish(loss, gradients, norm, finite):
        sound = finite
        if not finite:
            sound = all_finite(parameters)
        if guarded:
            if finite:
                apply(gradients, norm)
        else:
            apply(gradients, norm)
        return loss, finite, norm, sound

    def update(loss, gradients):
        gradients = mean_of_ranks(gradients)
        norm = global_norm(gradients)
        whole, finite = agreed(ops.isfinite(norm), loss, gradients)
        return finish(loss, gradients, norm, ops.logical_and(whole, finite))

    def scaled_update(loss, gradients):
        gradients = scaler.unscale(mean_of_ranks(gradients))
        norm = global_norm(gradients)
        # Not only the norm: where float16 saturates on an NPU, this asks the card.
        whole, finite = agreed(all_finite(gradients), loss, gradients)
        scaler.adjust(whole)
        return finish(loss, gradients, norm, ops.logical_and(whole, finite))

    return update if scaler is None else scaled_update


class Sums:
    """Loss and gradients added up over the micro batches of a step.

    They are Parameters: in a compiled step nothing else outlives a call.
    """

    def __init__(self, parameters: Any, count: int):
        gradients = parameters.clone("accumulated", "zeros")
        loss = Parameter(Tensor(0.0, ms.float32), name="accumulated.loss", requires_grad=False)
        each = ops.HyperMap()
        self.parameters = (*gradients, loss)

        def add_gradient(total, gradient):
            return ops.assign_add(total, gradient)

        def mean_of(total):
            return total / count

        def clear_total(total):
            return ops.assign(total, ops.zeros_like(total))

        def add(value, new):
            added = ops.assign_add(loss, ops.cast(value, ms.float32))
            return ops.depend(added, each(add_gradient, gradients, new))

        def means():
            return loss / count, each(mean_of, gradients)

        def clear(after):
            after = ops.depend(after, each(clear_total, gradients))
            return ops.depend(after, ops.assign(loss, ops.zeros_like(loss)))

        self.add, self.means, self.clear = add, means, clear


def make_single_step(gradient: Callable, update: Callable):
    """(inputs, labels) -> what an update gives, for one batch per update."""

    def train_step(inputs, labels):
        (_, loss), gradients = gradient(inputs, labels)
        return update(loss, gradients)

    return train_step


def make_accumulated_step(gradient: Callable, update: Callable, sums: Sums):
    """(inputs, labels) -> loss so far, which adds to the sums; () -> what an update gives, which
    uses their means and clears them."""
    add, means, clear = sums.add, sums.means, sums.clear

    def micro_step(inputs, labels):
        (_, loss), gradients = gradient(inputs, labels)
        return add(loss, gradients)

    def accumulated_update():
        loss, gradients = means()
        loss, finite, norm, sound = update(loss, gradients)
        return loss, clear(finite), norm, sound

    return micro_step, accumulated_update


class TrainStep(nn.Cell):
    """The whole step as a Cell: (inputs, labels) -> what an update gives, for one batch per update."""

    def __init__(self, gradient: Callable, update: Callable):
        super().__init__(auto_prefix=False)
        self.train_step = make_single_step(gradient, update)

    def construct(self, inputs, labels):
        return self.train_step(inputs, labels)


class AccumulatedTrainStep(nn.Cell):
    """(inputs, labels) -> what an update gives. It updates at every `count`-th call; what the others give is no
    result of a step."""

    def __init__(self, gradient: Callable, update: Callable, sums: Sums, count: int):
        super().__init__(auto_prefix=False)
        self.micro_step, self.update = make_accumulated_step(gradient, update, sums)
        self.count = count
        self.done = Parameter(Tensor(0, ms.int32), name="accumulated.count", requires_grad=False)
        self.increment, self.none = Tensor(1, ms.int32), Tensor(0, ms.int32)
        self.true, self.zero = Tensor(True), Tensor(0.0, ms.float32)

    def construct(self, inputs, labels):
        loss = self.micro_step(inputs, labels)
        done = ops.depend(ops.assign_add(self.done, self.increment), loss)
        finite, norm, sound = self.true, self.zero, self.true
        if done == self.count:
            loss, finite, norm, sound = self.update()
            finite = ops.depend(finite, ops.assign(self.done, self.none))
        return loss, finite, norm, sound


def _as_it_is(function: Callable) -> Callable:
    return function


class Step:
    """Calls the functions of a step, or its Cell, and waits for their result.

    `micro_step` is called with each micro batch, `update`, where there is one, after the last. `prepare` compiles
    a function or a Cell, or leaves it as it is.
    """

    def __init__(
        self,
        network: nn.Cell,
        loss: Callable,
        optimizer: Any,
        *,
        accumulate: int = 1,
        scaler: LossScaler | None = None,
        clip: float | None = None,
        decay: Callable | None = None,
        guarded: bool = True,
        prepare: Callable[[Callable], Callable] = _as_it_is,
        as_cell: bool = False,
        process_group: ProcessGroup = ALONE,
    ):
        self.optimizer = optimizer
        gradient = make_gradient(network, loss, optimizer.parameters, scaler)
        update = make_update(optimizer, scaler, make_change(clip, decay), guarded, process_group)
        self.accumulated: tuple[Parameter, ...] = ()
        self.update = None
        if accumulate == 1:
            whole = TrainStep(gradient, update) if as_cell else make_single_step(gradient, update)
            self.micro_step = prepare(whole)
            return
        sums = Sums(optimizer.parameters, accumulate)
        self.accumulated = sums.parameters
        if as_cell:
            cell = AccumulatedTrainStep(gradient, update, sums, accumulate)
            self.accumulated += (cell.done,)
            self.micro_step = prepare(cell)
        else:
            functions = make_accumulated_step(gradient, update, sums)
            self.micro_step, self.update = map(prepare, functions)

    def __call__(self, batches: Iterable[tuple[np.ndarray, np.ndarray]]) -> Outcome:
        for inputs, labels in batches:
            results = self.micro_step(Tensor(inputs), Tensor(labels))
        # Read only now, so that the device need not wait for us between micro batches.
        return self.outcome(results if self.update is None else self.update())

    def outcome(self, results: tuple[Tensor, ...]) -> Outcome:
        return outcome_of(results)


def outcome_of(results: tuple[Tensor, ...]) -> Outcome:
    loss, finite, norm, sound = (result.asnumpy() for result in results)
    return Outcome(float(loss), bool(finite), float(norm), bool(sound))
