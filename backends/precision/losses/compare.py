"""Two curves of one metric, step by step: how far apart they are, and whether that is more than noise. Pure.

error(step)   |target - golden|             relative(step)  |target - golden| / scale
scale         |golden| of the step, at least SMALLEST of the size that a tenth of the golden losses exceed: what is
              less is the rounding of a loss that was large. Of a golden curve that changes its sign it is at least the
              mean |golden| of a tenth of the steps around it: close to 0 nothing is relative to a single loss
mean_abs      mean error                    mean_rel        mean relative, over the steps that both have
bias          mean (target - golden) / |golden|: of the size of mean_rel where one curve lies above the other all along
limit         what mean_rel may be: what was asked for; else NOISE_FACTOR times the mean_rel between two golden runs, at
              least MIN_LIMIT; without a second golden run DEFAULT_LIMIT
window        the mean relative error of the worst tenth of the steps in a row, at least WINDOW_STEPS of them: a run
              that leaves the golden curve for a while, or at its end, has a small mean over all steps
shift         the largest mean of the relative error with its sign over a tenth of the steps in a row: scatter of the
              losses cancels in it, a curve that lies above or below the other does not
shift_limit   what noise explains of that: with a second golden run NOISE_FACTOR times the shift between golden runs,
              and SHIFT_SIGMAS standard deviations of the mean of so many steps that scatter as these do, neighbours of
              one sign counted for less than two, at least WINDOW_FACTOR times MIN_LIMIT; else the window_limit, which
              is never smaller than a shift
window_limit  WINDOW_FACTOR times the limit, at least NOISE_FACTOR times the window between the golden runs
step_limit    what the relative error of one step may be: STEP_FACTOR times the limit, at least NOISE_FACTOR times the
              largest relative error between the golden runs
trend         how much the relative error with its sign grows from the first to the last step, by the straight line that
              fits it best; 0 with less than TREND_STEPS steps, and where the scatter about the line explains it
trend_limit   the limit, at least NOISE_FACTOR times the trend between the golden runs, and TREND_SIGMAS standard
              deviations of the line through steps that scatter as theirs do, neighbours counted as for shift_limit
spikes        single steps that are off again and again, and how many of them are allowed: see `spikes`
burst         a few steps in a row that are off, fewer than a tenth: see `bursts`
expected      the steps that a verdict has to cover: as many as were asked for, else all that either curve has

A second golden run is no measure of the noise, and the limits are the default ones, where it has none of the steps or
less than half of them, where it is NaN or infinite elsewhere than the golden run, where it is more than MAX_NOISE apart
from the golden run, as another training is, where its
bias is nearly all of a mean_rel that would set wider limits than the default, and where it has the target's own losses
to the last bit.

A target whose loss is one number at every step, while the golden one changes, is no pass ("constant").

The numbers are ours: 1 % of the mean is what teams commonly ask of a port, and no standard of a vendor; two runs that
differ by chance alone are as far apart as two golden runs, and twice that leaves room for the chance in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from backends.precision.losses.bursts import NO_BURST, Burst, worst_burst
from backends.precision.losses.spikes import NO_SPIKES, Spikes, allowed_spikes, find_spikes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

DEFAULT_LIMIT = 0.01
MIN_LIMIT = 0.001
NOISE_FACTOR = 2.0
MAX_NOISE = 0.25
STEP_FACTOR = 5.0
WINDOW_FACTOR = 2.0
WINDOW_STEPS = 5
BIAS_SHARE = 0.75
SHIFT_SIGMAS = 4.0
TREND_STEPS = 20
TREND_SIGMAS = 4.0
STUCK_KINDS = 5
SMALLEST = 8 * 2.0**-23
"""Eight units of the last place of float32."""

Verdict = Literal[
    "pass", "differs", "nonfinite", "both_nonfinite", "incomplete", "golden_failed", "target_failed", "too_few",
    "lone_nonfinite", "lone_ranks", "constant",
]  # fmt: skip
Measure = Literal["mean", "window", "shift", "step", "trend", "spikes", "burst"]
NoiseProblem = Literal["", "absent", "short", "nonfinite", "far", "biased", "target"]


@dataclass(frozen=True, kw_only=True)
class Curve:
    """int64 steps, ascending, each once; float64 values, NaN and infinity among them."""

    steps: NDArray[Any]
    values: NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Distance:
    """Between two curves; see the module. Of steps where both are finite; figures are NaN without any. `nonfinite`: the
    first step where only one of the two is NaN or infinite, None without; `both_nonfinite`: the first where both are.
    `window_steps`: first and last step of the worst window, None without steps. `zero_golden`: the first step where the
    golden loss is 0 and the other is not, so that nothing is relative to it. `shift_steps`: first and last step of the
    largest shift; `scatter`: root mean square of the relative error; `autocorrelation`: by how much more the mean of
    many steps scatters than it would if each step were off by chance of its own, at least 1."""

    steps: int
    mean_abs: float
    mean_rel: float
    max_abs: float
    max_rel: float
    max_rel_step: int | None
    bias: float
    nonfinite: int | None
    both_nonfinite: int | None
    window: float
    window_steps: tuple[int, int] | None
    zero_golden: int | None = None
    trend: float = 0.0
    shift: float = math.nan
    shift_steps: tuple[int, int] | None = None
    scatter: float = math.nan
    autocorrelation: float = 1.0


@dataclass(frozen=True, kw_only=True)
class LossJudgement:
    """`noise`: between the golden runs, where there are two; `noise_problem`: why it does not set the limits.
    `first_beyond`: the first step over `step_limit`. `exceeded`: the measures that are over their limits.
    `expected`: steps, see the module; `all_steps`: of
    either curve, also behind those that were asked for."""

    verdict: Verdict
    exceeded: tuple[Measure, ...]
    expected: int
    distance: Distance
    noise: Distance | None
    noise_problem: NoiseProblem
    limit: float
    window_limit: float
    step_limit: float
    first_beyond: int | None
    trend_limit: float = DEFAULT_LIMIT
    all_steps: int = 0
    shift_limit: float = WINDOW_FACTOR * DEFAULT_LIMIT
    spikes: Spikes = NO_SPIKES
    spike_limit: float = WINDOW_FACTOR * DEFAULT_LIMIT
    spikes_allowed: int = 0
    burst: Burst = NO_BURST


def curve_of(steps: NDArray[Any], values: NDArray[Any], first: int | None = None) -> Curve:
    """The mean of each step's points: a script may log one for each micro batch. `first`: so many steps of it."""
    unique, starts = np.unique(steps, return_index=True)
    with np.errstate(all="ignore"):
        sums = np.add.reduceat(values, starts) if len(values) else np.zeros(0)
    counts = np.diff(np.append(starts, len(values)))
    return Curve(steps=unique[:first], values=(sums / np.maximum(counts, 1))[:first])


