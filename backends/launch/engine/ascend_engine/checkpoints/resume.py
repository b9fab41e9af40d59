"""From a training to a checkpoint and back.

A training is a function of its options, its data and the step it is at: the order
of the samples and the masks of a dropout follow from seed and step, so that no
random state has to be kept. A checkpoint is taken between two steps, where the
sums of an accumulation are empty.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import mindspore as ms
import numpy as np
from mindspore import Tensor

from ascend_engine.checkpoints.checkpoint import Saved
from ascend_engine.checkpoints.resume_checks import (
    check_recipe,
    differing,
    find_place,
    newest,
    place_facts,
    report_resume,
)
from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mindspore import Parameter

    from ascend_engine.train import Training

NETWORK = "network."
# Follows from the options at each start: what is asked for now counts, not what was.
NO_STATE = "optimizer.learning_rate"


def take(training: Training, step: int) -> Saved:
    """A copy of all state after `step`; waits for the device."""
    training.record.deferred.flush()
    parameters = _state(training)
    arrays = {name: array_of(parameter) for name, parameter in parameters.items()}
    return Saved(
        step=step,
        weights={name[len(NETWORK) :]: array for name, array in arrays.items() if name.startswith(NETWORK)},
        rest={name: array for name, array in arrays.items() if not name.startswith(NETWORK)},
        facts={
            "decides": training.decides,
            "overflows": training.record.overflows,
            **place_facts(training.stream, step * training.config.accumulate),
            "versions": {"mindspore": ms.__version__, "numpy": np.__version__, "python": platform.python_version()},
        },
    )


def array_of(parameter: Parameter) -> np.ndarray:
    """A copy: asnumpy() shows the parameter's own memory. numpy has no bfloat16, float32 holds each of its values."""
    if parameter.dtype == ms.bfloat16:
        return parameter.astype(ms.float32).asnumpy().copy()
    return parameter.asnumpy().copy()


def _state(training: Training) -> dict[str, Parameter]:
    return {name: parameter for name, parameter in training.state().items() if not name.startswith(NO_STATE)}


def resume(training: Training, run: Path) -> int:
    """Give a training the newest state that a run has left; returns the steps that are done.

    Raises Failure: no checkpoint that can be read, of another recipe, of a network of another shape, or nothing
    left to do.
    """
    saved = newest(run)
    check_recipe(training.config, saved)
    names = differing(saved.facts["decides"], training.decides)
    names += _restore(_state(training), saved)
    training.record.overflows = saved.facts["overflows"]
    names += find_place(training.stream, saved, training.config)
    report_resume(run, saved.step, names)
    return saved.step


def _restore(parameters: Mapping[str, Parameter], saved: Saved) -> list[str]:
    """The weights must fit; of the rest what fits, so that another optimizer begins afresh. Returns ["state"] where
    something began afresh or was left over."""
    arrays = {**{NETWORK + name: array for name, array in saved.weights.items()}, **saved.rest}
    fitting = {
        name for name, array in arrays.items() if name in parameters and tuple(parameters[name].shape) == array.shape
    }
    wrong = sorted(name for name in {*arrays, *parameters} - fitting if name.startswith(NETWORK))
    if wrong:
        raise Failure("launch.other_network", count=len(wrong), first=wrong[0][len(NETWORK) :])
    for name in fitting:
        parameters[name].set_data(Tensor(arrays[name].copy(), parameters[name].dtype))
    return ["state"] if len(fitting) < len({*arrays, *parameters}) else []
