from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from backends.timeline.query.slice_lookup import (
    next_slice,
    parents_of,
    previous_slice,
    slice_at,
    slices_named,
)
from tests.timeline.memory_traces import LaneSpec, trace_of
from tests.timeline.query.lane_strategies import lanes, ranges

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.trace import Trace

checked = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _lane(trace: Trace, lane: int) -> list[int]:
    """Its slices by start, row and place, one by one."""
    described = trace.meta.lanes[lane]
    first, behind = trace.row_begin[described.first_row], trace.row_begin[described.first_row + described.rows]
    return sorted(range(first, behind), key=lambda i: (trace.start[i], trace.row_of(i), i))


@checked
@given(specs=lanes())
def test_that_going_on_visits_every_slice_of_a_lane_in_time_and_going_back_too(
    tmp_path: Path, specs: list[LaneSpec]
) -> None:
    trace = trace_of(tmp_path, specs)
    for lane in range(len(specs)):
        expected = _lane(trace, lane)
        for before, other in zip([-1, *expected], [*expected, -1], strict=True):
            assert before < 0 or next_slice(trace, before) == other
            assert other < 0 or previous_slice(trace, other) == before


@checked
@given(specs=lanes(), at=ranges())
def test_that_a_hit_is_a_slice_that_contains_the_time(
    tmp_path: Path, specs: list[LaneSpec], at: tuple[int, int]
) -> None:
    trace = trace_of(tmp_path, specs)
    for row in range(len(trace.row_lane)):
        containing = [
            i
            for i in range(trace.row_begin[row], trace.row_begin[row + 1])
            if trace.start[i] <= at[0] < trace.end[i] or trace.start[i] == trace.end[i] == at[0]
        ]
        hit = slice_at(trace, row, at[0])
        assert hit in containing if containing else hit == -1


def test_that_what_is_a_pixel_wide_is_hit_from_nearby(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(100, 100, "instant"), (200, 300, "long")])])
    assert [slice_at(trace, 0, time, reach=10) for time in (89, 90, 110, 111, 189, 190, 309, 310)] == [
        -1, 0, 0, -1, -1, 1, 1, -1,
    ]  # fmt: skip
    assert slice_at(trace, 0, 300) == -1
    assert slice_at(trace, 0, 299) == 1


def test_that_parents_come_from_the_outermost_inwards(tmp_path: Path) -> None:
    trace = trace_of(
        tmp_path, [LaneSpec(kind="host", slices=[(0, 100, "a"), (10, 90, "b"), (20, 30, "c"), (40, 95, "d")])]
    )
    by_name = {trace.name_text(int(name)): i for i, name in enumerate(trace.name)}
    assert parents_of(trace, by_name["c"]) == (by_name["a"], by_name["b"])
    assert parents_of(trace, by_name["d"]) == (by_name["a"],), "b ends before d does: it does not contain it"
    assert parents_of(trace, by_name["a"]) == ()


@checked
@given(specs=lanes(), span=ranges())
def test_that_slices_of_a_name_are_all_those_in_the_range(
    tmp_path: Path, specs: list[LaneSpec], span: tuple[int, int]
) -> None:
    trace = trace_of(tmp_path, specs)
    begin, end = span
    for name in range(len(trace.name_family)):
        named = slices_named(trace, name, begin, end).tolist()
        assert sorted(named) == [
            i for i, (a, b) in enumerate(zip(trace.start, trace.end, strict=True))
            if trace.name[i] == name and begin < end and a < end and (b > begin or a == b >= begin)
        ]  # fmt: skip
        assert [trace.start[i] for i in named] == sorted(trace.start[i] for i in named)


def test_that_only_chosen_rows_are_looked_at(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 5, "x")]), LaneSpec(slices=[(2, 9, "x")])])
    assert slices_named(trace, 0, 0, 10).tolist() == [0, 1]
    assert slices_named(trace, 0, 0, 10, rows=[1]).tolist() == [1]


def test_that_a_trace_without_slices_has_no_rows_to_hit(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [])
    assert slices_named(trace, 0, 0, 10).tolist() == []
    with pytest.raises(IndexError):
        slice_at(trace, 0, 0)
