from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.timeline.query import arrows
from backends.timeline.query.arrows import arrows_of, host_call_of, slices_of_ends, visible_arrows
from tests.timeline.memory_traces import LaneSpec, trace_of
from tests.timeline.query.lane_strategies import lanes

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.trace import Trace

checked = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LAUNCHED = [
    LaneSpec(name="Thread 1", kind="host", slices=[(0, 100, "step"), (10, 30, "aten::add"), (12, 14, "Enqueue")]),
    LaneSpec(name="Thread 2", kind="api", slices=[(20, 40, "Dequeue"), (22, 38, "launch")]),
    LaneSpec(name="Stream 1", slices=[(50, 60, "Add"), (70, 80, "Mul")]),
]  # fmt: skip


def _index(trace: Trace, name: str) -> int:
    return next(i for i, number in enumerate(trace.name) if trace.name_text(int(number)) == name)


def _owner(trace: Trace, lane: int, time: int) -> int:
    """One by one: of those that contain the time the one that began last, of equals the deepest."""
    described = trace.meta.lanes[lane]
    every = range(trace.row_begin[described.first_row], trace.row_begin[described.first_row + described.rows])
    inside = [i for i in every if trace.start[i] <= time < trace.end[i] or trace.start[i] == time]
    inside = inside or [i for i in every if trace.start[i] < time == trace.end[i]]
    return max(inside, key=lambda i: (trace.start[i], trace.row_of(i), i), default=-1)


@checked
@given(specs=lanes(), data=st.data())
def test_that_every_end_belongs_to_one_slice_and_is_found_from_it(
    tmp_path: Path, specs: list[LaneSpec], data: st.DataObject
) -> None:
    count = len(specs)
    end = st.tuples(st.integers(0, max(0, count - 1)), st.integers(0, 45))
    flows = data.draw(st.lists(st.tuples(end, end), max_size=12)) if count else []
    trace = trace_of(tmp_path, specs, arrows=[(*a, *b, "HostToDevice") for a, b in flows])
    for number, (from_lane, from_time, to_lane, to_time) in enumerate(trace.arrow.tolist()):
        begins, leads = _owner(trace, from_lane, from_time), _owner(trace, to_lane, to_time)
        owners = slices_of_ends(trace, trace.arrow[[number, number], [0, 2]], trace.arrow[[number, number], [1, 3]])
        assert owners.tolist() == [begins, leads]
        for index, other, incoming in ((begins, leads, False), (leads, begins, True)):
            if index >= 0:
                assert [
                    (arrow.other, arrow.this)
                    for arrow in arrows_of(trace, index)
                    if arrow.number == number and arrow.incoming is incoming
                ] == [(other, index)]
    for index in range(len(trace.start)):
        for arrow in arrows_of(trace, index):
            lane, time = trace.arrow[arrow.number].tolist()[2 if arrow.incoming else 0 :][:2]
            assert _owner(trace, lane, time) == index


@checked
@given(specs=lanes(), times=st.lists(st.integers(0, 45), max_size=20))
def test_that_a_slice_with_many_flows_inside_tells_its_own(
    tmp_path: Path, specs: list[LaneSpec], times: list[int]
) -> None:
    flows = [(0, time, 0, time, "x") for time in times if specs]
    trace = trace_of(tmp_path, specs, arrows=flows)
    few = [arrows_of(trace, index) for index in range(len(trace.start))]
    before, arrows.MANY = arrows.MANY, 0
    try:
        assert [arrows_of(trace, index) for index in range(len(trace.start))] == few
    finally:
        arrows.MANY = before


def test_that_a_kernel_leads_back_to_the_call_of_the_framework(tmp_path: Path) -> None:
    flows = [
        (0, 12, 1, 20, "async_task_queue"), (1, 20, 2, 50, "HostToDevice"), (0, 0, 2, 50, "fwdbwd"),
        (1, 22, 2, 70, "HostToDevice"), (0, 10, 2, 70, "async_npu"),
    ]  # fmt: skip
    trace = trace_of(tmp_path, LAUNCHED, arrows=flows)
    names = [
        [trace.name_text(int(trace.name[arrow.other])) for arrow in host_call_of(trace, _index(trace, kernel))]
        for kernel in ("Add", "Mul")
    ]
    assert names == [["Dequeue", "Enqueue"], ["aten::add"]]
    assert host_call_of(trace, _index(trace, "step")) == ()


def test_that_flows_in_a_ring_end(tmp_path: Path) -> None:
    trace = trace_of(
        tmp_path, [LaneSpec(slices=[(0, 5, "a"), (10, 15, "b")])], arrows=[(0, 0, 0, 10, "x"), (0, 10, 0, 0, "x")]
    )
    assert host_call_of(trace, 0) == ()
    assert [arrow.incoming for arrow in arrows_of(trace, 0)] == [True, False]


def test_that_flows_to_be_drawn_begin_or_end_in_the_range_between_lanes_that_are_shown(tmp_path: Path) -> None:
    flows = [
        (0, 0, 2, 50, "a"), (0, 12, 1, 20, "b"), (1, 20, 2, 50, "a"), (1, 22, 2, 70, "b"), (0, 12, 7 % 3, 60, "a"),
    ]  # fmt: skip
    trace = trace_of(tmp_path, LAUNCHED, arrows=flows)

    def shown(*args: object, **more: object) -> set[tuple[int, ...]]:
        return set(map(tuple, visible_arrows(trace, *args, **more).ends.tolist()))  # type: ignore[arg-type]

    every = {flow[:4] for flow in flows}
    assert shown(0, 100, [0, 1, 2], 10) == every
    assert shown(0, 100, [0, 2], 10) == {(0, 0, 2, 50)}
    assert shown(50, 51, [0, 1, 2], 10) == {(0, 0, 2, 50), (1, 20, 2, 50)}
    assert shown(21, 49, [0, 1, 2], 10) == {(1, 22, 2, 70)}
    assert shown(30, 40, [0, 1, 2], 10) == set(), "one that only passes is not drawn"
    kinds = [trace.meta.flow_kinds.index("b")]
    assert shown(0, 100, [0, 1, 2], 10, kinds=kinds) == {(0, 12, 1, 20), (1, 22, 2, 70)}
    assert shown(0, 100, [], 10) == set()
    arrows = visible_arrows(trace, 0, 100, [0, 1, 2], 2)
    assert (len(arrows.ends), arrows.left_out) == (2, 3)
    assert arrows.begins_at.tolist() == [_owner(trace, *flow[:2]) for flow in arrows.ends.tolist()]


def test_that_of_a_great_many_flows_only_some_are_drawn_all_over_the_range(tmp_path: Path) -> None:
    flows = [(0, i, 1, i + 1, "x") for i in range(5000)]
    trace = trace_of(tmp_path, [LaneSpec(kind="host"), LaneSpec()], arrows=flows)
    arrows = visible_arrows(trace, 0, 6000, [0, 1], 100)
    assert len(arrows.ends) == 100
    assert np.ptp(arrows.ends[:, 1]) > 4500
    assert arrows.left_out == 4900


def test_that_a_trace_without_flows_has_none(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 5, "x")])])
    assert arrows_of(trace, 0) == ()
    assert len(visible_arrows(trace, 0, 10, [0], 10).ends) == 0
    empty = trace_of(tmp_path, [])
    assert len(visible_arrows(empty, 0, 10, [], 10).ends) == 0
