"""The steps of one optimizer, and how often the norm of its gradients is worth its time."""

from __future__ import annotations

import math
import time
import weakref

from ascend_studio import torch_numbers
from ascend_studio.recording import Unrecorded
from ascend_studio.torch_numbers import number_of

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Dict, List, Tuple

MAX_GROUPS = 8
# What a sampled gradient norm may cost a step on the average: seconds, and part of the step.
NORM_SECONDS = 10e-6
NORM_PART = 0.001
NORM_EVERY_ON_DEVICE = 10
MAX_NORM_INTERVAL = 1000
NEVER = 1 << 62


class Series:
    """The steps of one optimizer. `.1`, `.2`, … stand behind the names of the second and further optimizers."""

    def __init__(self, index: int) -> None:
        self.suffix = ".%d" % index if index else ""
        self.rate_name = "lr" + self.suffix
        self.is_first = index == 0
        self.count = 0
        self.ended = 0.0
        self.totals: Tuple[float, ...] = ()  # of Steps, when the last step ended
        self.visible_groups = {0}
        self.norm_due = 0
        self.owner: Any = bool

    def take(self, optimizer: Any) -> None:
        if not self.count:
            self.count = _steps_done(optimizer)
        self.owner = weakref.ref(optimizer)

    def rates(self, torch: ModuleType, rates: List[Any]) -> Dict[str, Any]:
        """Return the learning rates by name; those of the second and further groups from where they first differ from
        the first.
        """
        if len(rates) == 1:
            return {self.rate_name: number_of(torch, rates[0])}
        numbers = [number_of(torch, rate) for rate in rates[:MAX_GROUPS]]
        self.visible_groups.update(index for index, number in enumerate(numbers) if number != numbers[0])
        names = (self.rate_name + (".group%d" % index if index else "") for index in range(len(numbers)))
        return {
            name: number for index, (name, number) in enumerate(zip(names, numbers)) if index in self.visible_groups
        }

    def norm(self, torch: ModuleType, optimizer: Any) -> Any:
        """Return the norm of the gradients that the optimizer steps with; None where it is not due, or cannot be
        had."""
        if self.count < self.norm_due:
            return None
        begun = time.perf_counter()
        grads = [
            parameter.grad
            for group in optimizer.param_groups
            for parameter in group["params"]
            if parameter.grad is not None
        ]
        if grads and torch_numbers.is_captured(torch, grads[0]):
            return None
        try:
            total_norm = _norm_of(torch, grads)
        except (AttributeError, NotImplementedError, RuntimeError):  # of this PyTorch, or of the device
            total_norm = None
        if total_norm is None:
            self.norm_due = NEVER
            return None
        every = self._every(time.perf_counter() - begun, grads[0].device.type != "cpu")
        # The first call also loads kernels, and the first step is not known to be short or long.
        self.norm_due = self.count + (every if self.ended else 1)
        scale = getattr(optimizer, "grad_scale", None)  # by which a fused optimizer divides only now
        return total_norm if scale is None else torch_numbers.scaled(total_norm, number_of(torch, scale))

    def _every(self, seconds: float, on_device: bool) -> int:
        step = time.perf_counter() - self.ended
        every = math.ceil(seconds / max(NORM_SECONDS, NORM_PART * step))
        return max(NORM_EVERY_ON_DEVICE if on_device else 1, min(every, MAX_NORM_INTERVAL))


def _steps_done(optimizer: Any) -> int:
    """Return the steps of an optimizer that a checkpoint was loaded into, if it counts them (Adam and its kin)."""
    states = getattr(optimizer, "state", None)
    state: Any = next(iter(states.values()), {}) if isinstance(states, dict) else {}
    done = state.get("step", 0) if isinstance(state, dict) else 0
    if getattr(getattr(done, "device", None), "type", "cpu") != "cpu":
        return 0
    try:
        return max(0, int(done))
    except (TypeError, ValueError, RuntimeError):  # what another optimizer means by it
        return 0


def _norm_of(torch: ModuleType, grads: List[Any]) -> Any:
    """Return the norm; None for sparse gradients, and for those of which each rank has its part."""
    if not grads or any(type(grad) is not torch.Tensor or grad.layout is not torch.strided for grad in grads):
        return None
    first = grads[0]
    with Unrecorded(), torch.no_grad():
        if all(one.device == first.device and one.dtype == first.dtype for one in grads):
            norms = torch._foreach_norm(grads, 2.0)
        else:
            norms = [torch.linalg.vector_norm(one).to(first.device, torch.float32) for one in grads]
        return number_of(torch, torch.linalg.vector_norm(torch.stack(norms)))
