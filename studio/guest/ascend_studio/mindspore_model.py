"""Model.train and Model.fit, through a callback behind those of the script."""

from __future__ import annotations

import functools

from ascend_studio import hooks
from ascend_studio import mindspore_reading as reading
from ascend_studio.mindspore_steps import CURVES, OptimizerUpdate

if False:  # typing costs more at the start than all the rest
    from typing import Any, List

    from ascend_studio.mindspore_hooks import Hooks


class Training:
    def __init__(self, wraps: Hooks) -> None:
        self.wraps = wraps
        self.calls, self.steps = wraps.calls, wraps.steps

    def wrap_model(self) -> None:
        model = self.wraps.module("train.model").Model
        for name, position in (("train", 2), ("fit", 4)):
            setattr(model, name, self._with_callback(getattr(model, name), position))

    def _with_callback(self, train: Any, position: int) -> Any:
        """Return the function with our callback added. `position` is that of `callbacks` among the positional
        arguments.
        """
        calls, callback = self.calls, self._callback()

        @functools.wraps(train)
        def with_callback(model: Any, *args: Any, **kwargs: Any) -> Any:
            if calls.depth or hooks.is_off(CURVES):
                return train(model, *args, **kwargs)
            if len(args) > position:
                args = (*args[:position], _added(args[position], callback()), *args[position + 1 :])
            else:
                kwargs["callbacks"] = _added(kwargs.get("callbacks"), callback())
            calls.depth, calls.updates = 1, ()
            try:
                return train(model, *args, **kwargs)
            finally:
                calls.depth = 0

        return with_callback

    def _callback(self) -> Any:
        begun, ended = hooks.guarded(CURVES)(_steps_done), hooks.guarded(CURVES)(self._model_stepped)

        class AscendStudio(self.wraps.module("train.callback._callback").Callback):  # type: ignore[misc]
            done = 0

            def on_train_begin(self, run_context: Any) -> None:
                self.done = begun(run_context.original_args()) or 0

            def on_train_step_end(self, run_context: Any) -> None:
                now = run_context.original_args()
                before, self.done = self.done, begun(now) or 0
                ended(now, self.done - before)

        return AscendStudio

    def _model_stepped(self, now: Any, passed: int) -> None:
        """Record the steps since the last call: in sink mode on a device this is the end of an epoch, and many have
        passed.
        """
        updates, self.calls.updates = self.calls.updates, ()
        loss = reading.any_loss_in(now.net_outputs)
        if loss is not None:
            self.steps.lost("model", loss, _batch(now))
        optimizer = now.get("optimizer") or getattr(now.get("train_network"), "optimizer", None)
        if updates:
            self.steps.record_updates(list(updates), "model")
        elif optimizer is not None:
            watched = self.steps.watch(optimizer)
            watched.advance()
            if passed > 1:
                watched.skip(passed - 1)
            norm = self.steps.norm_in_graph(optimizer)
            self.steps.record_updates([OptimizerUpdate(watched, norm, self.steps.rate_of(watched))], "model")


def _steps_done(now: Any) -> int:
    return int(now.get("cur_step_num") or 0)


def _added(callbacks: Any, ours: Any) -> List[Any]:
    if callbacks is None:
        return [ours]
    try:
        return [*callbacks, ours]
    except TypeError:
        return [callbacks, ours]


def _batch(now: Any) -> int:
    try:
        return int(now.train_dataset.get_batch_size() or 0)
    except Exception:
        return 0
