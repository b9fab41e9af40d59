"""Two dumps beside each other as the columns that a judgement needs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare import distance
from backends.precision.compare.align import Alignment, align
from backends.precision.compare.rows import Rows, join
from backends.precision.dump.dump import MAX, MIN, NORM, SCALAR, TENSOR
from backends.precision.dump.names import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.dump.dump import Dump, Name


@dataclass(frozen=True, kw_only=True)
class Scene:
    """`calls` and `rows` of both sides beside each other. Of each row: `distance` (NaN: nothing to compare); `eps` of
    the coarser dtype, 0 for what is exact; `mine` and `theirs`, a number of each side's value, 0 without: equal tensors
    have equal ones, whatever their shape; `amax` and `rms` of the golden side (else of the target); `size`, elements;
    `is_tensor`: on both sides; `odd`: the dtypes differ, and not as those of its kind do everywhere;
    `other_dtypes`: pairs of dtypes, of the target and the golden side, that differ everywhere."""

    target: Dump
    golden: Dump
    calls: Alignment
    rows: Rows
    names: tuple[Name, ...]
    distance: np.ndarray
    eps: np.ndarray
    mine: np.ndarray
    theirs: np.ndarray
    stats: np.ndarray
    golden_stats: np.ndarray
    size: np.ndarray
    golden_size: np.ndarray
    is_tensor: np.ndarray
    odd: np.ndarray
    other_dtypes: frozenset[tuple[str, str]]


def scene(target: Dump, golden: Dump, corrected: Mapping[str, str] | None = None) -> Scene:
    calls = align(target, golden, corrected)
    rows = join(target, golden, calls)
    stats, golden_stats = distance.stats_of(target, rows.target), distance.stats_of(golden, rows.golden)
    size, golden_size = distance.counts(target, rows.target), distance.counts(golden, rows.golden)
    names = tuple(_name(target, golden, i, j) for i, j in zip(calls.target.tolist(), calls.golden.tolist(), strict=True))
    is_tensor = _kinds(target, rows.target, TENSOR) & _kinds(golden, rows.golden, TENSOR)
    odd = _odd(target, golden, rows, names, is_tensor)
    return Scene(
        target=target, golden=golden, calls=calls, rows=rows, names=names,
        distance=_distance(target, golden, rows, stats, golden_stats, golden_size, is_tensor),
        eps=np.maximum(_eps(target, rows.target), _eps(golden, rows.golden)),
        mine=_values(target, rows.target, stats, size), theirs=_values(golden, rows.golden, golden_stats, golden_size),
        stats=stats, golden_stats=golden_stats, size=size, golden_size=golden_size, is_tensor=is_tensor,
        odd=odd, other_dtypes=_other_dtypes(target, golden, rows, is_tensor & ~odd),
    )  # fmt: skip


def _name(target: Dump, golden: Dump, i: int, j: int) -> Name:
    return name_of(target.calls[i] if i >= 0 else golden.calls[j])


def _kinds(side: Dump, rows: np.ndarray, kind: int) -> np.ndarray:
    return np.asarray(np.append(side.kind == kind, False)[rows])


def is_scalar(side: Dump, rows: np.ndarray) -> np.ndarray:
    return _kinds(side, rows, SCALAR)


def _eps(side: Dump, rows: np.ndarray) -> np.ndarray:
    known = np.array([*map(distance.eps_of, side.dtypes), 0.0])
    return known[np.append(side.dtype, -1)[rows]]


def _distance(
    target: Dump, golden: Dump, rows: Rows, stats: np.ndarray, golden_stats: np.ndarray, size: np.ndarray,
    is_tensor: np.ndarray,
) -> np.ndarray:  # fmt: skip
    found = distance.distances(stats, golden_stats, size)
    eps = np.maximum(_eps(target, rows.target), _eps(golden, rows.golden))
    found = np.where((eps == 0) & (found > 0), 1.0, found)
    found[~is_tensor] = np.nan
    return _with_digests(found, target, golden, rows, eps)


def _with_digests(found: np.ndarray, target: Dump, golden: Dump, rows: Rows, eps: np.ndarray) -> np.ndarray:
    """Equal digests are equal tensors; where they differ, so do the tensors, whatever the statistics say."""
    if not target.digest or not golden.digest:
        return found
    for row, (i, j) in enumerate(zip(rows.target.tolist(), rows.golden.tolist(), strict=True)):
        mine, theirs = target.digest.get(i), golden.digest.get(j)
        if mine is None or theirs is None:
            continue
        if mine == theirs:
            found[row] = 0.0
        elif not found[row] > 0 and target.dtypes[target.dtype[i]] == golden.dtypes[golden.dtype[j]]:
            found[row] = distance.HIDDEN * eps[row] if found[row] == 0 and eps[row] else 1.0
    return found


def _values(side: Dump, rows: np.ndarray, stats: np.ndarray, size: np.ndarray) -> np.ndarray:
    """A number for each tensor's value, from its extremes, its size, and its norm to 1 part in 10,000: another order of
    summation must not make another value of a transposed tensor."""
    ends = np.ascontiguousarray(stats[:, (MAX, MIN)]).view(np.uint64)
    norm = np.nan_to_num(stats[:, NORM]).astype(np.float32).view(np.uint32).astype(np.uint64) >> np.uint64(10)
    mixed = ends[:, 0] * np.uint64(0x9E3779B97F4A7C15) ^ ends[:, 1] * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= (norm * np.uint64(0x165667B19E3779F9)) ^ (size.astype(np.uint64) << np.uint64(40))
    mixed = np.where(np.isnan(stats[:, :2]).any(axis=1) | ~_kinds(side, rows, TENSOR), 0, mixed | np.uint64(1))
    if side.digest:
        for row, i in enumerate(rows.tolist()):
            if digest := side.digest.get(i):
                mixed[row] = hash((digest, size[row])) & 0xFFFFFFFFFFFFFFFF | 1
    return np.asarray(mixed)


def _other_dtypes(target: Dump, golden: Dump, rows: Rows, usual: np.ndarray) -> frozenset[tuple[str, str]]:
    pairs = np.unique(np.stack([target.dtype[rows.target[usual]], golden.dtype[rows.golden[usual]]], axis=1), axis=0)
    names = ((target.dtypes[i], golden.dtypes[j]) for i, j in pairs.tolist())
    return frozenset((one, other) for one, other in names if one != other)


def _odd(target: Dump, golden: Dump, rows: Rows, names: tuple[Name, ...], is_tensor: np.ndarray) -> np.ndarray:
    """Where the dtypes differ though they agree elsewhere: in the same place of other calls of the api, or in most
    tensors of that golden dtype."""
    mine = np.append(target.dtype, -1)[rows.target]
    theirs = np.append(golden.dtype, -1)[rows.golden]
    known = {name: n for n, name in enumerate(dict.fromkeys([*target.dtypes, *golden.dtypes]))}
    mine = np.array([*(known[name] for name in target.dtypes), -1])[mine]
    theirs = np.array([*(known[name] for name in golden.dtypes), -1])[theirs]
    differs = np.flatnonzero(is_tensor & (mine != theirs))
    odd = np.zeros(len(mine), bool)
    if not len(differs):
        return odd
    place = Counter[tuple[object, ...]]()
    pairs = Counter[tuple[object, ...]]()
    wide = np.flatnonzero(is_tensor)
    keys = [
        (names[call].kind, names[call].api if not names[call].type else names[call].type, names[call].direction, role, item)
        for call, role, item in zip(
            rows.call[wide].tolist(), rows.role[wide].tolist(), rows.item[wide].tolist(), strict=True
        )
    ]
    for key, a, b in zip(keys, mine[wide].tolist(), theirs[wide].tolist(), strict=True):
        place[key] += 1
        place[(*key, a, b)] += 1
        pairs[b] += 1
        pairs[a, b] += 1
    index = {int(row): n for n, row in enumerate(wide)}
    for row in differs.tolist():
        key, a, b = keys[index[row]], int(mine[row]), int(theirs[row])
        alone = place[key] < 3
        share = pairs[a, b] / pairs[b] if alone else place[(*key, a, b)] / place[key]
        odd[row] = share < 0.75
    return odd
