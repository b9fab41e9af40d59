"""Loss scaling: the loss as it was before, the scale, the steps that were skipped."""

from __future__ import annotations

import functools

from ascend_studio import hooks
from ascend_studio import mindspore_reading as reading
from ascend_studio.mindspore_steps import CURVES

if False:  # typing costs more at the start than all the rest
    from typing import Any, Dict, Tuple

    from ascend_studio.mindspore_hooks import Hooks


class Scaling:
    def __init__(self, wraps: Hooks) -> None:
        self.wraps = wraps
        self.calls, self.steps = wraps.calls, wraps.steps

    def functions(self) -> Dict[Tuple[str, str], Any]:
        """Return wrappers of MindSpore's own compiled functions behind amp.LossScaler and amp.all_finite, where
        PyNative calls them.
        """
        wrapped = {
            "_grad_scale_map": self._scaled,
            "_grad_unscale_map": self._unscaled,
            "_all_finite": self._checked,
        }
        return {("mindspore.amp", name): hooks.guarded(CURVES)(see) for name, see in wrapped.items()}

    def wrap_scalers(self) -> None:
        self._watch_instances(self.wraps.module("amp").StaticLossScaler, "scale_value")
        self._watch_instances(self.wraps.module("amp").DynamicLossScaler, "scale_value")
        cell = self.wraps.module("nn.wrap.loss_scale").TrainOneStepWithLossScaleCell
        self.wraps.scaling_cells = (cell,)
        self._watch_instances(cell, "scale_sense")

    def _watch_instances(self, kind: Any, name: str) -> None:
        make, watch = kind.__init__, hooks.guarded(CURVES)(self.steps.watch_scaler)

        @functools.wraps(make)
        def __init__(scaler: Any, *args: Any, **kwargs: Any) -> None:
            make(scaler, *args, **kwargs)
            watch(scaler, name)

        kind.__init__ = __init__

    def _scaled(self, arguments: Any, result: Any) -> None:
        """Record that the script scales its loss, in PyNative."""
        scale, value = arguments[:2]
        if self.calls.gradient and reading.loss_in(value) is not None:
            self.calls.scaled, self.steps.scale = value, reading.number(scale)

    def _unscaled(self, arguments: Any, result: Any) -> None:
        """Record that the script unscales its gradients, or the loss that came with compiled ones."""
        if reading.loss_in(result) is not None and not isinstance(result, tuple):
            self.steps.lost("unscaled", result, 0)
        self.steps.scale = reading.number(arguments[0])

    def _checked(self, arguments: Any, result: Any) -> None:
        """Record whether the script's gradients are finite; in PyNative it waits for the answer itself."""
        if not bool(result):
            self.steps.overflowed()
