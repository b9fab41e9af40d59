"""Two dumps side by side, as the columns that the judgement needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.alignment.calls import Alignment, align_calls
from backends.precision.compare.tolerances import TOLERANCES, Tolerances
from backends.precision.compare.values import distance
from backends.precision.compare.values.dtypes import find_unusual_dtypes, usual_pairs
from backends.precision.compare.values.rows import Rows, join_rows
from backends.precision.dump.dump import MAX, MIN, NORM, SCALAR, TENSOR
from backends.precision.dump.names import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.arrays import Array
    from backends.precision.dump.dump import Dump, Name

WRITES_IN_PLACE = re.compile(r"[^_]_$|^__(setitem|i(add|sub|mul|truediv|floordiv|pow|and|or|xor))__$")


@dataclass(frozen=True, kw_only=True)
class JoinedDumps:
    """Both dumps, their aligned `calls`, the `names` of these, and their `rows` side by side. Columns, one entry for
    each row: `distance` of the sides (NaN: nothing to compare); `eps` of the coarser dtype, 0 of what is exact;
    `target_value`, `golden_value`: a number of each side's value, 0 without, equal for equal tensors whatever their
    shape; `stats`, `golden_stats`: (rows, 4), NaN without; `ends`, `golden_ends`: the same with infinity for what is at
    the end of each side's dtype; `size`, `golden_size`: elements; `is_tensor`: on both sides; `has_unusual_dtype`: the
    dtypes differ, and not as those of its kind do everywhere; `differs_in_digest`: tensors of one dtype with other
    digests. `other_dtypes`: pairs of dtypes, of the target and the golden side, that differ everywhere."""

    target: Dump
    golden: Dump
    calls: Alignment
    rows: Rows
    names: tuple[Name, ...]
    distance: Array
    eps: Array
    target_value: Array
    golden_value: Array
    stats: Array
    golden_stats: Array
    ends: Array
    golden_ends: Array
    size: Array
    golden_size: Array
    is_tensor: Array
    has_unusual_dtype: Array
    other_dtypes: frozenset[tuple[str, str]]
    differs_in_digest: Array
    tolerances: Tolerances


def join_dumps(
    target: Dump, golden: Dump, corrected: Mapping[str, str] | None = None, tolerances: Tolerances = TOLERANCES
) -> JoinedDumps:
    """Align two dumps and put their rows side by side. `corrected`: names of the target's calls, and of the golden
    side's that a person said they are."""
    calls = align_calls(target, golden, corrected, tolerances)
    rows = join_rows(target, golden, calls)
    stats, golden_stats = distance.stats_of(target, rows.target), distance.stats_of(golden, rows.golden)
    size, golden_size = distance.counts(target, rows.target), distance.counts(golden, rows.golden)
    pairs = zip(calls.target.tolist(), calls.golden.tolist(), strict=True)
    names = tuple(name_of(target.calls[i] if i >= 0 else golden.calls[j]) for i, j in pairs)
    is_tensor = _kinds(target, rows.target, TENSOR) & _kinds(golden, rows.golden, TENSOR)
    unusual = find_unusual_dtypes(target, golden, rows, names, is_tensor, tolerances)
    eps = np.maximum(_eps(target, rows.target), _eps(golden, rows.golden))
    equal, unequal = _compare_digests(target, golden, rows, names)
    limits = (_largest(target, rows.target), _largest(golden, rows.golden))
    ends = distance.with_infinite_ends(stats, golden_stats, limits, tolerances.extreme_margin)
    by_stats = distance.distances(*ends, golden_size)
    return JoinedDumps(
        target=target, golden=golden, calls=calls, rows=rows, names=names,
        distance=_distance(by_stats, tolerances.digest_eps_share * eps, eps, is_tensor, equal, unequal), eps=eps,
        differs_in_digest=unequal, target_value=_values(target, rows.target, stats, size),
        golden_value=_values(golden, rows.golden, golden_stats, golden_size),
        stats=stats, golden_stats=golden_stats, ends=ends[0], golden_ends=ends[1],
        size=size, golden_size=golden_size, is_tensor=is_tensor,
        has_unusual_dtype=unusual, other_dtypes=usual_pairs(target, golden, rows, is_tensor & ~unusual),
        tolerances=tolerances,
    )  # fmt: skip


