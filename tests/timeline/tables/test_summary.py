from __future__ import annotations

import csv
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from backends.timeline.kinds import FAMILIES
from backends.timeline.tables.idle_causes import Cause
from backends.timeline.tables.intervals import Intervals, difference, gaps, intersection, union, union_of
from backends.timeline.tables.summary import Summary, step_summary
from backends.timeline.tables.summary_sentence import (
    cause_sentence,
    sentence,
    share_text,
    time_text,
)
from backends.timeline.tables.summary_sentence import texts as texts_of
from studio import texts
from studio.texts import LANGUAGES, t_in
from tests.timeline.memory_traces import LaneSpec, trace_of
from tests.timeline.profile_data import ASCEND_TEXTS, DBS, profile
from tests.timeline.profile_folders import rank_folder
from tests.timeline.tables.assembled_traces import opened

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.trace import Trace

COLUMNS = ("Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free")
SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda one: (one[0], sum(one))), max_size=8)


def pieces(spans: list[tuple[int, int]]) -> Intervals:
    start, end = np.array(spans, np.int64).reshape(-1, 2).T
    return union(start, end)


def points(some: Intervals) -> set[int]:
    """Every ns that lies in it; proves on the way that it is in order, and that nothing touches."""
    assert (some.end > some.start).all()
    assert (some.start[1:] > some.end[:-1]).all()
    return {at for start, end in zip(some.start.tolist(), some.end.tolist(), strict=True) for at in range(start, end)}