def judge_losses(
    target: Curve, golden: Curve, golden_again: Curve | None = None, *, steps: int | None = None,
    allow: float | None = None,
) -> LossJudgement:  # fmt: skip
    """`steps`: of the common ones the first so many are looked at, and all of them have to be there."""
    measured = curve_distance(target, golden, steps)
    noise = curve_distance(golden_again, golden, steps) if golden_again is not None else None
    noise_problem = _noise_problem(noise, measured, target, golden_again)
    known = noise if not noise_problem else None
    limit = allow if allow is not None else _limit(known)
    window_limit = max(WINDOW_FACTOR * limit, NOISE_FACTOR * (known.window if known else 0.0))
    step_limit = max(STEP_FACTOR * limit, NOISE_FACTOR * (known.max_rel if known else 0.0))
    trend_limit = max(limit, _trend_limit(known) if known is not None else 0.0)
    shift_limit = window_limit if known is None or allow is not None else _shift_limit(known)
    all_steps = max(len(target.steps), len(golden.steps))
    expected = steps or all_steps
    spike_limit = WINDOW_FACTOR * limit
    spikes = _spikes(target, golden, steps, spike_limit)
    noise_spikes = _spikes(golden_again, golden, steps, spike_limit).count if known and golden_again else 0
    spikes_allowed = allowed_spikes(spikes, measured.steps, NOISE_FACTOR * noise_spikes)
    limits: dict[Measure, float] = {
        "mean": limit, "window": window_limit, "shift": shift_limit, "step": step_limit, "trend": trend_limit,
    }  # fmt: skip
    exceeded = _exceeded(measured, limits)
    if spikes.count > spikes_allowed:
        exceeded = (*exceeded, "spikes")
    burst = _burst(target, golden, golden_again if known else None, steps, step_limit, window_limit)
    if burst.is_over:
        exceeded = (*exceeded, "burst")
    verdict = _verdict(measured, exceeded, steps, expected)
    if verdict == "pass" and _is_stuck(target, golden, steps):
        verdict = "constant"
    return LossJudgement(
        verdict=verdict, exceeded=exceeded, expected=expected, distance=measured,
        noise=noise, noise_problem=noise_problem, limit=limit, window_limit=window_limit, step_limit=step_limit,
        first_beyond=_first_beyond(target, golden, steps, step_limit), trend_limit=trend_limit, all_steps=all_steps,
        shift_limit=shift_limit, spikes=spikes, spike_limit=spike_limit, spikes_allowed=spikes_allowed,
        burst=burst,
    )  # fmt: skip


