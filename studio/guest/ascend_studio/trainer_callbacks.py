"""What only the trainer of a library knows: its evaluations, what it logs, at which step it is.

The trainers of Hugging Face and Lightning call callbacks; one of ours is added as the last when a trainer is made. It
changes nothing, keeps nothing of the training, and leaves no trace in what a trainer saves.

The curves of each step come from torch_steps. A trainer logs the loss of many steps as one number, now and then, so
names that have a curve already are not written again, except where nobody counts its steps (PyTorch before 2.0).
"""

from __future__ import annotations

import functools
import multiprocessing.context
import numbers
import sys
import time

import ascend_studio
from ascend_studio import hooks, torch_numbers
from ascend_studio.torch_series import Series

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Dict, Optional, Tuple

    from ascend_studio.torch_steps import Steps

DRAWN = {
    "loss", "lr", "grad_norm", "loss_scale", "skipped", "step_time", "throughput", "tokens_per_second", "time_data",
    "time_forward", "time_backward", "time_optimizer",
}  # fmt: skip
PROGRESS_EVERY = 0.25  # seconds


def install(module: ModuleType) -> None:
    """Wrap the Trainer that `module` of a library defines."""
    trainer_type: Any = getattr(module, "Trainer")  # noqa: B009
    original = trainer_type.__init__
    add = hooks.guarded("trainers")(_add)

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        add(module.__name__, self)

    trainer_type.__init__ = __init__


def _add(library: str, trainer: Any) -> None:
    ours = callback(library)
    if hasattr(trainer, "add_callback"):
        trainer.add_callback(ours)
    else:
        trainer.callbacks.append(ours)


def callback(library: str) -> Any:
    """Return our callback for the library whose trainer is in this module."""
    return _type_of(library)()


@functools.lru_cache(maxsize=None)
def _type_of(library: str) -> Any:
    from ascend_studio import huggingface_trainer, lightning_trainer

    if library.startswith("transformers"):
        events: Any = huggingface_trainer.Events
        base: Any = sys.modules["transformers.trainer_callback"].TrainerCallback
    else:
        events = lightning_trainer.Events
        base = sys.modules[library[: -len(".trainer.trainer")] + ".callbacks"].Callback
    return type("StudioCallback", (events, Copied, base), {"__module__": __name__, "library": library, "base": base})


class Copied:
    """A callback that is copied with its trainer. One that was written to a file can be read without the studio: it is
    the library's own callback then, which does nothing. Only a child that is being spawned gets ours.
    """

    library: str
    base: Any

    def __copy__(self) -> Any:
        return callback(self.library)

    def __deepcopy__(self, memo: Dict[int, Any]) -> Any:
        return callback(self.library)

    def __reduce__(self) -> Tuple[Any, ...]:
        if multiprocessing.context.get_spawning_popen() is not None:
            return callback, (self.library,)
        return self.base, ()


class Standing:
    """Where the trainings of this process are: at the global step of the trainer. A further training continues where
    the previous one ended, so that its curves do not cross those. What is logged stands beside the loss of its step.
    """

    def __init__(self) -> None:
        self.steps: Optional[Steps] = None
        self.begun = self.before = 0  # at which step, and how many are of earlier trainings
        self.last = 0

    def begin(self, done: int) -> None:
        """Begin a training after `done` steps, which a checkpoint tells."""
        self.before = max(0, max(self._counted(), self.last) - done)
        self.begun = self.last = done + self.before
        if self.steps is not None:
            _go_on(self.steps, self.begun)

    def is_counted(self) -> bool:
        """Return whether torch_steps sees the optimizer of this trainer."""
        return self._counted() > self.begun and not hooks.is_off("curves")

    def at(self, step: int) -> int:
        self.last = self._counted() if self.is_counted() else step + self.before
        return self.last

    def _counted(self) -> int:
        if self.steps is None:
            return 0
        counts = [series.count for series in (self.steps.without_optimizer, *self.steps.series[:1])]
        return max(counts, default=0)


def _go_on(steps: Steps, done: int) -> None:
    """The next optimizer is the first one again, though that of an earlier training may still be alive."""
    if not steps.series:
        steps.series.append(Series(0))
    for series in steps.series:
        series.owner = type(None)  # it gives None, as a reference to what is gone
    for series in (steps.without_optimizer, steps.series[0]):
        series.count, series.totals = done, ()


standing = Standing()


def write(step: int, values: Dict[str, Any]) -> None:
    """`step` of the trainer."""
    at, is_counted = standing.at(step), standing.is_counted()
    drawn = DRAWN if is_counted else set()
    if _has_shards():  # then nobody but the trainer has the norm of all gradients
        drawn = drawn - {"grad_norm"}
    numbers = {name: _number(value) for name, value in values.items() if name not in drawn and name != "step"}
    if standing.steps is not None:
        standing.steps.metrics.write(
            at, lambda: {name: number for name, number in numbers.items() if number is not None}
        )
    else:
        ascend_studio.metric(at, **{name: value for name, value in numbers.items() if type(value) is float})


def _has_shards() -> bool:
    return standing.steps is not None and standing.steps.roots.shards


def _number(value: Any) -> Any:
    if isinstance(value, numbers.Real):
        return float(value)
    torch: Any = sys.modules.get("torch")
    return torch_numbers.number_of(torch, value) if torch is not None and isinstance(value, torch.Tensor) else None


class Progress:
    """Progress, written a few times a second; `total` is 0 where the end is unknown."""

    def __init__(self) -> None:
        self.phase = ""
        self.reported_at = 0.0

    def report(self, step: int, total: int, phase: str) -> None:
        now = time.monotonic()
        is_last = step == total and phase == "train"
        if phase != self.phase or is_last or now - self.reported_at > PROGRESS_EVERY:
            self.phase, self.reported_at = phase, now
            ascend_studio.progress(standing.at(step), total and total + standing.before, phase)


progress = Progress()