@settings(max_examples=150, deadline=None)
@given(some=SPANS, others=SPANS)
def test_that_pieces_are_sets_of_time(some: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    left, right = pieces(some), pieces(others)
    left_points, right_points = points(left), points(right)
    assert left_points == {at for start, end in some for at in range(start, end)}
    assert points(union_of((left, right))) == left_points | right_points
    assert points(intersection(left, right)) == left_points & right_points
    assert points(difference(left, right)) == left_points - right_points
    assert points(gaps(left)) == (
        set(range(min(left_points), max(left_points))) - left_points if left_points else set()
    )
    assert left.length == len(left_points)
    assert left.begun_in(10, 30) == sum(
        end - start for start, end in zip(left.start.tolist(), left.end.tolist(), strict=True) if 10 <= start < 30
    )


def figures(summary: Summary) -> list[tuple[int | None, int, int, int, int, int]]:
    return [
        (
            step.number,
            step.computing,
            step.exposed,
            max(0, step.communication - step.exposed),
            step.communication,
            step.free,
        )
        for step in summary.steps
    ]


@pytest.mark.parametrize("name", ASCEND_TEXTS)
def test_that_a_text_profile_says_what_its_step_trace_time_says(tmp_path: Path, name: str) -> None:
    path, rank = profile(name), int("rank1" in name)
    with (path.parent / "step_trace_time.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    summary = step_summary(opened(path, tmp_path, rank))
    assert figures(summary) == [(int(row["Step"]), *(round(float(row[name]) * 1000) for name in COLUMNS))]
    assert summary.from_overlap


def test_that_several_steps_are_told_apart_as_torch_npu_does(tmp_path: Path) -> None:
    output = rank_folder(tmp_path / "rank0_ascend_pt", steps=4) / "ASCEND_PROFILER_OUTPUT"
    with (output / "step_trace_time.csv").open(newline="") as file:
        expected = [
            (int(row["Step"]), *(round(float(row[name]) * 1000) for name in COLUMNS)) for row in csv.DictReader(file)
        ]
    assert len(expected) == 4
    assert figures(step_summary(opened(output / "trace_view.json", tmp_path / "cache"))) == expected


@pytest.mark.parametrize("name", DBS)
def test_that_a_db_profile_says_what_its_analysis_says(tmp_path: Path, name: str) -> None:
    path, rank = profile(name), int("rank1" in name)
    with sqlite3.connect(f"{(path.parent / 'analysis.db').as_uri()}?mode=ro&immutable=1", uri=True) as db:
        (row,) = db.execute("SELECT * FROM StepTraceTime").fetchall()
    summary = step_summary(opened(path, tmp_path, rank))
    assert figures(summary) == [(int(row[0]), *(round(figure * 1000) for figure in row[1:6]))]


def test_that_streams_say_it_where_the_trace_does_not(tmp_path: Path) -> None:
    trace = trace_of(
        tmp_path,
        [
            LaneSpec(
                name="Stream 1",
                kind="device",
                process="gpu",
                slices=[(0, 10, "MatMul"), (5, 20, "Add"), (60, 70, "Add")],
            ),
            LaneSpec(name="Stream 2", kind="device", process="gpu", slices=[(15, 40, "nccl"), (45, 50, "Memcpy")]),
        ],
        families={"nccl": "communication", "Memcpy": "memory"},
    )
    summary = step_summary(trace)
    assert figures(summary) == [(None, 30, 20, 5, 25, 20)]
    assert [(step.whole, step.number, step.host) for step in summary.steps] == [(70, None, 0)]
    assert summary.causes == (Cause(key="timeline.cause.copies", ns=5),)
    assert not summary.from_overlap
    assert [round(summary.share(name), 3) for name in ("computing", "exposed", "free")] == [0.429, 0.286, 0.286]


def test_that_annotations_and_waiting_on_a_gpu_are_no_work(tmp_path: Path) -> None:
    kernels = [(10, 20, "gemm"), (30, 40, "gemm")]
    host_slices = [(0, 100, "DDP.forward"), (60, 90, "## backward ##"), (41, 59, "Stream Sync")]
    host = LaneSpec(name="main", kind="host", process="python", slices=[(0, 5, "## backward ##")])
    trace = trace_of(tmp_path, [host, LaneSpec(name="stream 7", process="gpu", slices=[*host_slices, *kernels])])
    processes = tuple(structs.replace(process, label="GPU 0") for process in trace.meta.processes)
    of_gpu = replace(trace, meta=structs.replace(trace.meta, processes=processes))
    assert step_summary(of_gpu).steps[0].computing == 20
    assert step_summary(trace).steps[0].computing == 100  # of an NPU nothing is guessed


def test_that_kernels_count_for_the_step_that_started_them(tmp_path: Path) -> None:
    host = LaneSpec(name="main", kind="host", process="Python", slices=[(0, 100, "step"), (100, 200, "step")])
    device = LaneSpec(slices=[(80, 120, "MatMul"), (130, 150, "MatMul"), (180, 210, "MatMul"), (220, 260, "MatMul")])
    sent = [(0, 10, 1, 80, "async_npu"), (0, 90, 1, 130, "async_npu"), (0, 110, 1, 180, "async_npu"),
            (0, 190, 1, 220, "async_npu"), (0, 150, 1, 80, "HostToDevice")]  # fmt: skip
    trace = trace_of(tmp_path, [host, device], arrows=sent, steps=[(7, 0, 100), (8, 100, 200)])
    first, second = step_summary(trace).steps
    assert (first.number, first.start, first.computing, first.free, first.host) == (7, 80, 60, 10, 100)
    assert (second.number, second.start, second.computing, second.free) == (8, 180, 70, 10)


def test_that_a_step_without_kernels_keeps_its_own_time(tmp_path: Path) -> None:
    trace = trace_of(
        tmp_path, [LaneSpec(slices=[(10, 20, "a"), (30, 40, "a")])], steps=[(1, 0, 25), (2, 25, 50), (3, 50, 60)]
    )
    assert [(step.computing, step.whole) for step in step_summary(trace).steps] == [(10, 20), (10, 10), (0, 0)]


def test_that_ranks_are_summed_apart(tmp_path: Path) -> None:
    lanes = [LaneSpec(process="npu", rank=rank, slices=[(0, 10 + rank, "a")]) for rank in (0, 1)]
    assert [(step.rank, step.computing) for step in step_summary(trace_of(tmp_path, lanes)).steps] == [(0, 10), (1, 11)]


def test_that_what_the_host_did_while_the_device_was_free_is_measured(tmp_path: Path) -> None:
    trace = trace_of(
        tmp_path,
        [
            LaneSpec(slices=[(0, 10, "a"), (50, 60, "a")]),
            LaneSpec(name="main", kind="host", process="Python",
                 slices=[(5, 45, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"), (46, 47, "Dataset"),
                         (48, 55, "AscendCL@aclrtSynchronizeStream")]),
            LaneSpec(name="other", kind="host", process="Python", rank=1, slices=[(10, 50, "gc.collect")]),
        ],
    )  # fmt: skip
    summary = step_summary(trace)
    assert summary.causes == (Cause(key="timeline.cause.loading", ns=35), Cause(key="timeline.cause.waiting", ns=2))
    key, args = cause_sentence(summary, summary.causes[0])
    assert t_in("en", key, **args) == (
        "For 35 ns of the free time, the host was fetching data in DataLoader or GetNext."
    )


def test_that_a_host_alone_is_told_by_time_of_its_own(tmp_path: Path) -> None:
    lane = [(0, 100, "ProfilerStep#3"), (10, 60, "aten::linear"), (15, 55, "aten::addmm"), (70, 80, "aten::add"),
            (81, 89, "train.py(3): run")]  # fmt: skip
    summary = step_summary(trace_of(tmp_path, [LaneSpec(kind="host", process="python", slices=lane)]))
    assert [(operator.name, operator.count, operator.whole, operator.own) for operator in summary.operators] == [
        ("aten::addmm", 1, 40, 40), ("aten::linear", 1, 50, 10), ("aten::add", 1, 10, 10),
    ]  # fmt: skip
    assert sentence(summary) == (
        "timeline.summary.host_once", {"name": "aten::addmm", "time": "40 ns", "count": "1", "ranks": "1"},
    )  # fmt: skip


def test_that_a_mean_says_of_how_many_ranks(tmp_path: Path) -> None:
    lanes = [LaneSpec(name="Computing", kind="overlap", process="Overlap Analysis", slices=[(0, 60, "Computing")])]
    summary = step_summary(trace_of(tmp_path, lanes, steps=[(3, 0, 100)]))
    headline = sentence(replace(summary, steps=(*summary.steps, replace(summary.steps[0], rank=1))))
    assert headline is not None
    assert headline[0] == "timeline.summary.ranks"
    assert "（2 个 rank 的均值）" in t_in("zh", headline[0], **headline[1])


def test_that_a_trace_of_nothing_says_nothing(tmp_path: Path) -> None:
    for lanes in ([], [LaneSpec(kind="counter", slices=[(0, 5, "a")])], [LaneSpec(slices=[(5, 5, "instant")])]):
        summary = step_summary(trace_of(tmp_path, lanes))
        assert (summary, sentence(summary)) == (Summary(), None)


def test_that_hostile_times_break_nothing(tmp_path: Path) -> None:
    far = 2**61
    trace = trace_of(
        tmp_path, [LaneSpec(slices=[(0, far, "a"), (0, 1, "b"), (far - 1, far, "c")])], steps=[(1, 50, 40), (0, 0, 0)]
    )
    assert step_summary(trace).steps[0].computing in (0, far)
    assert set(FAMILIES) >= {"compute", "communication", "memory"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_that_one_sentence_says_it_in_both_languages(tmp_path: Path, language: str) -> None:
    overlap = [
        LaneSpec(name=name, kind="overlap", process="Overlap Analysis", slices=[(start, end, name)])
        for name, start, end in (
            ("Computing", 0, 61_008_000), ("Communication", 30_000_000, 65_472_000),
            ("Communication(Not Overlapped)", 61_008_000, 65_472_000), ("Free", 65_472_000, 148_800_000),
        )
    ]  # fmt: skip
    before = texts.language()
    texts.use(language)
    headline = sentence(step_summary(trace_of(tmp_path, overlap, steps=[(3, 0, 148_800_000)])))
    texts.use(before)
    assert headline is not None
    assert (
        t_in(language, headline[0], **headline[1])
        == {
            "en": "On the device of rank 0, step 3 takes 148.8 ms: "
            "41 % computing, 3.0 % communication not hidden, 56 % free.",
            "zh": "rank 0 设备侧 step 3 耗时 148.8 ms：计算 41 %，通信未掩盖 3.0 %，空闲 56 %。",
        }[language]
    )


def test_that_times_are_told_in_the_unit_that_fits() -> None:
    texts = [time_text(ns) for ns in (0, 999, 1000, 148_800_000, 999_999, 1_500_000_000, 3_600_000_000_000)]
    assert texts == ["0 ns", "999 ns", "1 µs", "148.8 ms", "1 ms", "1.5 s", "3600 s"]
    assert [share_text(share) for share in (0, 0.0004, 0.004, 0.0994, 0.0996, 0.41, 1)] == [
        "0 %", "0 %", "0.4 %", "9.9 %", "10 %", "41 %", "100 %",
    ]  # fmt: skip


PERIOD = 100


def repeated(folder: Path, *, ranks: int = 1, steps: int = 1, number: int = 7) -> Trace:
    """A trace of steps that are alike: 10 ns of work, 30 ns free of which the host compiles 20, 10 ns of work."""
    kernels = [(at + start, at + start + 10, "MatMul") for at in range(0, steps * PERIOD, PERIOD) for start in (0, 40)]
    calls = [(at + 15, at + 35, "aclopCompile") for at in range(0, steps * PERIOD, PERIOD)]
    lanes = [
        lane
        for rank in range(ranks)
        for lane in (
            LaneSpec(process=f"npu {rank}", rank=rank, slices=kernels),
            LaneSpec(name="main", kind="host", process=f"host {rank}", rank=rank, slices=calls),
        )
    ]
    at = [(number + step, step * PERIOD, step * PERIOD + PERIOD // 2) for step in range(steps)]
    trace = trace_of(folder, lanes, steps=at)
    each = tuple(structs.replace(step, rank=None) for step in trace.meta.steps)
    return replace(trace, meta=structs.replace(trace.meta, steps=each))


@pytest.mark.parametrize(("ranks", "steps"), [(1, 1), (1, 10), (2, 1), (8, 1), (8, 10)])
def test_that_every_figure_of_the_sentences_is_of_one_step_of_one_rank(tmp_path: Path, ranks: int, steps: int) -> None:
    summary = step_summary(repeated(tmp_path, ranks=ranks, steps=steps))
    assert (summary.whole, summary.causes) == (50, (Cause(key="timeline.cause.compiling", ns=20),))
    assert summary.causes[0].ns <= summary.share("free") * summary.whole
    sentences = texts_of(summary)
    assert "takes 50 ns" in sentences[0]
    is_mean = ranks * steps > 1
    assert sentences[1].startswith("For 20 ns (the same mean) of" if is_mean else "For 20 ns of")
    assert ("mean of" in sentences[0]) == is_mean


def test_that_a_rank_without_steps_is_in_no_figure_and_named(tmp_path: Path) -> None:
    lanes = [
        LaneSpec(process="a", rank=0, slices=[(0, 10, "MatMul"), (30, 40, "MatMul")]),
        LaneSpec(process="b", rank=1, slices=[(0, 10, "MatMul"), (900, 1000, "MatMul")]),
    ]
    summary = step_summary(trace_of(tmp_path, lanes, steps=[(3, 0, 50)]))
    assert (summary.whole, round(summary.share("computing"), 3)) == (40, 0.5)
    headline, left_out = texts_of(summary)
    assert "On the device of rank 0, step 3 takes 40 ns" in headline
    assert "rank 1" in left_out


def test_that_whole_traces_are_a_mean_and_no_sum(tmp_path: Path) -> None:
    lanes = [LaneSpec(process=f"npu {rank}", rank=rank, slices=[(0, 100, "MatMul")]) for rank in range(4)]
    (headline,) = texts_of(step_summary(trace_of(tmp_path, lanes)))
    assert "for 100 ns (mean of 4 devices)" in headline


def test_that_ranks_with_other_steps_are_said_to_be_uneven(tmp_path: Path) -> None:
    trace = repeated(tmp_path, ranks=2, steps=3)
    first, second, third = trace.meta.steps
    each = (*(structs.replace(step, rank=0) for step in (first, second, third)), structs.replace(first, rank=1))
    (headline, _) = texts_of(step_summary(replace(trace, meta=structs.replace(trace.meta, steps=each))))
    assert "mean of 4 steps on 2 devices, which did not record the same steps" in headline


def test_that_one_rank_recorded_twice_is_not_called_two_devices(tmp_path: Path) -> None:
    """A training writes a folder for each capture: two of rank 0 are no two devices."""
    lanes = [LaneSpec(process=name, rank=0, slices=[(0, 10, "a"), (60, 70, "a")]) for name in ("a", "b")]
    trace = trace_of(tmp_path, lanes, steps=[(1, 0, 50), (1, 0, 50)])
    processes = tuple(structs.replace(process, source=at) for at, process in enumerate(trace.meta.processes))
    steps = tuple(structs.replace(step, rank=0, source=at) for at, step in enumerate(trace.meta.steps))
    headline = texts_of(
        step_summary(replace(trace, meta=structs.replace(trace.meta, processes=processes, steps=steps)))
    )
    assert "mean of 2 steps in 2 recordings, some of which are of one rank" in headline[0]


def test_that_one_rank_recorded_twice_without_steps_is_not_called_two_devices(tmp_path: Path) -> None:
    lanes = [LaneSpec(process=name, rank=0, slices=[(0, 10, "a"), (60, 70, "a")]) for name in ("a", "b")]
    trace = trace_of(tmp_path, lanes)
    processes = tuple(structs.replace(process, source=at) for at, process in enumerate(trace.meta.processes))
    headline = texts_of(step_summary(replace(trace, meta=structs.replace(trace.meta, processes=processes))))
    assert "mean of 2 recordings, some of which are of one rank" in headline[0]


def test_that_steps_of_one_file_are_not_counted_for_the_device_of_another(tmp_path: Path) -> None:
    """Two files of unknown rank: each recorded one step, at another time."""
    lanes = [LaneSpec(process=name, rank=None, slices=[(0, 10, "a"), (60, 70, "a")]) for name in ("a", "b")]
    trace = trace_of(tmp_path, lanes, steps=[(1, 0, 50), (2, 50, 100)])
    processes = tuple(structs.replace(process, source=at) for at, process in enumerate(trace.meta.processes))
    steps = tuple(structs.replace(step, rank=None, source=at) for at, step in enumerate(trace.meta.steps))
    summary = step_summary(replace(trace, meta=structs.replace(trace.meta, processes=processes, steps=steps)))
    assert [(step.source, step.number) for step in summary.steps] == [(0, 1), (1, 2)]


def test_that_a_sum_over_hosts_says_over_how_many(tmp_path: Path) -> None:
    lanes = [
        LaneSpec(kind="host", process=f"p{rank}", rank=rank, slices=[(0, 50, "aten::add"), (60, 90, "aten::add")])
        for rank in (0, 1)
    ]
    (headline,) = texts_of(step_summary(trace_of(tmp_path, lanes)))
    assert "160 ns in 4 calls, summed over 2 processes and all that was read" in headline
