"""The facts that the judgement goes by: one value for each row and each call, taken from the columns of two dumps.

They are tuples and not columns: the walk looks at each row once, and numpy's scalars are slower.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from backends.precision.compare.judgement.autocast import autocast_eps
from backends.precision.compare.judgement.drift import running_statistics
from backends.precision.compare.judgement.growth import Size
from backends.precision.compare.judgement.operators import Kind, kind_of
from backends.precision.compare.judgement.products import rounded_families
from backends.precision.compare.values.arguments import ArgumentDifference, argument_differences
from backends.precision.compare.values.distance import has_inf, has_nan, largest, typical
from backends.precision.dump.dump import GRADIENT, MAX, MIN, OUTPUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.judgement.moves import UnexplainedUpdates
    from backends.precision.compare.tolerances import Tolerances
    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.dump import Name

CallKey = tuple[str, str, str, int]


class Value(NamedTuple):
    """One row. `distance` of the sides, NaN without; `eps` of the coarser dtype, 0 of what is exact; `target_value` and
    `golden_value`: equal for equal tensors of one side, 0 without; `noise`: distance of two golden runs, 0 without;
    `differs_in_digest`, `differs_in_extremes`: nothing has rounded that away."""

    row: int
    role: int
    is_tensor: bool
    distance: float
    eps: float
    target_value: int
    golden_value: int
    size: Size
    noise: float
    has_unusual_dtype: bool
    has_same_size: bool
    differs_in_digest: bool
    differs_in_extremes: bool


class Call(NamedTuple):
    """One call with its rows. `number`: its index; `key`: the same of a forward and its backward; `parent`: the index
    of the module that it was called in, -1 without."""

    number: int
    is_missing: bool
    is_extra: bool
    inputs: list[Value]
    outputs: list[Value]
    api: str
    kind: Kind
    key: CallKey
    is_forward: bool
    parent: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """`values` of all rows; `drift`: by how much each parameter may differ, by row; `differing_arguments` by row;
    `new_nonfinite`: rows where one side alone has NaN or infinity, and which; `trained`: whether the target and the
    golden side train a row, where that differs; `rounded_families`: of products that are rounded to few bits;
    `autocast_eps`: of products that are given more bits on both sides, else 0, `hidden_eps` on either;
    `running`: rows that are a running mean or variance with known moves; `updates`: parameters whose last update
    differs by more than its gradients explain."""

    joined: JoinedDumps
    tolerances: Tolerances
    calls: list[Call]
    values: list[Value]
    drift: Mapping[int, float]
    differing_arguments: Mapping[int, ArgumentDifference]
    new_nonfinite: Mapping[int, str]
    trained: Mapping[int, tuple[bool, bool]]
    rounded_families: frozenset[str]
    autocast_eps: float
    hidden_eps: float
    running: frozenset[int]
    updates: UnexplainedUpdates


def gather_evidence(
    joined: JoinedDumps, drift: Mapping[int, float], noise: Array | None, earlier_families: frozenset[str],
    updates: UnexplainedUpdates,
) -> Evidence:  # fmt: skip
    values = _values(joined, noise)
    of_autocast = autocast_eps(joined)
    return Evidence(
        joined=joined, tolerances=joined.tolerances, calls=_calls(joined, values), values=values, drift=drift,
        differing_arguments=argument_differences(joined), new_nonfinite=_new_nonfinite(joined),
        trained=differing_training(joined), rounded_families=rounded_families(joined) | earlier_families,
        autocast_eps=min(of_autocast), hidden_eps=max(of_autocast), updates=updates,
        running=frozenset(
            row for row in running_statistics(joined, drift) if drift[row] < joined.tolerances.unseen_vector_drift
        ),
    )  # fmt: skip


def _values(joined: JoinedDumps, noise: Array | None) -> list[Value]:
    rows = joined.rows
    left_out = results_of_other_backwards(joined)
    measured = np.zeros(len(rows.call)) if noise is None else np.nan_to_num(noise)
    columns = (
        range(len(rows.call)), rows.role.tolist(), (joined.is_tensor & ~left_out).tolist(),
        np.where(left_out, np.nan, joined.distance).tolist(), joined.eps.tolist(), joined.target_value.tolist(),
        joined.golden_value.tolist(), _sizes(joined), measured.tolist(), joined.has_unusual_dtype.tolist(),
        (joined.size == joined.golden_size).tolist(), joined.differs_in_digest.tolist(),
        _other_extremes(joined).tolist(),
    )  # fmt: skip
    return list(map(Value._make, zip(*columns, strict=True)))


def _calls(joined: JoinedDumps, values: list[Value]) -> list[Call]:
    ends = np.searchsorted(joined.rows.call, np.arange(len(joined.names) + 1)).tolist()
    calls = []
    columns = zip(
        joined.names, joined.calls.target.tolist(), joined.calls.golden.tolist(), _parents(joined), strict=True
    )
    for index, (name, target, golden, parent) in enumerate(columns):
        inputs: list[Value] = []
        outputs: list[Value] = []
        for value in values[ends[index] : ends[index + 1]]:
            (outputs if value.role in (OUTPUT, GRADIENT) else inputs).append(value)
        api = name.type or name.api
        calls.append(
            Call(
                index, target < 0, golden < 0, inputs, outputs, api, kind_of(api), key_of(name),
                name.direction == "forward", parent,
            )
        )  # fmt: skip
    return calls


def key_of(name: Name) -> CallKey:
    """Return what a forward call and its backward have in common."""
    return name.kind, name.api, name.type, name.number


def _sizes(joined: JoinedDumps) -> list[Size]:
    """Sizes of the golden side's tensors, else of the target's."""
    stats = np.where(np.isnan(joined.golden_ends), joined.ends, joined.golden_ends)
    amax, rms = largest(stats), typical(stats, joined.golden_size)
    with np.errstate(all="ignore"):
        spread = np.nan_to_num(stats[:, MAX] - stats[:, MIN], nan=0.0, posinf=0.0, neginf=0.0)
    columns = (amax.tolist(), rms.tolist(), spread.tolist(), joined.golden_size.tolist())
    return list(map(Size._make, zip(*columns, strict=True)))


def results_of_other_backwards(joined: JoinedDumps) -> Array:
    """Mark the results of a backward of which one side has an output that the other lacks: another kernel's backward is
    another function, with other results."""
    rows = joined.rows
    unpaired = (rows.role == OUTPUT) & ((rows.target < 0) | (rows.golden < 0))
    is_other = np.zeros(len(joined.names), bool)
    is_other[rows.call[unpaired]] = True
    is_other &= np.array([name.direction != "forward" for name in joined.names], bool)
    return np.asarray(is_other[rows.call] & ((rows.role == OUTPUT) | (rows.role == GRADIENT)))


def _new_nonfinite(joined: JoinedDumps) -> dict[int, str]:
    """Find the rows where one side has NaN and the other has numbers, and where the target has infinity and the golden
    side does not."""
    in_target, in_golden = has_nan(joined.target, joined.rows.target), has_nan(joined.golden, joined.rows.golden)
    nan = (in_target & ~np.isnan(joined.golden_stats)).any(axis=1) & ~in_golden.any(axis=1)
    inf = has_inf(joined.stats) & ~has_inf(joined.golden_ends) & ~in_golden.any(axis=1)
    golden_nan = (in_golden & ~np.isnan(joined.stats)).any(axis=1) & ~in_target.any(axis=1)
    reasons = dict.fromkeys(np.flatnonzero(golden_nan & joined.is_tensor).tolist(), "golden_nan")
    reasons |= dict.fromkeys(np.flatnonzero(inf & joined.is_tensor).tolist(), "first_inf")
    return reasons | dict.fromkeys(np.flatnonzero(nan & joined.is_tensor).tolist(), "first_nan")


def _parents(joined: JoinedDumps) -> list[int]:
    """Return the index of the module that each call was made in, -1 without."""
    indices = {call: n for n, call in enumerate(joined.calls.target.tolist()) if call >= 0}
    above = [*joined.target.parents.tolist(), -1]
    return [indices.get(above[call], -1) for call in joined.calls.target.tolist()]


def _other_extremes(joined: JoinedDumps) -> Array:
    """Mark the rows that have one dtype on both sides, and another largest or smallest element: those are elements,
    which no sum has rounded."""
    target, golden = (
        np.array([*side.dtypes, ""])[np.append(side.dtype, -1)[rows]]
        for side, rows in ((joined.target, joined.rows.target), (joined.golden, joined.rows.golden))
    )
    extremes, others = joined.stats[:, (MAX, MIN)], joined.golden_stats[:, (MAX, MIN)]
    differs = (extremes != others) & ~np.isnan(extremes) & ~np.isnan(others)
    return np.asarray(differs.any(axis=1) & (target == golden))


def differing_training(joined: JoinedDumps) -> dict[int, tuple[bool, bool]]:
    """Return whether the target and the golden side train a row, where that differs. MindSpore's dumps do not say."""
    if not joined.target.needs_grad.any() or not joined.golden.needs_grad.any():
        return {}
    rows = np.flatnonzero((joined.rows.target >= 0) & (joined.rows.golden >= 0))
    target = joined.target.needs_grad[joined.rows.target[rows]]
    golden = joined.golden.needs_grad[joined.rows.golden[rows]]
    return {int(rows[n]): (bool(target[n]), bool(golden[n])) for n in np.flatnonzero(target != golden)}
