"""Each raw file is counted on its own; whatever it holds must be shown, be metadata, or be set aside."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.timeline import db_counts
from tests.timeline.command_runs import (
    CommandResult,
    arrows,
    by_table,
    run_timeline,
    slices,
)
from tests.timeline.other_traces import chrome_pairs, kineto, mindspore
from tests.timeline.profile_data import DBS, RANK, SETS, TEXTS, profile
from tests.timeline.profile_folders import OUTPUT, ranks
from tests.timeline.text_counts import TraceCounts, count
from tests.timeline.torch_npu_db import write_db
from tests.timeline.torch_npu_trace import (
    torch_npu,
    write_array,
    write_bytes,
    write_object,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from backends.timeline.trace import Trace

OVERLAP_ROWS = {"Computing", "Communication", "Communication(Not Overlapped)", "Free"}


def _lines(path: Path) -> Path:
    return write_bytes(path, ("[\r\n" + ",\r\n".join(map(json.dumps, torch_npu())) + "\r\n]\r\n").encode())


GENERATED: dict[str, Callable[[Path], Path]] = {
    "torch_npu": lambda folder: write_array(folder / "trace_view.json", torch_npu()),
    "lines": lambda folder: _lines(folder / "trace_view.json"),
    "packed": lambda folder: write_array(folder / "trace_view.json.gz", torch_npu(kernels=40)),
    "no spaces": lambda folder: write_array(folder / "msprof_20260101.json", torch_npu(), ","),
    "object": lambda folder: write_object(folder / "trace.json", torch_npu(), None),
    "mindspore": lambda folder: write_array(folder / "trace_view.json", mindspore()),
    "kineto": lambda folder: write_object(folder / "host_1.1790857026.pt.trace.json", kineto()),
    "kineto of a GPU, packed": lambda folder: write_object(folder / "x.pt.trace.json.gz", kineto(gpu=True)),
    "chrome": lambda folder: write_array(folder / "trace.json", chrome_pairs()),
}


@pytest.mark.parametrize("name", TEXTS)
def test_that_every_event_of_a_real_trace_is_accounted_for(name: str, tmp_path: Path) -> None:
    alone = tmp_path / "alone" / profile(name).name
    alone.parent.mkdir()
    shutil.copyfile(profile(name), alone)
    _same(count(alone), run_timeline(alone))


@pytest.mark.parametrize("name", GENERATED)
def test_that_every_event_of_a_made_trace_is_accounted_for(name: str, tmp_path: Path) -> None:
    path = GENERATED[name](tmp_path / "made")
    _same(count(path), run_timeline(path))


def _same(raw: TraceCounts, result: CommandResult) -> None:
    assert result.code == 0, result.error
    answer, trace = result.answer, result.trace
    expected = {
        "slices": raw.slices.total() + raw.apart.total(), "instants": raw.instants.total(), "flow_ends": raw.ends,
        "flows": raw.tied, "arrows": raw.arrows.total(), "counters": raw.samples.total(), "metadata": raw.metadata,
        "set_aside": raw.strange, "events": raw.events, "first_ns": raw.first, "last_ns": raw.last,
    }  # fmt: skip
    assert {key: answer[key] for key in expected} == expected
    assert sum(trace.meta.set_aside.values()) == raw.strange
    _same_slices(raw, slices(trace))
    assert arrows(trace) == raw.arrows
    assert trace.meta.dangling == sum(len(ends) for ends in raw.flows.values() if {ph for ph, _ in ends} != {"s", "f"}
                                      and "t" not in {ph for ph, _ in ends})  # fmt: skip
    _well_laid(trace)


def _well_laid(trace: Trace) -> None:
    """Rows follow one another and no two slices of one overlap; the sums before each slice are right."""
    rows = np.repeat(np.arange(len(trace.row_lane)), np.diff(trace.row_begin))
    same_row = rows[1:] == rows[:-1]
    assert (trace.start <= trace.end).all()
    assert (trace.end[:-1] <= trace.start[1:])[same_row].all()
    assert (np.diff(trace.cover) == trace.end - trace.start).all()
    assert [lane.first_row for lane in trace.meta.lanes] == np.cumsum([0, *(x.rows for x in trace.meta.lanes)])[
        :-1
    ].tolist()
    assert sum(lane.slices for lane in trace.meta.lanes) == len(trace.start)


def _same_slices(raw: TraceCounts, drawn: Counter[Any]) -> None:
    ticks = Counter({(*key, key[3]): many for key, many in raw.instants.items()})
    rest = drawn - raw.slices - ticks
    assert not (raw.slices + ticks) - drawn
    assert Counter({key[2:]: many for key, many in rest.items()}) == raw.apart


@pytest.mark.parametrize("name", DBS)
def test_that_every_row_of_a_real_database_is_accounted_for(name: str, tmp_path: Path) -> None:
    alone = tmp_path / "alone" / profile(name).name
    alone.parent.mkdir()
    shutil.copyfile(profile(name), alone)
    _same_rows(alone)


def test_that_every_row_of_a_made_database_is_accounted_for(tmp_path: Path) -> None:
    _same_rows(write_db(tmp_path / "db" / "ascend_pytorch_profiler_0.db"))


def _same_rows(path: Path) -> None:
    """What the product computes itself, the rows of Overlap Analysis, is in no table of the profiler's."""
    run = run_timeline(path)
    assert run.code == 0, run.error
    drawn, raw = by_table(run.trace), db_counts.times(path)
    for table, times in raw.items():
        counts: Counter[tuple[int, int]] = Counter()
        for (_, start, end), many in drawn.get(table, {}).items():
            counts[(start, end)] += many
        assert counts == times, table
    rest = {name for table in drawn.keys() - raw.keys() for name, _, _ in drawn[table]}
    assert rest <= OVERLAP_ROWS
    answer = run.answer
    row_count = sum(times.total() for times in raw.values())
    computed = sum(drawn[table].total() for table in drawn.keys() - raw.keys())
    assert answer["slices"] == row_count + computed
    for table, column in (("PYTORCH_API", "name"), ("CANN_API", "name")):
        names: Counter[str] = Counter()
        for (name, _, _), many in drawn[table].items():
            names[name] += many
        assert names == db_counts.names(path, table, column)


def test_that_a_folder_of_ranks_holds_all_that_its_files_hold(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "run", 2)
    raw = [count(path) for path in sorted(folder.glob(f"*/{OUTPUT}/trace_view.json"))]
    run = run_timeline(folder)
    assert run.code == 0, run.error
    assert run.answer["slices"] == sum(trace_counts.slices.total() for trace_counts in raw)
    assert run.answer["flows"] == sum(trace_counts.tied for trace_counts in raw)
    assert slices(run.trace) == sum((trace_counts.slices for trace_counts in raw), Counter())
    assert {process.rank for process in run.trace.meta.processes} == {0, 1}


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("name", [f"{RANK}/text", f"{RANK}/db", RANK, "torch_cpu", "mindspore_cpu/run_ascend_ms"])
def test_that_the_folders_open(kind: str, name: str) -> None:
    run = run_timeline(profile(f"{kind}/{name}"))
    assert run.code == 0, run.error
    assert run.answer["slices"] > 100


def test_that_all_shared_profiles_are_in_these_tests() -> None:
    root = profile(f"real/{RANK}").parent
    paths = {path for ending in ("*trace*.json", "*profiler_?.db") for path in root.rglob(ending)}
    assert paths == {profile(name) for name in (*TEXTS, *DBS) if name.startswith("real")}