def _burst(
    target: Curve, golden: Curve, golden_again: Curve | None, steps: int | None, step_limit: float, window_limit: float
) -> Burst:
    common, relative = _relative_errors(target, golden, steps)
    noise = _relative_errors(golden_again, golden, steps)[1] if golden_again is not None else None
    return worst_burst(
        common, relative, noise, window_width=_window_width(len(common)), step_limit=step_limit,
        window_limit=window_limit, noise_factor=NOISE_FACTOR,
    )  # fmt: skip


def _spikes(target: Curve, golden: Curve, steps: int | None, limit: float) -> Spikes:
    return find_spikes(*_relative_errors(target, golden, steps), limit)


def _relative_errors(target: Curve, golden: Curve, steps: int | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the steps that both have as finite losses, and the relative error of each."""
    common, ours, others = align_curves(target, golden, steps)
    both = np.isfinite(ours) & np.isfinite(others)
    return common[both], _errors(ours[both], others[both])[1]


def _noise_problem(
    noise: Distance | None, measured: Distance, target: Curve, golden_again: Curve | None
) -> NoiseProblem:
    if noise is None or golden_again is None:
        return ""
    if not noise.steps:
        return "absent"
    if noise.nonfinite is not None:
        return "nonfinite"
    if 2 * noise.steps < measured.steps:
        return "short"
    if noise.mean_rel > MAX_NOISE:
        return "far"
    if _is_biased(noise):
        return "biased"
    return "target" if measured.max_abs and not curve_distance(golden_again, target).max_abs else ""


def _is_biased(noise: Distance) -> bool:
    """Return whether one golden run lies above the other all along, by more than the default limits would allow."""
    is_wide = NOISE_FACTOR * noise.mean_rel > DEFAULT_LIMIT
    return is_wide and noise.steps >= WINDOW_STEPS and abs(noise.bias) > BIAS_SHARE * noise.mean_rel


def _limit(noise: Distance | None) -> float:
    return DEFAULT_LIMIT if noise is None else max(MIN_LIMIT, NOISE_FACTOR * noise.mean_rel)


def _shift_limit(noise: Distance) -> float:
    """Return what two runs as noisy as the golden ones may lie above each other in a tenth of their steps."""
    by_chance = SHIFT_SIGMAS * noise.autocorrelation * noise.scatter / math.sqrt(_window_width(noise.steps))
    return max(WINDOW_FACTOR * MIN_LIMIT, NOISE_FACTOR * noise.shift, by_chance)


def _trend_limit(noise: Distance) -> float:
    """Return by how much the difference of two runs as noisy as the golden ones may grow. Of n places that are evenly
    spaced from 0 to 1 the squares about the mean add up to n / 12."""
    by_chance = TREND_SIGMAS * noise.autocorrelation * noise.scatter * math.sqrt(12.0 / noise.steps)
    return max(
        NOISE_FACTOR * abs(noise.trend),
        by_chance if noise.steps >= TREND_STEPS and noise.autocorrelation > 1.0 else 0.0,
    )


def _exceeded(measured: Distance, limits: dict[Measure, float]) -> tuple[Measure, ...]:
    errors: dict[Measure, float] = {
        "mean": measured.mean_rel, "window": measured.window, "shift": measured.shift, "step": measured.max_rel,
        "trend": abs(measured.trend),
    }  # fmt: skip
    return tuple(name for name, most in limits.items() if errors[name] > most)


def _verdict(measured: Distance, exceeded: tuple[Measure, ...], steps: int | None, expected: int) -> Verdict:
    if measured.nonfinite is not None:
        return "nonfinite"
    if measured.both_nonfinite is not None:
        return "both_nonfinite"
    if measured.steps < (steps or 1):
        return "too_few"
    if exceeded:
        return "differs"
    return "pass" if measured.steps >= expected else "incomplete"


def _is_stuck(target: Curve, golden: Curve, steps: int | None) -> bool:
    """Return whether the target's loss never changes and the golden one does, in a tenth of its steps at least: within
    the limits of a loss that hardly falls, a training that learns nothing passes."""
    _, ours, others = align_curves(target, golden, steps)
    kinds = len(np.unique(others))
    return len(np.unique(ours)) == 1 and kinds >= max(STUCK_KINDS, len(others) / 10)


def mean_curve(curves: Mapping[int, Curve]) -> Curve | None:
    """Return the mean over the ranks of a run, which is what is comparable where another run has other ranks; None
    where they logged other steps."""
    first, *rest = curves.values()
    if not all(np.array_equal(first.steps, curve.steps) for curve in rest):
        return None
    with np.errstate(all="ignore"):
        return Curve(steps=first.steps, values=np.mean([curve.values for curve in curves.values()], axis=0))


def align_curves(
    target: Curve, golden: Curve, steps: int | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Steps that both have, the first so many, and the values of either."""
    common, ours, others = np.intersect1d(target.steps, golden.steps, assume_unique=True, return_indices=True)
    return common[:steps], target.values[ours][:steps], golden.values[others][:steps]


def curve_distance(target: Curve, golden: Curve, steps: int | None = None) -> Distance:
    common, ours, others = align_curves(target, golden, steps)
    in_one = np.flatnonzero(_is_one_sided(ours, others))
    both = np.isfinite(ours) & np.isfinite(others)
    error, relative = _errors(ours[both], others[both])
    worst = int(relative.argmax()) if len(relative) else None
    in_both = np.flatnonzero(~np.isfinite(ours) & ~np.isfinite(others))
    zero = np.flatnonzero((others[both] == 0) & (relative > 1))
    signed = np.sign(ours[both] - others[both]) * relative
    window, window_steps = _worst_window(common[both], relative)
    shift, shift_steps = _worst_window(common[both], signed)
    return Distance(
        steps=len(error), mean_abs=_mean(error), mean_rel=_mean(relative), max_abs=float(error.max(initial=0.0)),
        max_rel=float(relative.max(initial=0.0)), max_rel_step=None if worst is None else int(common[both][worst]),
        bias=_mean(signed),
        nonfinite=int(common[in_one[0]]) if len(in_one) else None,
        both_nonfinite=int(common[in_both[0]]) if len(in_both) else None, window=window, window_steps=window_steps,
        zero_golden=int(common[both][zero[0]]) if len(zero) else None,
        trend=_trend(common[both], signed), shift=shift, shift_steps=shift_steps, scatter=_root_mean_square(relative),
        autocorrelation=_autocorrelation_factor(signed),
    )  # fmt: skip


def _window_width(steps: int) -> int:
    return min(steps, max(WINDOW_STEPS, steps // 10))


def _worst_window(steps: NDArray[Any], errors: NDArray[Any]) -> tuple[float, tuple[int, int] | None]:
    """Return the size of the largest mean error of a tenth of the steps in a row, and its first and last step."""
    if not len(errors):
        return math.nan, None
    width = _window_width(len(errors))
    most = np.finfo(np.float64).max / len(errors)
    bounded = np.clip(errors, -most, most)
    sums = np.concatenate(([0.0], np.cumsum(bounded)))
    means = (sums[width:] - sums[:-width]) / width
    first = int(np.abs(means).argmax())
    return abs(float(bounded[first : first + width].mean())), (int(steps[first]), int(steps[first + width - 1]))


def _trend(steps: NDArray[Any], signed: NDArray[Any]) -> float:
    """Return how much a signed relative error grows over the steps; see the module."""
    if len(signed) < TREND_STEPS or float(np.abs(signed).max()) > 1.0:
        return 0.0
    place = (steps - steps.mean()) / (steps[-1] - steps[0])
    spread = float((place**2).sum())
    growth = float((place * signed).sum()) / spread
    rest = signed - signed.mean() - growth * place
    error = math.sqrt(float((rest**2).sum()) / (len(signed) - 2) / spread)
    return growth if abs(growth) > TREND_SIGMAS * error else 0.0


def _autocorrelation_factor(signed: NDArray[Any]) -> float:
    """Return the factor by which the standard deviation of a mean is larger than that of steps that are independent of
    each other, sqrt((1 + r) / (1 - r)) with r the correlation of neighbours, as for an autoregressive noise."""
    if len(signed) < TREND_STEPS or float(np.abs(signed).max()) > 1.0:
        return 1.0
    rest = signed - signed.mean()
    size = float((rest**2).sum())
    correlation = float((rest[1:] * rest[:-1]).sum()) / size if size else 0.0
    return math.sqrt((1 + correlation) / (1 - correlation)) if 0 < correlation < 1 else 1.0


def _is_one_sided(ours: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """Where one is finite and the other is not."""
    return np.asarray(np.isfinite(ours) != np.isfinite(others))


def _errors(ours: NDArray[Any], others: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the errors of finite losses, and the relative ones; see the module."""
    error = np.abs(ours - others)
    with np.errstate(over="ignore"):
        return error, error / _scale(others)


def _scale(golden: NDArray[Any]) -> NDArray[Any]:
    """A golden loss of zero among zeros is taken for the smallest normal float32: a relative error of it is beyond any
    limit."""
    size = np.abs(golden)
    smallest = SMALLEST * float(np.quantile(size, 0.9)) if len(size) else 0.0
    if len(size) and golden.min() < 0 < golden.max():
        width = _window_width(len(size))
        counts = np.convolve(np.ones(len(size)), np.ones(width), "same")
        size = np.maximum(size, np.convolve(size, np.ones(width), "same") / counts)
    return np.asarray(np.maximum(size, max(smallest, float(np.finfo(np.float32).tiny))))


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else math.nan


def _root_mean_square(values: NDArray[Any]) -> float:
    with np.errstate(over="ignore"):
        return float(np.sqrt((values**2).mean())) if len(values) else math.nan


def _first_beyond(target: Curve, golden: Curve, steps: int | None, limit: float) -> int | None:
    common, ours, others = align_curves(target, golden, steps)
    beyond = _is_one_sided(ours, others)
    both = np.isfinite(ours) & np.isfinite(others)
    beyond[both] = _errors(ours[both], others[both])[1] > limit
    places = np.flatnonzero(beyond)
    return int(common[places[0]]) if len(places) else None