def _kinds(side: Dump, rows: Array, kind: int) -> Array:
    return np.asarray(np.append(side.kind == kind, False)[rows])


def is_scalar(side: Dump, rows: Array) -> Array:
    return _kinds(side, rows, SCALAR)


def _eps(side: Dump, rows: Array) -> Array:
    of_dtypes = np.array([*map(distance.eps_of, side.dtypes), 0.0])
    return np.asarray(of_dtypes[np.append(side.dtype, -1)[rows]])


def _largest(side: Dump, rows: Array) -> Array:
    of_dtypes = np.array([*(distance.LARGEST.get(dtype, np.inf) for dtype in side.dtypes), np.inf])
    return np.asarray(of_dtypes[np.append(side.dtype, -1)[rows]])


def _distance(by_stats: Array, in_digest: Array, eps: Array, is_tensor: Array, equal: Array, unequal: Array) -> Array:
    """Return the distance of each row, of what is exact 0 or 1. A digest knows better than the statistics: where it
    differs and they do not, the distance is `in_digest`, less than one rounding."""
    distances = np.where((eps == 0) & (by_stats > 0), 1.0, by_stats)
    distances[~is_tensor] = np.nan
    distances[equal] = 0.0
    hidden = unequal & ~(distances > 0)
    distances[hidden] = np.where((distances == 0) & (eps > 0), in_digest, 1.0)[hidden]
    return distances


def _compare_digests(target: Dump, golden: Dump, rows: Rows, names: tuple[Name, ...]) -> tuple[Array, Array]:
    """Return where digests of tensors of one dtype say that they are equal, and where that they are not."""
    equal, unequal = np.zeros(len(rows.call), bool), np.zeros(len(rows.call), bool)
    if not target.digest or not golden.digest:
        return equal, unequal
    writes = [WRITES_IN_PLACE.search(name.api) is not None for name in names]
    for row, (i, j) in enumerate(zip(rows.target.tolist(), rows.golden.tolist(), strict=True)):
        digest, other = target.digest.get(i), golden.digest.get(j)
        if digest and other and digest != other and writes[rows.call[row]]:
            continue  # msprobe takes the digest in a thread of its own, and may see what the call has written
        if digest and other and target.dtypes[target.dtype[i]] == golden.dtypes[golden.dtype[j]]:
            equal[row], unequal[row] = digest == other, digest != other
    return equal, unequal


def _values(side: Dump, rows: Array, stats: Array, size: Array) -> Array:
    """Return a number for each tensor's value, from its extremes, its size, and its norm to 1 part in 10,000: another
    order of summation must not make another value of a transposed tensor."""
    ends = np.ascontiguousarray(stats[:, (MAX, MIN)]).view(np.uint64)
    with np.errstate(over="ignore"):
        norm = np.nan_to_num(stats[:, NORM]).astype(np.float32).view(np.uint32).astype(np.uint64) >> np.uint64(10)
    mixed = ends[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ ends[:, 1] * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= (norm * np.uint64(0x165667B19E3779F9)) ^ (size.astype(np.uint64) << np.uint64(40))
    mixed = np.where(np.isnan(stats[:, :2]).any(axis=1) | ~_kinds(side, rows, TENSOR), 0, mixed | np.uint64(1))
    if side.digest:
        for row, i in enumerate(rows.tolist()):
            if digest := side.digest.get(i):
                mixed[row] = hash((digest, size[row])) & 0xFFFFFFFFFFFFFFFF | 1
    return np.asarray(mixed)
