"""Which dump belongs to which of the other side."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.precision.dump.dump import DumpLocation
from backends.precision.dump.pairs import NO_GOLDEN, NO_TARGET, PAIRED_BY_ORDER, PAIRED_MANUALLY, DumpPair, pair_dumps
from studio.errors import StudioError

Numbers = list[tuple[int | None, int | None]]


def side(name: str, numbers: Numbers) -> list[DumpLocation]:
    return [DumpLocation(folder=Path(name) / f"{step}" / f"{rank}", step=step, rank=rank) for step, rank in numbers]


def seen(found: tuple[DumpPair, ...]) -> list[tuple[object, object, str]]:
    def number(place: DumpLocation | None) -> object:
        return place and (place.step, place.rank)

    return [(number(pair.target), number(pair.golden), pair.note) for pair in found]


def matched(target: Numbers, golden: Numbers) -> list[tuple[object, object, str]]:
    return seen(pair_dumps(side("t", target), side("g", golden)))


def test_that_the_same_numbers_belong_together() -> None:
    assert matched([(0, 0), (0, 1), (1, 0)], [(0, 1), (0, 0), (1, 0)]) == [
        ((0, 0), (0, 0), ""),
        ((0, 1), (0, 1), ""),
        ((1, 0), (1, 0), ""),
    ]


def test_that_what_has_no_partner_is_kept() -> None:
    assert matched([(0, 0), (1, 0)], [(0, 0), (2, 0), (2, 1)]) == [
        ((0, 0), (0, 0), ""),
        ((1, 0), None, NO_GOLDEN),
        (None, (2, 0), NO_TARGET),
        (None, (2, 1), NO_TARGET),
    ]


def test_that_steps_without_a_number_in_common_are_paired_in_order() -> None:
    assert matched([(10, 0), (11, 0)], [(0, 0), (1, 0)]) == [
        ((10, 0), (0, 0), PAIRED_BY_ORDER),
        ((11, 0), (1, 0), PAIRED_BY_ORDER),
    ]
    assert [note for *_, note in matched([(10, 0)], [(0, 0), (1, 0)])] == [NO_TARGET, NO_TARGET, NO_GOLDEN]


def test_that_ranks_without_a_number_in_common_are_paired_in_order() -> None:
    assert matched([(0, 4), (0, 5)], [(0, 0), (0, 1)]) == [
        ((0, 4), (0, 0), PAIRED_BY_ORDER),
        ((0, 5), (0, 1), PAIRED_BY_ORDER),
    ]


def test_that_a_dump_without_numbers_counts_as_the_first() -> None:
    assert matched([(None, None)], [(0, 0)]) == [((None, None), (0, 0), "")]
    assert matched([(None, None)], [(3, 2)]) == [((None, None), (3, 2), PAIRED_BY_ORDER)]


def test_that_a_pair_made_by_hand_takes_no_part_in_the_rest() -> None:
    found = pair_dumps(side("t", [(0, 0), (5, 0)]), side("g", [(0, 0), (9, 0)]), manual=[((5, 0), (0, 0))])
    assert seen(found) == [((0, 0), (9, 0), PAIRED_BY_ORDER), ((5, 0), (0, 0), PAIRED_MANUALLY)]
    assert [(pair.step, pair.rank) for pair in found] == [(0, 0), (5, 0)]


def test_that_a_pair_of_what_is_not_there_is_refused() -> None:
    with pytest.raises(StudioError) as error:
        pair_dumps(side("t", [(0, 0)]), side("g", [(0, 0)]), manual=[((0, 0), (3, 1))])
    assert (error.value.key, error.value.values) == ("precision.dump.no_such_pass", {"step": 3, "rank": 1})
