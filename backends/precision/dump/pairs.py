"""Which dump of one side belongs to which of the other: steps by number, ranks by number."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.precision.dump.dump import Place

Number = tuple[int, int]
"""A step and a rank; 0 where a dump has none."""

BY_ORDER = "precision.dump.paired_by_order"
BY_HAND = "precision.dump.paired_by_hand"
NO_TARGET = "precision.dump.no_target"
NO_GOLDEN = "precision.dump.no_golden"

NOBODY = -1


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The dumps of one step of one rank; None where a side has none. Its numbers are the target's, or the golden
    side's where that is missing. `note`: a key that says how they were found, empty where both have the numbers."""

    step: int
    rank: int
    target: Place | None
    golden: Place | None
    note: str = ""


def number(place: Place) -> Number:
    return (place.step or 0, place.rank or 0)


def pairs(
    target: Sequence[Place], golden: Sequence[Place], by_hand: Sequence[tuple[Number, Number]] = ()
) -> tuple[Pair, ...]:
    """By number; by order where no number is on both sides and there are equally many. What has no partner stays,
    alone. `by_hand`: numbers of the target and of the golden side, which take no part in the rest."""
    chosen = [_chosen(target, golden, one) for one in by_hand]
    taken = {id(place) for pair in chosen for place in (pair.target, pair.golden)}
    left = [[place for place in side if id(place) not in taken] for side in (target, golden)]
    found = [*chosen, *_by_step(*left)]
    return tuple(sorted(found, key=lambda pair: (pair.step, pair.rank)))


def _chosen(target: Sequence[Place], golden: Sequence[Place], numbers: tuple[Number, Number]) -> Pair:
    """Raises StudioError where a side has no such step or rank."""
    ours, theirs = (
        next((place for place in side if number(place) == wanted), None)
        for side, wanted in zip((target, golden), numbers, strict=True)
    )
    for place, (step, rank) in zip((ours, theirs), numbers, strict=True):
        if place is None:
            raise StudioError("precision.dump.no_such_pass", step=step, rank=rank)
    return Pair(step=numbers[0][0], rank=numbers[0][1], target=ours, golden=theirs, note=BY_HAND)


def _by_step(target: Sequence[Place], golden: Sequence[Place]) -> Iterator[Pair]:
    ours, theirs = (_grouped(side, 0) for side in (target, golden))
    for mine, other, note in _matched(list(ours), list(theirs)):
        yield from _by_rank(ours.get(mine, []), theirs.get(other, []), note)


def _by_rank(target: list[Place], golden: list[Place], step_note: str) -> Iterator[Pair]:
    ours, theirs = (_grouped(side, 1) for side in (target, golden))
    for mine, other, note in _matched(list(ours), list(theirs)):
        for left, right in zip_longest(ours.get(mine, []), theirs.get(other, [])):
            yield _pair(left, right, step_note or note)


def _pair(target: Place | None, golden: Place | None, note: str) -> Pair:
    there = target or golden
    step, rank = number(there) if there else (0, 0)
    alone = NO_GOLDEN if golden is None else NO_TARGET if target is None else ""
    return Pair(step=step, rank=rank, target=target, golden=golden, note=alone or note)


def _grouped(side: Sequence[Place], part: int) -> dict[int, list[Place]]:
    groups: dict[int, list[Place]] = {}
    for place in side:
        groups.setdefault(number(place)[part], []).append(place)
    return dict(sorted(groups.items()))


def _matched(ours: list[int], theirs: list[int]) -> list[tuple[int, int, str]]:
    """Which number belongs to which; NOBODY where there is none."""
    if len(ours) == len(theirs) and not set(ours) & set(theirs):
        return [(mine, other, BY_ORDER) for mine, other in zip(ours, theirs, strict=True)]
    return [(one if one in ours else NOBODY, one if one in theirs else NOBODY, "") for one in sorted({*ours, *theirs})]
