"""A train step of the recipe's own: it updates the weights, and what is known of it is its loss."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mindspore import Parameter, Tensor, nn

from ascend_engine.failures import Failure
from ascend_engine.nonfinite_values import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np


class OwnTrainStep(nn.Cell):
    """The step as a Cell, which Model asks for: (inputs, labels) -> loss."""

    def __init__(self, train_step: Callable):
        super().__init__(auto_prefix=False)
        self.train_step = train_step

    def construct(self, inputs, labels):
        return self.train_step(inputs, labels)


def function_of(train_step: Callable) -> Callable:
    """A Cell too, since only functions are compiled by themselves."""

    def own_step(inputs, labels):
        return train_step(inputs, labels)

    return own_step


class OwnStep:
    """Calls the step with each batch and waits for its loss. `prepare`, `as_cell`: as of `step.Step`; `accumulated`:
    what a step that is a Cell keeps itself, beside `others`."""

    def __init__(
        self,
        train_step: Callable,
        others: Iterable[Parameter],
        prepare: Callable[[Callable], Callable],
        as_cell: bool,
    ):
        other_ids = {id(parameter) for parameter in others}
        parameters = train_step.get_parameters() if isinstance(train_step, nn.Cell) else ()
        self.accumulated: tuple[Parameter, ...] = tuple(p for p in parameters if id(p) not in other_ids)
        self.micro_step = prepare(OwnTrainStep(train_step) if as_cell else function_of(train_step))

    def __call__(self, batches: Iterable[tuple[np.ndarray, np.ndarray]]) -> Outcome:
        for inputs, labels in batches:
            loss = self.micro_step(Tensor(inputs), Tensor(labels))
        return self.outcome(loss)

    def outcome(self, loss: Tensor) -> Outcome:
        """Gradients and weights are the step's own: where they are NaN, the next loss is. Raises Failure for what is no
        loss."""
        if not isinstance(loss, Tensor) or loss.size != 1:
            got = f"Tensor {tuple(loss.shape)}" if isinstance(loss, Tensor) else type(loss).__name__
            raise Failure("launch.own_step_loss", got=got)
        value = float(loss.asnumpy().reshape(()))
        return Outcome(value, math.isfinite(value), None, True)
