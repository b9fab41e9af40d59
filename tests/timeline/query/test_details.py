from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from backends.timeline.profile_reader import read_profile
from backends.timeline.query.arrows import host_call_of
from backends.timeline.query.details import details_of
from backends.timeline.query.device_usage import busy
from backends.timeline.query.search import search
from backends.timeline.query.statistics import range_statistics
from tests.timeline.profile_data import (
    ASCEND_TEXTS,
    DBS,
    TEXTS,
    profile,
)
from tests.timeline.tables.assembled_traces import opened as assembled
from tests.timeline.torch_npu_trace import write_array

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.profile_reader import Opened
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
    details = details_of(opened.trace, _index(opened.trace, "aten::matmul"))
    assert (details.problem, details.raw_start, details.duration, details.own) == (
        None,
        "1736412474714258.990",
        3500,
        2500,
    )
    assert details.absolute == 1736412474714258990
    assert dict(details.args)["id"] == "9007199254740993"
    assert [(tensor.shape, tensor.dtype) for tensor in details.tensors] == [("2,3", "float"), ("3,4", "float")]
    assert [(str(tensor.path), tensor.line, tensor.function) for tensor in details.stack] == [
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
        assert [frame.line for frame in details_of(opened.trace, _index(opened.trace, name)).stack] == [3, 1]


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
            details = details_of(trace, index)
            assert details.problem is None, (lane, details)
            assert details.start == trace.start[index]
            assert 0 <= details.own <= details.duration
            assert details.raw_start or lane.kind == "overlap"


@pytest.mark.parametrize("name", [*ASCEND_TEXTS[::2], *DBS[::2]])
def test_that_a_kernel_leads_to_its_call_and_both_to_the_source(name: str) -> None:
    opened = _read(profile(name))
    trace = opened.trace
    kernels = search(trace, "aclnn.*Conv|Conv.*forward|MatMul", regex=True).indexes.tolist()
    kernels = [kernel for kernel in kernels if trace.meta.lanes[trace.lane_of(kernel)].kind == "device"]
    assert kernels
    ways = [host_call_of(trace, kernel) for kernel in kernels]
    assert all(ways), "every kernel was started by somebody"
    assert {trace.meta.lanes[trace.lane_of(path[-1].other)].kind for path in ways} == {"host"}
    stacks = [details_of(trace, kernel).stack for kernel in kernels]
    assert any(re.search(r"main\.py$", str(frame.path)) for stack in stacks for frame in stack)


@pytest.mark.parametrize("name", DBS[::2])
def test_that_a_row_says_its_times_and_ids_last_and_its_name_once(name: str) -> None:
    trace = _read(profile(name)).trace
    details = details_of(trace, _index(trace, "trans_TransData_0"))
    columns = [name for name, _ in details.args]
    assert details.name == "trans_TransData_0"
    assert "name" not in columns
    ids = [columns.index(name) for name in ("startNs", "endNs", "globalTaskId", "connectionId")]
    assert min(ids) > max(columns.index(name) for name in ("opType", "blockDim", "inputShapes", "streamId"))


@pytest.mark.parametrize("name", ASCEND_TEXTS[::2])
def test_that_kernels_are_joined_with_their_metrics_and_shapes(name: str) -> None:
    opened = _read(profile(name))
    trace = opened.trace
    details = details_of(trace, next(
        int(index) for index in search(trace, "aclnnInplaceCopy_TensorMove").indexes
        if trace.meta.lanes[trace.lane_of(int(index))].kind == "device"
    ))  # fmt: skip
    assert "kernel_details.csv" in {index.table for index in details.tables}
    assert {index.is_output for index in details.tensors} == {True, False}


@pytest.mark.parametrize("name", [*ASCEND_TEXTS[::2], *DBS[::2]])
def test_that_what_a_device_does_in_a_range_fills_the_range(name: str) -> None:
    trace = _read(profile(name)).trace
    for begin, end in ((0, trace.span), (trace.span // 3, trace.span // 2), (5, 5), (trace.span, trace.span + 100)):
        (usage,) = busy(trace, begin, end)
        assert usage.computing + usage.exposed + usage.free == end - begin
        assert 0 <= usage.exposed <= usage.communication
    (whole,) = busy(trace, 0, trace.span)
    assert whole.computing > 0
    assert whole.communication > 0


@pytest.mark.parametrize("name", TEXTS)
def test_that_statistics_of_real_data_add_up(name: str) -> None:
    trace = _read(profile(name)).trace
    statistics = range_statistics(trace, 0, trace.span + 1)
    assert int(statistics.count.sum()) == len(trace.start)
    assert int(statistics.total.sum()) == int(trace.cover[-1])
    assert (statistics.wall <= statistics.total).all()
    assert (statistics.own <= statistics.total).all()
    assert (statistics.shortest <= statistics.mean).all()
    assert (statistics.mean <= statistics.longest).all()


@pytest.mark.parametrize("name", DBS[:1])
def test_that_the_metrics_of_a_kernel_in_a_database_are_rows(tmp_path: Path, name: str) -> None:
    trace = assembled(profile(name), tmp_path / "cache")
    with_metrics = [details for index in range(0, len(trace.start), 7) if (details := details_of(trace, index)).metrics]
    assert with_metrics
    details = with_metrics[0]
    assert len(details.metrics) > 1
    assert all("{" not in value for _, value in details.metrics)
    assert "metrics" not in dict(details.args)
