"""What a comparison looked at, of what was there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.comparison import UNKNOWN, Coverage
from backends.precision.compare.judgement.evidence import results_of_other_backwards
from backends.precision.compare.judgement.gradients import CAPTURED
from backends.precision.compare.values.distance import has_nan
from backends.precision.compare.values.updates import ends_with, of_optimizers
from backends.precision.compare.verdict.first_divergence import name_at
from backends.precision.dump.dump import GRADIENT, MAX, MEAN, MIN, NORM, OUTPUT, TENSOR
from backends.precision.dump.optimizer import GRADIENT_SUFFIX, OPTIMIZER, UPDATE_SUFFIX
from backends.precision.overflow.first_overflow import UNINITIALISED, first_overflow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.precision.compare.alignment.unmatched import UnmatchedCalls
    from backends.precision.compare.arrays import Array
    from backends.precision.compare.judgement.state import Judgement
    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.pairs import DumpPair


@dataclass(kw_only=True)
class _Unjudged:
    """Values of one kind that nothing was compared of: how many, and the first of them."""

    count: int = 0
    first: dict[str, Any] = field(default_factory=dict)


class CoverageCounter:
    """Counts pass by pass. `candidates`: all steps and ranks of either side that were asked for."""

    def __init__(self, candidates: Sequence[DumpPair]) -> None:
        self._candidates = candidates
        self._counts: Counter[str] = Counter()
        self._unjudged: dict[str, _Unjudged] = {}
        self._sampled = 0

    def add(
        self, joined: JoinedDumps, judgement: Judgement, unmatched: UnmatchedCalls, measures: Array | None,
        step: int, rank: int,
    ) -> None:  # fmt: skip
        """Count a pass. `measures`: those of its tensors, None where no tensors were read."""
        paired = int(((joined.calls.target >= 0) & (joined.calls.golden >= 0)).sum())
        values = joined.is_tensor & (joined.size > 0)
        is_judged = values & (judgement.verdict != UNKNOWN)
        has_nan = values & _is_nan_on_both_sides(joined)
        has_inf = values & ~has_nan & _is_unasked_infinity(joined)
        is_open = values & ~is_judged & ~has_nan & ~has_inf & ~results_of_other_backwards(joined)
        by_element = np.zeros(len(values), bool) if measures is None else ~np.isnan(measures[:, 0])
        by_digest = is_judged & ~by_element & _has_digests(joined)
        self._counts.update(
            calls=paired, all_calls=paired + len(unmatched.uncovered),
            one_sided_calls=len(joined.names) - paired - len(unmatched.uncovered),
            values=int((is_judged & ~has_nan & ~has_inf).sum()),
            all_values=int((is_judged | has_nan | has_inf | is_open).sum()),
            by_element=int((is_judged & by_element).sum()), by_digest=int(by_digest.sum()),
        )  # fmt: skip
        self._count_updates(joined, step, rank)
        is_partial = is_judged & ~by_element & ~by_digest & _has_figures_on_one_side(joined)
        unjudged = {
            "both_nan": has_nan, "both_infinite": has_inf, "no_figures": is_open, "partial_figures": is_partial,
            "one_sided_results": _is_one_sided_result(joined), "no_results": _is_first_of_call_without_result(joined),
        }  # fmt: skip
        for key, rows in unjudged.items():
            self._note_unjudged(f"precision.compare.{key}", joined, np.flatnonzero(rows), step, rank)

    def _count_updates(self, joined: JoinedDumps, step: int, rank: int) -> None:
        """Count the elements of updates that both records have, and note what one of two records lacks."""
        target, golden = joined.target.updates, joined.golden.updates
        if target.parameters and golden.parameters:
            self._sampled = max(self._sampled, target.sampled, golden.sampled)
            of_optimizer = of_optimizers(joined)
            is_paired = of_optimizer & joined.is_tensor & (joined.size == joined.golden_size)
            self._counts.update(
                update_elements=int(joined.size[is_paired & ends_with(joined, UPDATE_SUFFIX)].sum()),
                all_update_elements=max(target.all_elements, golden.all_elements),
            )
            is_alone = of_optimizer & ((joined.rows.target < 0) | (joined.rows.golden < 0))
            rows = is_alone & (ends_with(joined, UPDATE_SUFFIX) | ends_with(joined, GRADIENT_SUFFIX))
            self._note_unjudged("precision.compare.optimizer_alone", joined, np.flatnonzero(rows), step, rank)

    def _note_unjudged(self, key: str, joined: JoinedDumps, rows: Array, step: int, rank: int) -> None:
        if not len(rows):
            return
        first = {"name": name_at(joined, int(joined.rows.call[rows[0]])), "step": step, "rank": rank}
        unjudged = self._unjudged.setdefault(key, _Unjudged(first=first))
        unjudged.count += len(rows)

    def notes(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield keys and arguments of what was there and could not be compared, or in sums alone."""
        for key, unjudged in self._unjudged.items():
            yield key, {"count": unjudged.count, **unjudged.first}
        if self._sampled:
            elements, total = self._counts["update_elements"], self._counts["all_update_elements"]
            yield "precision.compare.sampled_updates", {"count": self._sampled, "elements": elements, "total": total}

    def coverage(self) -> Coverage:
        counts = self._counts
        steps, all_steps = self._numbers("step")
        ranks, all_ranks = self._numbers("rank")
        return Coverage(
            calls=counts["calls"], all_calls=counts["all_calls"], one_sided_calls=counts["one_sided_calls"],
            values=counts["values"], all_values=counts["all_values"], by_element=counts["by_element"],
            by_digest=counts["by_digest"], update_elements=counts["update_elements"],
            all_update_elements=counts["all_update_elements"],
            steps=steps, all_steps=all_steps, ranks=ranks, all_ranks=all_ranks,
        )  # fmt: skip

    def _numbers(self, part: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the steps, or the ranks, that were compared, and all of them."""
        complete = {getattr(pair, part) for pair in self._candidates if pair.target and pair.golden}
        return tuple(sorted(complete)), tuple(sorted({getattr(pair, part) for pair in self._candidates}))


def _is_one_sided_result(joined: JoinedDumps) -> Array:
    """Mark the tensors that a forward call of both sides has as a result on one side alone, and gradients of the
    parameters of a module. Updates are counted apart, and a backward with another number of results is another
    kernel's."""
    rows, calls = joined.rows, joined.calls
    is_paired = (calls.target >= 0) & (calls.golden >= 0)
    is_forward = np.array([name.direction == "forward" for name in joined.names], bool)
    is_tensor = [
        np.append(side.kind == TENSOR, False)[numbers]
        for side, numbers in ((joined.target, rows.target), (joined.golden, rows.golden))
    ]
    is_captured = np.array([name.direction == CAPTURED for name in joined.names], bool)
    is_result = (rows.role == OUTPUT) & (is_paired & is_forward)[rows.call]
    is_gradient = (rows.role == GRADIENT) & (is_paired & is_captured)[rows.call]
    return np.asarray((is_result | is_gradient) & ~of_optimizers(joined) & (is_tensor[0] != is_tensor[1]))


def _is_first_of_call_without_result(joined: JoinedDumps) -> Array:
    """Mark the first row of each forward call of both sides that has inputs and no result, unless nothing of its kind
    has one while others have: `__setitem__` returns None."""
    rows, calls = joined.rows, joined.calls
    is_open = (calls.target >= 0) & (calls.golden >= 0)
    is_open &= np.array([name.direction == "forward" and name.kind != OPTIMIZER for name in joined.names], bool)
    has_result = np.zeros(len(joined.names), bool)
    has_result[rows.call[rows.role == OUTPUT]] = True
    apis = [(name.kind, name.type or name.api, name.direction) for name in joined.names]
    with_result = {api for api, is_full in zip(apis, has_result.tolist(), strict=True) if is_full}
    has_forward = any(direction == "forward" for _, _, direction in with_result)
    is_open &= ~has_result & np.array([not has_forward or api in with_result for api in apis], bool)
    first = np.zeros(len(rows.call), bool)
    first[np.unique(rows.call, return_index=True)[1]] = True
    return np.asarray(first & is_open[rows.call])


def _has_digests(joined: JoinedDumps) -> Array:
    target = np.isin(joined.rows.target, list(joined.target.digest))
    return np.asarray(target & np.isin(joined.rows.golden, list(joined.golden.digest)))


def _is_nan_on_both_sides(joined: JoinedDumps) -> Array:
    """Mark tensors with a NaN on both sides. MindSpore's extremes leave NaN out, its mean does not; a mean of infinite
    elements is NaN too, and says nothing."""
    both = has_nan(joined.target, joined.rows.target) & has_nan(joined.golden, joined.rows.golden)
    finite = np.isfinite(joined.stats[:, (MAX, MIN)]) & np.isfinite(joined.golden_stats[:, (MAX, MIN)])
    in_sums = (both[:, MEAN] | both[:, NORM]) & finite.all(axis=1)
    uninitialised = np.array([name_at(joined, call).startswith(UNINITIALISED) for call in range(len(joined.names))])
    return np.asarray((both[:, MAX] | both[:, MIN] | in_sums) & ~uninitialised[joined.rows.call])


def _has_figures_on_one_side(joined: JoinedDumps) -> Array:
    """Mark tensors of one dtype that have a mean, or a norm, on one side alone. Of other dtypes msprobe writes other
    figures: of float64 no mean."""
    sides = ((joined.target, joined.rows.target), (joined.golden, joined.rows.golden))
    figures = [np.append(side.has_stats, 0)[rows] for side, rows in sides]
    dtypes = [np.array([*side.dtypes, ""])[np.append(side.dtype, -1)[rows]] for side, rows in sides]
    return np.asarray((figures[0] != figures[1]) & (dtypes[0] == dtypes[1]))


def _is_unasked_infinity(joined: JoinedDumps) -> Array:
    """Mark tensors that are infinite at the same end on both sides, from the first overflow on: the -Inf of a mask is
    asked for, while after an overflow nothing says whether both sides agree."""
    ends, others = joined.stats[:, (MAX, MIN)], joined.golden_stats[:, (MAX, MIN)]
    both = (np.isinf(ends) & (ends == others)).any(axis=1)
    if not both.any() or (overflow := first_overflow(joined.target, 0, 0)) is None:
        return np.zeros(len(both), bool)
    first = joined.target.calls.index(overflow.call)
    return np.asarray(both & (joined.target.call[joined.rows.target] >= first))
