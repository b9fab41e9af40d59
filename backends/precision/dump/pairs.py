"""Which dump of one side belongs to which of the other: steps by number, ranks by number."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.precision.dump.dump import DumpLocation

StepAndRank = tuple[int, int]
"""A step and a rank; 0 where a dump has none."""

PAIRED_BY_ORDER = "precision.dump.paired_by_order"
PAIRED_MANUALLY = "precision.dump.paired_by_hand"
NO_TARGET = "precision.dump.no_target"
NO_GOLDEN = "precision.dump.no_golden"

UNPAIRED = -1


@dataclass(frozen=True, kw_only=True)
class DumpPair:
    """The dumps of one step of one rank; None where a side has none. Its numbers are the target's, or the golden
    side's where that is missing. `note`: a key that says how they were found, empty where both have the numbers."""

    step: int
    rank: int
    target: DumpLocation | None
    golden: DumpLocation | None
    note: str = ""


def step_and_rank(location: DumpLocation) -> StepAndRank:
    return (location.step or 0, location.rank or 0)


def pair_dumps(
    target: Sequence[DumpLocation],
    golden: Sequence[DumpLocation],
    manual: Sequence[tuple[StepAndRank, StepAndRank]] = (),
) -> tuple[DumpPair, ...]:
    """Pair dumps by number; by order where no number is on both sides and there are equally many. What has no partner
    stays, alone. `manual`: numbers of the target and of the golden side, which take no part in the rest."""
    chosen = [_chosen_pair(target, golden, numbers) for numbers in manual]
    used = {id(location) for pair in chosen for location in (pair.target, pair.golden)}
    left = [[location for location in side if id(location) not in used] for side in (target, golden)]
    paired = [*chosen, *_by_step(*left)]
    return tuple(sorted(paired, key=lambda pair: (pair.step, pair.rank)))


def _chosen_pair(
    target: Sequence[DumpLocation], golden: Sequence[DumpLocation], numbers: tuple[StepAndRank, StepAndRank]
) -> DumpPair:
    """Raises StudioError where a side has no such step or rank."""
    target_groups, golden_groups = (
        next((location for location in side if step_and_rank(location) == numbers_of_side), None)
        for side, numbers_of_side in zip((target, golden), numbers, strict=True)
    )
    for location, (step, rank) in zip((target_groups, golden_groups), numbers, strict=True):
        if location is None:
            raise StudioError("precision.dump.no_such_pass", step=step, rank=rank)
    return DumpPair(
        step=numbers[0][0], rank=numbers[0][1], target=target_groups, golden=golden_groups, note=PAIRED_MANUALLY
    )


def _by_step(target: Sequence[DumpLocation], golden: Sequence[DumpLocation]) -> Iterator[DumpPair]:
    target_groups, golden_groups = (_grouped(side, 0) for side in (target, golden))
    for number, other, note in _matched(list(target_groups), list(golden_groups)):
        yield from _by_rank(target_groups.get(number, []), golden_groups.get(other, []), note)


def _by_rank(target: list[DumpLocation], golden: list[DumpLocation], step_note: str) -> Iterator[DumpPair]:
    target_groups, golden_groups = (_grouped(side, 1) for side in (target, golden))
    for number, other, note in _matched(list(target_groups), list(golden_groups)):
        for left, right in zip_longest(target_groups.get(number, []), golden_groups.get(other, [])):
            yield _pair(left, right, step_note or note)


def _pair(target: DumpLocation | None, golden: DumpLocation | None, note: str) -> DumpPair:
    present = target or golden
    step, rank = step_and_rank(present) if present else (0, 0)
    alone = NO_GOLDEN if golden is None else NO_TARGET if target is None else ""
    return DumpPair(step=step, rank=rank, target=target, golden=golden, note=alone or note)


def _grouped(side: Sequence[DumpLocation], part: int) -> dict[int, list[DumpLocation]]:
    groups: dict[int, list[DumpLocation]] = {}
    for location in side:
        groups.setdefault(step_and_rank(location)[part], []).append(location)
    return dict(sorted(groups.items()))


def _matched(target: list[int], golden: list[int]) -> list[tuple[int, int, str]]:
    """Which number belongs to which; NOBODY where there is none."""
    if len(target) == len(golden) and not set(target) & set(golden):
        return [(number, other, PAIRED_BY_ORDER) for number, other in zip(target, golden, strict=True)]
    return [
        (number if number in target else UNPAIRED, number if number in golden else UNPAIRED, "")
        for number in sorted({*target, *golden})
    ]
