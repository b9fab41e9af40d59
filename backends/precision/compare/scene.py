"""Two dumps beside each other as the columns that a judgement needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare import distance
from backends.precision.compare.align import Alignment, align
from backends.precision.compare.dtypes import odd_dtypes, usual_pairs
from backends.precision.compare.rows import Rows, join
from backends.precision.dump.dump import MAX, MIN, NORM, SCALAR, TENSOR
from backends.precision.dump.names import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.arrays import Array
    from backends.precision.dump.dump import Dump, Name

IN_PLACE = re.compile(r"[^_]_$|^__(setitem|i(add|sub|mul|truediv|floordiv|pow|and|or|xor))__$")


@dataclass(frozen=True, kw_only=True)
class Scene:
    """`calls` and `rows` of both sides beside each other. Of each row: `distance` (NaN: nothing to compare); `eps` of
    the coarser dtype, 0 for what is exact; `mine` and `theirs`, a number of each side's value, 0 without: equal tensors
    have equal ones, whatever their shape; `amax` and `rms` of the golden side (else of the target); `size`, elements;
    `is_tensor`: on both sides; `odd`: the dtypes differ, and not as those of its kind do everywhere;
    `other_dtypes`: pairs of dtypes, of the target and the golden side, that differ everywhere;
    `unequal`: tensors of the same dtype with other digests; `ends` and `golden_ends`: the statistics with infinity for
    what is at the end of each side's dtype (distance.ends)."""

    target: Dump
    golden: Dump
    calls: Alignment
    rows: Rows
    names: tuple[Name, ...]
    distance: Array
    eps: Array
    mine: Array
    theirs: Array
    stats: Array
    golden_stats: Array
    ends: Array
    golden_ends: Array
    size: Array
    golden_size: Array
    is_tensor: Array
    odd: Array
    other_dtypes: frozenset[tuple[str, str]]
    unequal: Array


def scene(target: Dump, golden: Dump, corrected: Mapping[str, str] | None = None) -> Scene:
    calls = align(target, golden, corrected)
    rows = join(target, golden, calls)
    stats, golden_stats = distance.stats_of(target, rows.target), distance.stats_of(golden, rows.golden)
    size, golden_size = distance.counts(target, rows.target), distance.counts(golden, rows.golden)
    pairs = zip(calls.target.tolist(), calls.golden.tolist(), strict=True)
    names = tuple(name_of(target.calls[i] if i >= 0 else golden.calls[j]) for i, j in pairs)
    is_tensor = _kinds(target, rows.target, TENSOR) & _kinds(golden, rows.golden, TENSOR)
    odd = odd_dtypes(target, golden, rows, names, is_tensor)
    eps = np.maximum(_eps(target, rows.target), _eps(golden, rows.golden))
    equal, unequal = _unequal(target, golden, rows, names)
    ends = distance.ends(stats, golden_stats, (_largest(target, rows.target), _largest(golden, rows.golden)))
    by_stats = distance.distances(*ends, golden_size)
    return Scene(
        target=target, golden=golden, calls=calls, rows=rows, names=names,
        distance=_distance(by_stats, eps, is_tensor, equal, unequal), eps=eps, unequal=unequal,
        mine=_values(target, rows.target, stats, size), theirs=_values(golden, rows.golden, golden_stats, golden_size),
        stats=stats, golden_stats=golden_stats, ends=ends[0], golden_ends=ends[1],
        size=size, golden_size=golden_size, is_tensor=is_tensor,
        odd=odd, other_dtypes=usual_pairs(target, golden, rows, is_tensor & ~odd),
    )  # fmt: skip


def _kinds(side: Dump, rows: Array, kind: int) -> Array:
    return np.asarray(np.append(side.kind == kind, False)[rows])


def is_scalar(side: Dump, rows: Array) -> Array:
    return _kinds(side, rows, SCALAR)


def _eps(side: Dump, rows: Array) -> Array:
    known = np.array([*map(distance.eps_of, side.dtypes), 0.0])
    return np.asarray(known[np.append(side.dtype, -1)[rows]])


def _largest(side: Dump, rows: Array) -> Array:
    known = np.array([*(distance.LARGEST.get(dtype, np.inf) for dtype in side.dtypes), np.inf])
    return np.asarray(known[np.append(side.dtype, -1)[rows]])


def _distance(by_stats: Array, eps: Array, is_tensor: Array, equal: Array, unequal: Array) -> Array:
    """Of what is exact 0 or 1. A digest knows better than the statistics: where it differs and they do not, by less
    than one rounding."""
    found = np.where((eps == 0) & (by_stats > 0), 1.0, by_stats)
    found[~is_tensor] = np.nan
    found[equal] = 0.0
    hidden = unequal & ~(found > 0)
    found[hidden] = np.where((found == 0) & (eps > 0), distance.HIDDEN * eps, 1.0)[hidden]
    return found


def _unequal(target: Dump, golden: Dump, rows: Rows, names: tuple[Name, ...]) -> tuple[Array, Array]:
    """Where digests of tensors of one dtype say that they are equal, and where that they are not."""
    equal, unequal = np.zeros(len(rows.call), bool), np.zeros(len(rows.call), bool)
    if not target.digest or not golden.digest:
        return equal, unequal
    written = [IN_PLACE.search(name.api) is not None for name in names]
    for row, (i, j) in enumerate(zip(rows.target.tolist(), rows.golden.tolist(), strict=True)):
        mine, theirs = target.digest.get(i), golden.digest.get(j)
        if mine and theirs and mine != theirs and written[rows.call[row]]:
            continue  # msprobe takes the digest in a thread of its own, and may see what the call has written
        if mine and theirs and target.dtypes[target.dtype[i]] == golden.dtypes[golden.dtype[j]]:
            equal[row], unequal[row] = mine == theirs, mine != theirs
    return equal, unequal


def _values(side: Dump, rows: Array, stats: Array, size: Array) -> Array:
    """A number for each tensor's value, from its extremes, its size, and its norm to 1 part in 10,000: another order of
    summation must not make another value of a transposed tensor."""
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
