"""Numbers read from MindSpore's objects: losses, learning rates, counters, gradient norms. It runs no operator but a
schedule's own, and writes nothing.
"""

from __future__ import annotations

if False:  # typing costs more at the start than all the rest
    from typing import Any, Iterator, Optional, Sequence

COUNTERS = ("global_step", "state_step", "step_t")


def is_tensor(value: Any) -> bool:
    return hasattr(value, "asnumpy")


def is_float(tensor: Any) -> bool:
    return "loat" in str(tensor.dtype)


def loss_in(result: Any) -> Any:
    """Return the first value of a result where it is one floating-point number: the loss of `loss`, `(loss, …)` and
    `((loss, …), grads)`. A lone number inside a tuple must have no dimension: the gradient of a bias has one.
    """
    depth = 0
    while isinstance(result, (tuple, list)) and result and depth < 3:
        result, depth = result[0], depth + 1
    if isinstance(result, dict):
        result = result.get("loss")
    if not is_tensor(result) or (result.ndim if depth else result.size != 1):
        return None
    return result if is_float(result) else None


def any_loss_in(result: Any) -> Any:
    """Return the first number without dimensions of what a step returned, wherever it stands."""
    leading = loss_in(result)
    return leading if leading is not None else next(_lone_numbers(result, 2), None)


def _lone_numbers(result: Any, depth: int) -> Iterator[Any]:
    if isinstance(result, (tuple, list)) and depth:
        for item in result[:16]:
            yield from _lone_numbers(item, depth - 1)
    elif is_tensor(result) and result.ndim == 0 and is_float(result):
        yield result


def rows_in(arguments: Sequence[Any]) -> int:
    """Return the length that the first two tensors share; 0 where there are no two, or they differ."""
    shapes = [value.shape for value in arguments if is_tensor(value) and value.ndim][:2]
    return int(shapes[0][0]) if len(shapes) == 2 and shapes[0][0] == shapes[1][0] else 0


def counter(optimizer: Any) -> Optional[int]:
    """Return how many steps an optimizer has counted. Waits for the device."""
    step_counter = next(
        (getattr(optimizer, name) for name in COUNTERS if is_tensor(getattr(optimizer, name, None))), None
    )
    return None if step_counter is None else int(step_counter.item())


def rate_of(optimizer: Any) -> Any:
    """Return the learning rate: a float, a parameter, or the cell that computes it; of several groups that of the
    first.
    """
    groups = getattr(optimizer, "param_groups", None)
    if groups:
        return groups[0].get("lr")
    rate: Any = getattr(optimizer, "learning_rate", None)
    return rate[0] if getattr(optimizer, "is_group_lr", False) else rate


def is_schedule(rate: Any) -> bool:
    return callable(getattr(rate, "construct", None))


def listed_rates(rate: Any) -> Any:
    """Return the rates of an optimizer that was given a list."""
    values: Any = getattr(rate, "learning_rate", None)
    return values.asnumpy().reshape(-1) if type(rate).__name__ == "_IteratorLearningRate" else None


def number(value: Any) -> float:
    return float(value.item()) if is_tensor(value) else float(value)


def norm(gradients: Any) -> Optional[float]:
    """Return the norm of all gradients together, in the host's memory; one after another, so that at most one of them
    is copied at a time.
    """
    total, has_gradient = 0.0, False
    for gradient in _dense(gradients):
        flat = gradient.asnumpy().reshape(-1)
        if flat.dtype.itemsize < 4:
            flat = flat.astype("float32")
        total, has_gradient = total + float(flat.dot(flat)), True
    return total**0.5 if has_gradient else None


def _dense(gradients: Any) -> Iterator[Any]:
    if isinstance(gradients, (tuple, list)):
        for gradient in gradients:
            yield from _dense(gradient)
    elif is_tensor(gradients) and is_float(gradients):
        yield gradients


class Allowance:
    """The time that samples may take: a small share of the time that passes, saved up. The first two are free, since
    the first does not tell the cost of the others.
    """

    SHARE = 0.002
    MIN_SECONDS = 40e-6  # seconds of each step

    def __init__(self) -> None:
        self.saved = 0.0
        self.cost = 0.0
        self.samples = 0

    def earn(self, seconds: float) -> None:
        self.saved += max(self.SHARE * seconds, self.MIN_SECONDS)

    def is_enough(self) -> bool:
        return self.samples < 2 or self.saved >= self.cost

    def spend(self, seconds: float) -> None:
        self.cost = seconds if self.samples < 2 else (self.cost + seconds) / 2
        self.samples += 1
        self.saved = 0.0
