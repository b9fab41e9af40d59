"""One optimizer step with PyTorch: gradients of one or more micro batches, then one update."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ascend_engine.nonfinite_values import Outcome
from ascend_engine.pytorch.group import ALONE, TorchGroup
from ascend_engine.pytorch.network_division import synchronizing
from ascend_engine.pytorch.precision import autocast
from ascend_engine.pytorch.shards import is_divided, part, sum_of_squares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from torch import Tensor, nn, optim

    from ascend_engine.options import Config
    from ascend_engine.pytorch.precision import LossScale

EPSILON = 1e-6
"""Added to the norm that a clipped gradient is divided by, as in torch.nn.utils.clip_grad_norm_."""


def tensor_of(array: np.ndarray, device: torch.device) -> Tensor:
    """Samples as they are: float32, or int32."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)


def labels_of(array: np.ndarray, device: torch.device) -> Tensor:
    """Labels: those that are integers as int64, which the losses of torch want."""
    labels = tensor_of(array, device)
    return labels if labels.is_floating_point() or labels.dtype == torch.bool else labels.long()


class Step:
    """Adds up the gradients of the micro batches, agrees with the other ranks, and updates.

    `network`: what the ranks share; `called`: the same or its compiled form; `parameters`: what is trained. `guarded`:
    the weights are left alone where loss or gradients are not finite; a loss scale always guards.
    """

    def __init__(
        self,
        network: nn.Module,
        called: Callable[..., Any],
        loss: Callable[[Tensor, Tensor], Tensor],
        optimizer: optim.Optimizer,
        config: Config,
        device: torch.device,
        *,
        parameters: Iterable[nn.Parameter],
        scale: LossScale | None,
        process_group: TorchGroup = ALONE,
    ):
        self.network = network
        self.called = called
        self.loss = loss
        self.optimizer = optimizer
        self.config = config
        self.device = device
        self.parameters = list(parameters)
        self.scale = scale
        self.guarded = config.on_nan != "go_on" or scale is not None
        self.process_group = process_group

    def __call__(self, batches: Iterable[tuple[np.ndarray, np.ndarray]]) -> Outcome:
        self.optimizer.zero_grad(set_to_none=True)
        losses = []
        for number, (inputs, labels) in enumerate(batches, 1):
            with synchronizing(self.network, number == self.config.accumulate):
                losses.append(self._backward(tensor_of(inputs, self.device), labels_of(labels, self.device)))
        # The scalar operators of a step of its own would cost a small network as much as its layers.
        return self._update(losses[0] if len(losses) == 1 else sum(losses[1:], losses[0]) / self.config.accumulate)

    def _backward(self, inputs: Tensor, labels: Tensor) -> Tensor:
        """The loss of a micro batch, in float32 and without its graph."""
        with autocast(self.config, self.device):
            outputs = self.called(inputs)
        value = self.loss(outputs.float() if self.config.amp != "O0" else outputs, labels)
        factor = (1.0 if self.scale is None else self.scale.scale) / self.config.accumulate
        (value if factor == 1.0 else value * factor).backward()
        return value.detach().float()

    def _update(self, loss: Tensor) -> Outcome:
        gradients = [parameter.grad for parameter in self.parameters if parameter.grad is not None]
        if self.scale is not None:
            torch._foreach_div_([part(gradient) for gradient in gradients], self.scale.scale)
        norm = norm_of(gradients, self.device, self.process_group)
        loss_value, norm_value = float(loss), float(norm)
        whole, finite = self.process_group.agree(math.isfinite(norm_value), loss_value)
        finite = whole and finite
        sound = finite or all_finite(self.parameters)
        if self.scale is not None:
            self.scale.adjust(whole)
        if finite or not self.guarded:
            self._clip(gradients, norm)
            self.optimizer.step()
        return Outcome(loss_value, finite, norm_value, sound)

    def _clip(self, gradients: list[Tensor], norm: Tensor) -> None:
        if self.config.clip is not None:
            parts = [part(gradient) for gradient in gradients]
            torch._foreach_mul_(parts, torch.clamp(self.config.clip / (norm + EPSILON), max=1.0))


def norm_of(gradients: list[Tensor], device: torch.device, process_group: TorchGroup = ALONE) -> Tensor:
    """The root of the sum of all squares, in float32; of divided gradients over all ranks."""
    divided = [part(gradient) for gradient in gradients if is_divided(gradient)]
    others = [part(gradient) for gradient in gradients if not is_divided(gradient)]
    total = sum_of_squares(others, device)
    if process_group.holds_parts:
        total = total + process_group.summed(sum_of_squares(divided, device))
    return total.sqrt()


@torch.no_grad()
def all_finite(parameters: Iterable[nn.Parameter]) -> bool:
    return all(bool(torch.isfinite(part(parameter)).all()) for parameter in parameters)
