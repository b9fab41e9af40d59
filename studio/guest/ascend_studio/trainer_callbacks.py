"""What only the trainer of a library knows: its evaluations, what it is told to log, at which step it stands.

The trainers of Hugging Face and Lightning call callbacks; one of ours is added as the last when a trainer is made.
It changes nothing, keeps nothing of the training, and leaves no trace in what a trainer saves.

The curves of each step come from torch_steps. A trainer logs the loss of many steps as one number, now and then, so
the names that stand there already are not written again, but where nobody counts its steps (PyTorch before 2.0).
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
    """`module` defines the Trainer of a library."""
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
    """Of the library whose trainer is in this module."""
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
    """A copy of a trainer has a callback of its own. One that was written to a file can be read where we are not: it
    has the library's own callback instead, which does nothing. Only to a child that is being spawned we go along."""

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
    """Where the trainings of this process stand: at the global step of the trainer. A further training goes on where
    the one before ended, so that its curves do not cross those. What is logged stands beside the loss of its step."""

    def __init__(self) -> None:
        self.steps: Optional[Steps] = None
        self.begun = self.before = 0  # at which step, and how many are of earlier trainings
        self.last = 0

    def begin(self, done: int) -> None:
        """A training begins, after `done` steps of which a checkpoint tells."""
        self.before = max(0, max(self._counted(), self.last) - done)
        self.begun = self.last = done + self.before
        if self.steps is not None:
            _go_on(self.steps, self.begun)

    def is_counted(self) -> bool:
        """torch_steps sees the optimizer of this trainer."""
        return self._counted() > self.begun and not hooks.is_off("curves")

    def at(self, step: int) -> int:
        self.last = self._counted() if self.is_counted() else step + self.before
        return self.last

    def _counted(self) -> int:
        if self.steps is None:
            return 0
        counts = [one.count for one in (self.steps.without_optimizer, *self.steps.series[:1])]
        return max(counts, default=0)


def _go_on(steps: Steps, done: int) -> None:
    """The next optimizer is the first one again, though that of an earlier training may still be alive."""
    if not steps.series:
        steps.series.append(Series(0))
    for one in steps.series:
        one.owner = type(None)  # it gives None, as a reference to what is gone
    for one in (steps.without_optimizer, steps.series[0]):
        one.count, one.totals = done, ()


standing = Standing()


def write(step: int, values: Dict[str, Any]) -> None:
    """`step` of the trainer."""
    at, is_counted = standing.at(step), standing.is_counted()
    drawn = DRAWN if is_counted else set()
    if _has_shards():  # then nobody but the trainer has the norm of all gradients
        drawn = drawn - {"grad_norm"}
    known = {name: _number(value) for name, value in values.items() if name not in drawn and name != "step"}
    if standing.steps is not None:
        standing.steps.metrics.write(at, lambda: {name: one for name, one in known.items() if one is not None})
    else:
        ascend_studio.metric(at, **{name: value for name, value in known.items() if type(value) is float})


def _has_shards() -> bool:
    return standing.steps is not None and standing.steps.roots.shards


def _number(value: Any) -> Any:
    if isinstance(value, numbers.Real):
        return float(value)
    torch: Any = sys.modules.get("torch")
    return torch_numbers.number_of(torch, value) if torch is not None and isinstance(value, torch.Tensor) else None


class Progress:
    """Written a few times a second; `total` 0 where the end is not known."""

    def __init__(self) -> None:
        self.phase = ""
        self.told = 0.0

    def tell(self, step: int, total: int, phase: str) -> None:
        now = time.monotonic()
        is_last = step == total and phase == "train"
        if phase != self.phase or is_last or now - self.told > PROGRESS_EVERY:
            self.phase, self.told = phase, now
            ascend_studio.progress(standing.at(step), total and total + standing.before, phase)


progress = Progress()
