"""What was gathered, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from backends.timeline.build.cache import check_columns
from tests.timeline.build.gatherings import (
    EPOCH,
    add_ends,
    add_instants,
    add_samples,
    add_slices,
    assembled,
    gather_of,
    lane_of,
    written_slices,
)

if TYPE_CHECKING:
    from pathlib import Path

SLICES = some.lists(
    some.tuples(
        some.integers(0, 3), some.integers(-(1 << 50), 1 << 50), some.integers(0, 1 << 40), some.text(max_size=4)
    ),
    max_size=40,
)


def test_that_an_empty_profile_is_one(tmp_path: Path) -> None:
    trace = assembled(gather_of(tmp_path), tmp_path)
    check_columns(trace)
    assert (trace.meta.slices, trace.meta.lanes, trace.meta.series, trace.span) == (0, (), (), 1)


def test_that_times_are_exact_to_the_nanosecond(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    add_slices(gather, lane_of(gather, "Python", "Thread 1"), [(EPOCH + 3, EPOCH + 4, "b"), (EPOCH, EPOCH + 1, "a")])
    trace = assembled(gather, tmp_path)
    assert written_slices(trace) == [("Thread 1", 0, EPOCH, EPOCH + 1, "a"), ("Thread 1", 0, EPOCH + 3, EPOCH + 4, "b")]
    assert (trace.meta.origin_ns, trace.meta.last_ns, trace.meta.is_epoch) == (EPOCH, EPOCH + 4, True)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SLICES)
def test_that_every_slice_is_shown_once(tmp_path: Path, slices: list[tuple[int, int, int, str]]) -> None:
    gather = gather_of(tmp_path)
    lanes = [lane_of(gather, "Ascend Hardware", f"Stream {number}") for number in range(4)]
    for lane, start, length, name in slices:
        add_slices(gather, lanes[lane], [(start, start + length, name)])
    trace = assembled(gather, tmp_path)
    check_columns(trace)
    written = sorted((lane, start, end, name) for lane, _, start, end, name in written_slices(trace))
    expected = sorted((f"Stream {lane}", start, start + length, name) for lane, start, length, name in slices)
    assert written == expected
    assert trace.cover.tolist() == [0, *np.cumsum(trace.end - trace.start).tolist()]
    for begin, end in zip(trace.row_begin[:-1].tolist(), trace.row_begin[1:].tolist(), strict=True):
        assert (trace.start[begin + 1 : end] >= trace.end[begin : max(begin, end - 1)]).all()


def test_that_times_that_leave_no_room_for_the_lane_are_sorted_too(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    far = 1 << 60
    lanes = [lane_of(gather, "NPU", f"Stream {number}") for number in range(9)]
    for lane in lanes:
        add_slices(gather, lane, [(far, far + 5, "late"), (-far, 5 - far, "early")])
    trace = assembled(gather, tmp_path)
    assert [(lane, start, name) for lane, _, start, _, name in written_slices(trace)][:2] == [
        ("Stream 0", -far, "early"),
        ("Stream 0", far, "late"),
    ]
    assert trace.meta.slices == 18


def test_that_what_is_far_from_the_rest_is_set_aside_and_counted(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    lane = lane_of(gather, "Ascend Hardware", "Stream 1")
    add_slices(gather, lane, [(EPOCH + n, EPOCH + n + 1, "op") for n in range(30)])
    add_slices(gather, lane, [(1_000, 2_000, "boot"), (EPOCH, EPOCH + (1 << 60), "endless")])
    add_samples(gather, "Read", [(5, 1.0), (EPOCH, 2.0)])
    meta = assembled(gather, tmp_path).meta
    assert (meta.slices, meta.counters, meta.set_aside) == (30, 1, {"timeline.aside.far": 3})
    assert (meta.origin_ns, meta.events) == (EPOCH, meta.slices + meta.counters + 3)


def test_that_half_of_a_profile_is_never_set_aside(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    years = 3 * 366 * 86_400 * 1_000_000_000
    lane = lane_of(gather, "Python", "Thread 1")
    add_slices(gather, lane, [(EPOCH, EPOCH + 1, "a"), (EPOCH + years, EPOCH + years + 1, "b")])
    assert assembled(gather, tmp_path).meta.slices == 2


def test_that_instants_are_slices_without_length(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    lane = lane_of(gather, "python", "thread 1")
    add_slices(gather, lane, [(EPOCH, EPOCH + 10, "op")])
    add_instants(gather, lane, [(EPOCH + 5, "[memory]")])
    trace = assembled(gather, tmp_path)
    assert written_slices(trace)[1] == ("thread 1", 1, EPOCH + 5, EPOCH + 5, "[memory]")
    assert (trace.meta.slices, trace.meta.instants) == (1, 1)


def test_that_lanes_come_as_the_profiler_wants_them_and_empty_ones_not_at_all(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    expected = [
        ("Python", "Thread 9", 0.0),
        ("CANN", "Thread 9", 7.0),
        ("Ascend Hardware", "Stream 2", 13.0),
        ("Ascend Hardware", "Stream 10", 13.0),
        ("HCCL", "Plane 0", 15.0),
        ("Overlap Analysis", "Free", 23.0),
    ]
    for process, name, sort in reversed(expected):
        add_slices(gather, lane_of(gather, process, name, sort=sort), [(EPOCH, EPOCH + 1, "Free")])
    lane_of(gather, "Python", "Thread 10", sort=0.0)
    meta = assembled(gather, tmp_path).meta
    assert [(meta.processes[lane.process].name, lane.name) for lane in meta.lanes] == [row[:2] for row in expected]
    kinds = ["host", "api", "device", "device", "communication", "overlap"]
    assert [lane.kind for lane in meta.lanes] == kinds


def test_that_what_has_no_name_is_called_by_its_id_and_stands_last(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    add_slices(gather, gather.lane(0, "Spans", "7\0python"), [(EPOCH, EPOCH + 1, "a")])
    add_slices(gather, lane_of(gather, "python", "thread 1", label="CPU", sort=24_011.0), [(EPOCH, EPOCH + 1, "a")])
    meta = assembled(gather, tmp_path).meta
    assert [process.name for process in meta.processes] == ["python", "Spans"]
    assert [lane.name for lane in meta.lanes] == ["thread 1", "7"]


def test_that_one_text_has_a_number_for_each_family(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    for process in ("Python", "Ascend Hardware", "HCCL"):
        add_slices(gather, lane_of(gather, process, "1"), [(EPOCH, EPOCH + 1, "MatMul"), (EPOCH + 1, EPOCH + 2, "Add")])
    trace = assembled(gather, tmp_path)
    found = sorted((trace.name_text(name), trace.family(name)) for name in range(len(trace.name_family)))
    families = ["communication", "compute", "host"]
    assert found == [(text, family) for text in ("Add", "MatMul") for family in families]
    assert trace.name_texts == [trace.name_text(name) for name in range(6)]


def test_that_names_of_every_script_survive(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    names = ["算子 ✓", "a\nb", "", "😀" * 40, "half \ud83d"]
    lane = lane_of(gather, "Python", "线程 😀")
    add_slices(gather, lane, [(EPOCH + n, EPOCH + n + 1, name) for n, name in enumerate(names)])
    drawn = written_slices(assembled(gather, tmp_path))
    assert [row[4] for row in drawn] == [*names[:4], "half ?"]
    assert drawn[0][0] == "线程 😀"


def test_that_series_are_sorted_by_time_and_know_their_bounds(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    add_samples(gather, "HBM 1/Read", [(EPOCH + 5, 3.0), (EPOCH, 7.0)])
    add_samples(gather, "HBM 0/Read", [(EPOCH + 1, float("nan")), (EPOCH + 2, -1.0)])
    trace = assembled(gather, tmp_path)
    first, second = trace.meta.series
    assert (first.name, first.low, first.high) == ("HBM 0/Read", -1.0, -1.0)
    assert (second.name, second.low, second.high, second.unit) == ("HBM 1/Read", 3.0, 7.0, "MB/s")
    assert trace.sample_time[second.begin : second.end].tolist() == [0, 5]
    assert trace.sample_value[second.begin : second.end].tolist() == [7.0, 3.0]


def test_that_a_table_beside_a_trace_does_not_say_where_it_begins(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    add_slices(gather, lane_of(gather, "Python", "Thread 1"), [(EPOCH, EPOCH + 10, "op")])
    gather.series_of(gather.source(tmp_path / "memory_record.csv", "table"), "memory", "PTA")
    gather.samples.append((np.zeros(2, np.int32), np.array([EPOCH + 50, EPOCH - 7]), np.array([2.0, 1.0])))
    trace = assembled(gather, tmp_path)
    assert (trace.meta.origin_ns, trace.meta.last_ns) == (EPOCH, EPOCH + 10)
    assert (trace.sample_time.tolist(), trace.sample_value.tolist()) == ([-7, 50], [1.0, 2.0])


def arrows(tmp_path: Path, ends: list[tuple[int, int, int, int]]) -> tuple[list[list[int]], int]:
    gather = gather_of(tmp_path)
    for name in ("Thread 0", "Thread 1"):
        add_slices(gather, lane_of(gather, "Python", name), [(EPOCH, EPOCH + 100, "op")])
    add_ends(gather, [(lane, EPOCH + time, key, phase) for lane, time, key, phase in ends])
    trace = assembled(gather, tmp_path)
    check_columns(trace)
    assert trace.meta.flow_ends == len(ends)
    return trace.arrow.tolist(), trace.meta.dangling


S, T, F = 0, 1, 2


@pytest.mark.parametrize(
    ("ends", "expected", "dangling"),
    [
        ([(0, 1, 0, S), (1, 5, 0, F)], [[0, 1, 1, 5]], 0),
        ([(0, 1, 0, S), (1, 5, 0, T), (0, 9, 0, F)], [[0, 1, 1, 5], [1, 5, 0, 9]], 0),
        ([(0, 1, 0, S), (1, 5, 0, F), (1, 7, 0, F)], [[0, 1, 1, 5], [0, 1, 1, 7]], 0),
        ([(0, 1, 0, S), (1, 2, 0, F), (0, 3, 0, S), (1, 4, 0, F)], [[0, 1, 1, 2], [0, 3, 1, 4]], 0),
        ([(0, 1, 0, S), (1, 1, 0, F)], [[0, 1, 1, 1]], 0),
        ([(1, 1, 0, F), (0, 3, 0, S)], [[0, 3, 1, 1]], 0),
        ([(0, 1, 0, S), (1, 5, 1, F)], [], 2),
        ([(0, 1, 0, S), (0, 2, 0, S), (1, 5, 0, F)], [[0, 2, 1, 5]], 1),
        ([(1, 1, 0, F), (0, 2, 0, S), (0, 3, 0, S)], [], 3),
    ],
)
def test_that_ends_become_arrows(
    tmp_path: Path, ends: list[tuple[int, int, int, int]], expected: list[list[int]], dangling: int
) -> None:
    assert arrows(tmp_path, ends) == (expected, dangling)
    assert arrows(tmp_path, ends[::-1]) == (expected, dangling)


def test_that_seventy_thousand_kinds_of_flows_stay_apart(tmp_path: Path) -> None:
    gather, count = gather_of(tmp_path), 70_000
    add_slices(gather, lane_of(gather, "Python", "Thread 1"), [(EPOCH, EPOCH + 9, "op")])
    kinds = np.array([gather.flow_kinds[str(number)] for number in range(count)], np.int32)
    for phase in (S, F):
        lane, times, phases = np.zeros(count, np.int32), np.full(count, EPOCH + phase), np.full(count, phase, np.uint8)
        gather.ends.append((lane, times, np.arange(count), kinds, phases))
    trace = assembled(gather, tmp_path)
    assert {trace.meta.flow_kinds[number] for number in trace.arrow_kind.tolist()} == set(map(str, range(count)))
    assert int(trace.arrow_kind.min()) == 0


def test_that_a_first_part_leaves_the_gathered_for_the_whole(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    lane = lane_of(gather, "Python", "Thread 1")
    add_slices(gather, lane, [(EPOCH + 9, EPOCH + 10, "a")])
    first = assembled(gather, tmp_path / "first", 0.5)
    add_slices(gather, lane, [(EPOCH, EPOCH + 1, "b")])
    whole = assembled(gather, tmp_path / "whole")
    assert (first.meta.partial, first.meta.slices, whole.meta.partial, whole.meta.slices) == (0.5, 1, None, 2)
    assert not gather.slices


def test_that_a_hundred_thousand_lanes_are_lanes(tmp_path: Path) -> None:
    gather = gather_of(tmp_path)
    lanes = [gather.lane(0, "1", str(number)) for number in range(100_000)]
    add_slices(gather, 0, [(EPOCH, EPOCH + 1, "op")])
    part = gather.slices.pop()
    gather.slices.append((np.array(lanes, np.int32), *(np.repeat(column, len(lanes)) for column in part[1:])))
    trace = assembled(gather, tmp_path)
    assert len(trace.meta.lanes) == len(trace.row_lane) == 100_000
    assert [lane.tid for lane in trace.meta.lanes[:3]] == ["0", "1", "2"]
