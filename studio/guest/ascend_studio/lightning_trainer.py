"""Curves of a `lightning.pytorch.Trainer`, and of one of `pytorch_lightning`.

What a module logs is read from `trainer.logged_metrics`, only when Lightning has put it there: whoever asks earlier
makes it compute values of an epoch, which may wait for the other ranks. That dict holds the last of everything, so it
is told apart here by who logged it: a step (as often as Lightning gives it to a logger), an epoch, or an evaluation.
"""

from __future__ import annotations

from ascend_studio import hooks
from ascend_studio.trainer_callbacks import DRAWN, progress, standing, write
from ascend_studio.writer import process_rank

if False:  # typing costs more at the start than all the rest
    from typing import Any, Callable, Dict, Set

guarded: Callable[[Callable[..., Any]], Callable[..., Any]] = hooks.guarded("trainers")


class Events:
    def __init__(self) -> None:
        super().__init__()
        self.of_steps: Set[str] = set()
        self.of_epochs: Set[str] = set()
        self.of_evaluations: Dict[str, Any] = {}  # and the tensors of the last one
        self.before: Dict[str, Any] = {}
        self.total = 0
        self.stepped = 0

    @guarded
    def setup(self, trainer: Any, module: Any, *others: Any, **more: Any) -> None:
        """Note the rank, in each process: Lightning puts it where we would look for it only in some."""
        process_rank.of_trainer = int(trainer.global_rank)

    @guarded
    def on_train_start(self, trainer: Any, module: Any) -> None:
        self.stepped = _steps(trainer)
        self.total = _total(trainer)
        standing.begin(self.stepped)
        _progress(self, trainer, "train")

    @guarded
    def on_train_batch_end(self, trainer: Any, module: Any, *others: Any, **more: Any) -> None:
        step = _steps(trainer)
        if step == self.stepped or not trainer.is_global_zero:
            return
        self.stepped = step
        _progress(self, trainer, "train")
        every = trainer.log_every_n_steps
        is_due = every and step % every == 0
        if is_due or not self.of_steps:
            values = {name: value for name, value in trainer.logged_metrics.items() if self._is_of_step(name, value)}
            self.of_steps.update(values)
            if is_due:
                write(step, dict(values, epoch=trainer.current_epoch))

    def _is_of_step(self, name: str, value: Any) -> bool:
        """Return whether a value belongs to a step: a name that a step and an evaluation share does where its tensor is
        a new one.
        """
        if name in self.of_evaluations:
            return name in self.of_steps and value is not self.of_evaluations[name]
        return name not in self.of_epochs

    @guarded
    def on_train_epoch_start(self, trainer: Any, module: Any) -> None:
        self._epoch_ended(trainer)

    @guarded
    def on_train_end(self, trainer: Any, module: Any) -> None:
        self._epoch_ended(trainer)
        _progress(self, trainer, "finish")

    def _epoch_ended(self, trainer: Any) -> None:
        """Record the previous epoch. At its own end its values are not there yet."""
        if trainer.is_global_zero:
            others = self.of_steps.union(self.of_evaluations)
            values = {name: value for name, value in trainer.logged_metrics.items() if name not in others}
            self.of_epochs.update(values)
            write(_steps(trainer), values)

    @guarded
    def on_validation_start(self, trainer: Any, module: Any) -> None:
        if trainer.is_global_zero and not trainer.sanity_checking:
            self.before = dict(trainer.logged_metrics)
            _progress(self, trainer, "evaluate")

    @guarded
    def on_validation_end(self, trainer: Any, module: Any) -> None:
        if trainer.is_global_zero and not trainer.sanity_checking:
            before, self.before = self.before, {}
            values = {name: value for name, value in trainer.logged_metrics.items() if before.get(name) is not value}
            self.of_evaluations.update(values)
            whole = trainer.callback_metrics  # without what stands for single batches
            named = {self._evaluated(name): value for name, value in values.items() if name in whole}
            write(_steps(trainer), dict(named, epoch=trainer.current_epoch))

    on_test_start = on_validation_start
    on_test_end = on_validation_end

    def _evaluated(self, name: str) -> str:
        return "eval_" + name if name in DRAWN or name in self.of_steps else name


def _steps(trainer: Any) -> int:
    """Return the step: Lightning adds up the steps of all optimizers."""
    return int(trainer.global_step) // max(1, len(trainer.optimizers))


def _total(trainer: Any) -> int:
    try:
        return max(0, int(trainer.estimated_stepping_batches))
    except Exception:  # endless, or not to be known: each version says it in its own way
        return 0


def _progress(events: Events, trainer: Any, phase: str) -> None:
    if trainer.is_global_zero:
        progress.report(_steps(trainer), events.total, phase)
