"""From a training to a checkpoint and back.

A training is a function of its options, its data and the step it is at: the order
of the samples and the masks of a dropout follow from seed and step, so that no
random state has to be kept. A checkpoint is taken between two steps, where the
sums of an accumulation are empty.
"""

from __future__ import annotations

import hashlib
import platform
from typing import TYPE_CHECKING, Any

import ascend_studio
import mindspore as ms
import numpy as np
from mindspore import Tensor

from ascend_engine.checkpoints import checkpoint
from ascend_engine.checkpoints.checkpoint import Damaged, Saved
from ascend_engine.checkpoints.keeper import FOLDER
from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mindspore import Parameter

    from ascend_engine.options import Config
    from ascend_engine.recipe import Dataset
    from ascend_engine.train import Training

NETWORK = "network."
# Follows from the options at each start: what is asked for now counts, not what was.
NO_STATE = "optimizer.learning_rate"
# Options that decide nothing of what is computed in a step.
FREE = (
    "assets", "corpus", "device", "checkpoint_every", "checkpoint_minutes", "keep", "best", "resume",
    "recipe_file", "images", "weights",
    "synchronous", "debug_port",
    "data_workers", "prefetch", "ckpt",
)  # fmt: skip
SAMPLED = 64  # samples that stand for the data


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


def decides(training: Training) -> dict[str, Any]:
    """Everything beside the state that the following steps are a function of, in JSON's own types."""
    config = training.config
    # More steps change nothing in the earlier ones, unless the learning rate is spread over them.
    free = FREE if config.schedule == "cosine" else (*FREE, "steps")
    options = {name: _plain(value) for name, value in vars(config).items() if name not in free}
    return {
        **options,
        "device": training.record.device,
        "mindspore": ms.__version__,
        "data": fingerprint(training.plan.train_data),
        "code": training.plan.code,
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def fingerprint(data: Dataset) -> str:
    """Return the sha256 of the size and of some samples from the whole length."""
    size = len(data)
    digest = hashlib.sha256(str(size).encode())
    for array in data[np.linspace(0, size - 1, min(size, SAMPLED)).astype(int)]:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def resume(training: Training, run: Path) -> int:
    """Give a training the newest state that a run has left; returns the steps that are done.

    Raises Failure: no checkpoint that can be read, of another recipe, of a network of another shape, or nothing
    left to do.
    """
    saved = newest(run)
    _check(training.config, saved)
    differing = _differing(saved.facts["decides"], training.decides)
    differing += _restore(_state(training), saved)
    training.record.overflows = saved.facts["overflows"]
    _report_resume(run, saved.step, differing)
    return saved.step


def newest(run: Path) -> Saved:
    """The last checkpoint of a run that is as it was written; says which ones are not."""
    for path in checkpoint.candidates(run / FOLDER):
        try:
            return checkpoint.read(path)
        except Damaged as error:
            ascend_studio.finding("launch.checkpoint_damaged", "warning", name=path.name, reason=str(error))
            print(f"{path.name} is damaged: {error}")
    raise Failure("launch.no_checkpoint", run=str(run))


def _check(config: Config, saved: Saved) -> None:
    recipe = saved.facts["decides"]["recipe"]
    if recipe != config.recipe:
        raise Failure("launch.other_recipe", recipe=config.recipe, other=recipe)
    if saved.step >= config.steps:
        raise Failure("launch.nothing_left", step=saved.step, steps=config.steps)


def _differing(then: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    missing = object()
    return sorted(name for name in {*then, *now} if then.get(name, missing) != now.get(name, missing))


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


def _report_resume(run: Path, step: int, differing: list[str]) -> None:
    if differing:
        names = ", ".join(differing)
        ascend_studio.note("launch.resumed_inexactly", run=run.name, step=step, exact=False, differing=names)
        print(f"goes on after step {step} of {run.name}, not exactly: other {names}")
    else:
        ascend_studio.note("launch.resumed", run=run.name, step=step, exact=True)
        print(f"goes on after step {step} of {run.name}, exactly")
