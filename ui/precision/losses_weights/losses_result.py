"""The comparison of two runs by their losses, read from its run folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.losses import result as losses
from backends.precision.losses.compare import align_curves
from backends.precision.losses.spec import LossesSpec
from backends.precision.losses.work import Watched
from studio import schema
from studio.errors import StudioError
from studio.events import Finding, Note
from studio.run import last_events
from studio.series import Series

if TYPE_CHECKING:
    from backends.precision.losses.compare import Curve
    from studio.run import Run


@dataclass(frozen=True, kw_only=True)
class LossesResult:
    """`report` is losses.json, `sentences` the run's own conclusion and then its remarks, () while it is running.

    `relative` is |target - golden| / |golden| at the steps that both have."""

    report: dict[str, Any]
    sentences: tuple[Finding | Note, ...] = ()
    target: Series = field(default_factory=Series)
    golden: Series = field(default_factory=Series)
    relative: Series = field(default_factory=Series)


def read_losses(run: Run) -> LossesResult | StudioError:
    spec = schema.from_json(LossesSpec, run.request.values)[0]
    report = losses.read_losses(run.folder)
    events = [event for event in last_events(run.folder) if isinstance(event, (Finding, Note))]
    sentences = (*events[-1:], *events[:-1])
    try:
        target = Watched(spec.runs.target_run).curve(spec.judging.metric)
        golden = Watched(spec.runs.golden_run).curve(spec.judging.metric)
    except StudioError:  # A run has been deleted; the figures that were compared stay.
        return LossesResult(report=report, sentences=sentences)
    if target is None or golden is None:
        return LossesResult(report=report, sentences=sentences)
    return LossesResult(
        report=report,
        sentences=sentences,
        target=_series(target),
        golden=_series(golden),
        relative=_relative_difference(target, golden),
    )


def _series(curve: Curve) -> Series:
    series = Series()
    series.extend(curve.steps, curve.values)
    return series


def _relative_difference(target: Curve, golden: Curve) -> Series:
    steps, target_values, golden_values = align_curves(target, golden)
    series = Series()
    with np.errstate(all="ignore"):
        series.extend(steps, np.abs(target_values - golden_values) / np.abs(golden_values))
    return series
