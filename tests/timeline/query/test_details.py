from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from backends.timeline.query.arrows import host_call_of
from backends.timeline.query.busy import busy
from backends.timeline.query.details import details_of
from backends.timeline.query.search import search
from backends.timeline.query.statistics import range_statistics
from backends.timeline.read import read_profile
from tests.timeline.made import write_array
from tests.timeline.shared_data import ASCEND_TEXTS, DBS, TEXTS, profile

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.read import Opened
    from backends.timeline.trace import Trace

MATMUL = {
    "ph": "X", "name": "aten::matmul", "pid": 7, "tid": 7, "ts": "1736412474714258.990", "dur": 3.5, "cat": "cpu_op",
    "args": {
        "Input Dims": "2,3;\r\n3,4", "Input type": "float;\r\nfloat", "id": 9007199254740993,
        "Call stack": "/gone/train.py(3): step;\r\n<string>(1): <module>",
    },
}  # fmt: skip
INNER = {"ph": "X", "name": "aten::mm", "pid": 7, "tid": 7, "ts": "1736412474714259.990", "dur": 1, "cat": "cpu_op"}
OUTER = {"ph": "X", "name": "step", "pid": 7, "tid": 7, "ts": "1736412474714258.000", "dur": 10, "cat": "cpu_op"}
PYTHON = {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "Python"}}
EVENTS = (PYTHON, OUTER, MATMUL, INNER)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def _read(path: Path) -> Opened:
    return read_profile(path, lambda *_: None)


def _index(trace: Trace, name: str) -> int:
    return next(i for i, number in enumerate(trace.name.tolist()) if trace.name_text(number) == name)


def test_that_a_slice_has_its_arguments_exactly_as_the_file_has_them(tmp_path: Path) -> None:
    opened = _read(write_array(tmp_path / "trace_view.json", EVENTS))
    found = details_of(opened.trace, _index(opened.trace, "aten::matmul"))
    assert (found.problem, found.raw_start, found.duration, found.own) == (None, "1736412474714258.990", 3500, 2500)
    assert found.absolute == 1736412474714258990
    assert dict(found.args)["id"] == "9007199254740993"
    assert [(one.shape, one.dtype) for one in found.tensors] == [("2,3", "float"), ("3,4", "float")]
    assert [(str(one.path), one.line, one.function) for one in found.stack] == [
        ("/gone/train.py", 3, "step"), ("<string>", 1, "<module>"),
    ]  # fmt: skip


def test_that_an_inner_operator_has_the_stack_of_the_one_around_it(tmp_path: Path) -> None:
    opened = _read(write_array(tmp_path / "trace_view.json", EVENTS))
    assert details_of(opened.trace, _index(opened.trace, "aten::mm")).stack[0].line == 3
    assert details_of(opened.trace, _index(opened.trace, "step")).stack == ()


def test_that_a_backward_operator_has_the_stack_of_its_forward_one(tmp_path: Path) -> None:
    backward = {"ph": "X", "name": "MulBackward0", "pid": 7, "tid": 8, "ts": "1736412474714300.000", "dur": 5}
    below = {"ph": "X", "name": "aten::mul", "pid": 7, "tid": 8, "ts": "1736412474714301.000", "dur": 2}
    flow = {"cat": "fwdbwd", "name": "fwdbwd", "id": 5, "pid": 7}
    ends = (
        {**flow, "ph": "s", "tid": 7, "ts": MATMUL["ts"]},
        {**flow, "ph": "f", "bp": "e", "tid": 8, "ts": backward["ts"]},
    )
    opened = _read(write_array(tmp_path / "trace_view.json", (*EVENTS, backward, below, *ends)))
    for name in ("MulBackward0", "aten::mul"):
        assert [one.line for one in details_of(opened.trace, _index(opened.trace, name)).stack] == [3, 1]


def test_that_a_file_that_is_gone_or_changed_is_told_and_the_rest_stays(tmp_path: Path) -> None:
    path = write_array(tmp_path / "trace_view.json", EVENTS)
    opened = _read(path)
    index = _index(opened.trace, "aten::matmul")
    path.write_bytes(path.read_bytes().replace(b"aten::matmul", b"aten::addmm_"))
    changed = details_of(opened.trace, index)
    assert changed.problem is not None
    assert changed.problem.key == "timeline.details.changed"
    path.unlink()
    gone = details_of(opened.trace, index)
    assert gone.problem is not None
    assert gone.problem.key == "error.no_such_file"
    assert (gone.name, gone.duration, gone.args) == ("aten::matmul", 3500, ())


