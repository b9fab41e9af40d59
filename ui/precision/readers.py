"""What the runs of the page's smaller actions left; each reader is called off the UI thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.config import checked
from backends.precision.determinism.result import read_result
from backends.precision.losses import result as losses
from backends.precision.losses.compare import aligned
from backends.precision.losses.spec import LossesSpec
from backends.precision.losses.work import Watched
from backends.precision.weights import result as weights
from studio import schema
from studio.errors import StudioError
from studio.events import Finding, Note
from studio.run import last_events
from studio.series import Series

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.precision.losses.compare import Curve
    from studio.run import Run


@dataclass(frozen=True, kw_only=True)
class Losses:
    """`found`: losses.json. `said`: the run's own sentence, None while it goes on. `relative`: |target - golden| /
    |golden| of the steps that both have."""

    found: dict[str, Any]
    said: Finding | Note | None = None
    target: Series = field(default_factory=Series)
    golden: Series = field(default_factory=Series)
    relative: Series = field(default_factory=Series)


def read_losses(run: Run) -> Losses | StudioError:
    spec = schema.from_json(LossesSpec, run.asked.values)[0]
    found = losses.read(run.folder)
    told = [one for one in last_events(run.folder) if isinstance(one, (Finding, Note))]
    said = told[-1] if told else None
    try:
        target = Watched(spec.runs.target_run).curve(spec.judging.metric)
        golden = Watched(spec.runs.golden_run).curve(spec.judging.metric)
    except StudioError:  # a run is gone: its figures stay
        return Losses(found=found, said=said)
    if target is None or golden is None:
        return Losses(found=found, said=said)
    return Losses(found=found, said=said, target=_series(target), golden=_series(golden), relative=_gap(target, golden))


def _series(curve: Curve) -> Series:
    made = Series()
    made.extend(curve.steps, curve.values)
    return made


def _gap(target: Curve, golden: Curve) -> Series:
    steps, ours, theirs = aligned(target, golden)
    made = Series()
    with np.errstate(all="ignore"):
        made.extend(steps, np.abs(ours - theirs) / np.abs(theirs))
    return made


def read_checked(run: Run) -> checked.Checked | StudioError:
    try:
        return checked.read(run)
    except StudioError as error:
        return error


def read_weights(run: Run) -> weights.Weights | None:
    return weights.read(run.folder)


READERS: dict[str, Callable[[Run], Any]] = {
    "config-check": read_checked, "determinism": read_result, "compare-losses": read_losses,
    "compare-weights": read_weights,
}  # fmt: skip
FOLLOWED = ("compare-losses",)
"""Those whose answer is written anew while they go on."""
