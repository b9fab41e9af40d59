"""Curves of a `transformers.Trainer`, and of those that are derived from it."""

from __future__ import annotations

from ascend_studio import hooks
from ascend_studio.trainer_callbacks import progress, standing, write

if False:  # typing costs more at the start than all the rest
    from typing import Any, Callable, Dict, Optional

NAMES = {"learning_rate": "lr"}
SUMMARY = "train_runtime"  # stands only in what is logged when all is done
# Behind eval_, test_ and train_: how long it took. The times of the steps are measured by torch_steps.
STOPWATCH = ("_runtime", "_samples_per_second", "_steps_per_second", "_tokens_per_second", "_preparation_time")

guarded: Callable[[Callable[..., Any]], Callable[..., Any]] = hooks.guarded("trainers")


class Events:
    @guarded
    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        standing.begin(state.global_step)
        _progress(state, "train")

    @guarded
    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        _progress(state, "train")

    @guarded
    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Whatever its last step: a training may have been told to end early."""
        _progress(state, "finish")

    @guarded
    def on_prediction_step(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        _progress(state, "evaluate")

    @guarded
    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Dict[str, Any]] = None, **others: Any) -> None:
        if logs and SUMMARY not in logs:
            _write(state, logs)

    @guarded
    def on_predict(self, args: Any, state: Any, control: Any, metrics: Any = None, **others: Any) -> None:
        _write(state, metrics or {})


def _progress(state: Any, phase: str) -> None:
    if state.is_world_process_zero:
        progress.report(state.global_step, state.max_steps, phase)


def _write(state: Any, values: Dict[str, Any]) -> None:
    if state.is_world_process_zero:
        values = {NAMES.get(name, name): value for name, value in values.items() if not name.endswith(STOPWATCH)}
        write(state.global_step, values)