def test_that_a_cache_that_was_emptied_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    opened = _read(write_array(tmp_path / "trace_view.json", EVENTS))
    index = _index(opened.trace, "aten::matmul")
    shutil.rmtree(opened.cache)
    problem = details_of(opened.trace, index).problem
    assert problem is not None
    assert problem.key == "timeline.details.cache_gone"


@pytest.mark.parametrize("name", [*TEXTS, *DBS])
def test_that_every_kind_of_slice_of_real_data_has_details(name: str) -> None:
    opened = _read(profile(name))
    trace = opened.trace
    for lane in trace.meta.lanes:
        begin, end = int(trace.row_begin[lane.first_row]), int(trace.row_begin[lane.first_row + lane.rows])
        for index in {begin, (begin + end) // 2, end - 1}:
            found = details_of(trace, index)
            assert found.problem is None, (lane, found)
            assert found.start == trace.start[index]
            assert 0 <= found.own <= found.duration
            assert found.raw_start or lane.kind == "overlap"


@pytest.mark.parametrize("name", [ASCEND_TEXTS[0], DBS[0]])
def test_that_a_real_kernel_leads_to_its_call_and_both_to_the_source(name: str) -> None:
    opened = _read(profile(name))
    trace = opened.trace
    kernels = search(trace, "aclnn.*Conv|Conv.*forward|MatMul", regex=True).indexes.tolist()
    kernels = [one for one in kernels if trace.meta.lanes[trace.lane_of(one)].kind == "device"]
    assert kernels
    ways = [host_call_of(trace, one) for one in kernels]
    assert all(ways), "every kernel was started by somebody"
    assert {trace.meta.lanes[trace.lane_of(way[-1].other)].kind for way in ways} == {"host"}
    stacks = [details_of(trace, one).stack for one in kernels]
    assert any(re.search(r"main\.py$", str(frame.path)) for stack in stacks for frame in stack)


def test_that_a_row_says_its_times_and_ids_last_and_its_name_once() -> None:
    trace = _read(profile(DBS[0])).trace
    found = details_of(trace, _index(trace, "trans_TransData_0"))
    columns = [name for name, _ in found.args]
    assert found.name == "trans_TransData_0"
    assert "name" not in columns
    ids = [columns.index(name) for name in ("startNs", "endNs", "globalTaskId", "connectionId")]
    assert min(ids) > max(columns.index(name) for name in ("opType", "blockDim", "inputShapes", "streamId"))


def test_that_real_kernels_are_joined_with_their_metrics_and_shapes() -> None:
    opened = _read(profile(ASCEND_TEXTS[0]))
    trace = opened.trace
    found = details_of(trace, next(
        int(one) for one in search(trace, "aclnnInplaceCopy_TensorMove").indexes
        if trace.meta.lanes[trace.lane_of(int(one))].kind == "device"
    ))  # fmt: skip
    assert "kernel_details.csv" in {one.table for one in found.tables}
    assert {one.is_output for one in found.tensors} == {True, False}


@pytest.mark.parametrize("name", [ASCEND_TEXTS[0], DBS[0]])
def test_that_what_a_device_does_in_a_range_fills_the_range(name: str) -> None:
    trace = _read(profile(name)).trace
    for begin, end in ((0, trace.span), (trace.span // 3, trace.span // 2), (5, 5), (trace.span, trace.span + 100)):
        (found,) = busy(trace, begin, end)
        assert found.computing + found.exposed + found.free == end - begin
        assert 0 <= found.exposed <= found.communication
    (whole,) = busy(trace, 0, trace.span)
    assert whole.computing > 0
    assert whole.communication > 0


@pytest.mark.parametrize("name", TEXTS)
def test_that_statistics_of_real_data_add_up(name: str) -> None:
    trace = _read(profile(name)).trace
    found = range_statistics(trace, 0, trace.span + 1)
    assert int(found.count.sum()) == len(trace.start)
    assert int(found.total.sum()) == int(trace.cover[-1])
    assert (found.wall <= found.total).all()
    assert (found.own <= found.total).all()
    assert (found.least <= found.mean).all()
    assert (found.mean <= found.most).all()
