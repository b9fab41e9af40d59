"""The databases of a real training, counted with sqlite3 on its own."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from backends.timeline.db.cells import whole
from backends.timeline.db.counter_layouts import LAYOUTS
from backends.timeline.db.opening import open_database
from backends.timeline.db.row_blocks import read_columns
from backends.timeline.db.row_details import row_of
from studio.errors import StudioError
from tests.timeline import db_counts
from tests.timeline.db.small_databases import (
    accounted,
    arrows,
    by_table,
    gathered,
    samples,
    slices,
)
from tests.timeline.profile_data import DBS, SETS, profile
from tests.timeline.synthetic_profiles import KERNELS

if TYPE_CHECKING:
    from pathlib import Path

RANKS = [profile(name) for name in DBS]
FIRST_RANKS, SECOND_RANKS = RANKS[::2], RANKS[1::2]
QUEUED = {"synthetic": KERNELS, "real": 159}
BACKWARD = {"synthetic": KERNELS // 2, "real": 27}


def kind_of(path: Path) -> str:
    return SETS[RANKS.index(path) // 2]


def label(path: Path) -> str:
    return f"{kind_of(path)} rank {RANKS.index(path) % 2}"


def query_db(path: Path, line: str) -> list[tuple[Any, ...]]:
    with closing(db_counts.open_raw(path)) as base:
        return base.execute(line).fetchall()


@pytest.mark.parametrize("path", RANKS, ids=label)
def test_that_every_row_of_every_table_of_slices_is_shown_at_its_times(path: Path) -> None:
    gather = gathered(path)
    times_by_table: dict[str, Counter[tuple[int, int]]] = {}
    for lane, start, end, _, _ in gather.slices:
        for number, begin, stop in zip(lane.tolist(), start.tolist(), end.tolist(), strict=True):
            times_by_table.setdefault(gather.lanes[number].table, Counter())[begin, stop] += 1
    times_by_table.pop("computed")
    assert times_by_table == {table: times for table, times in db_counts.times(path).items() if times}
    assert accounted(gather)
    assert not gather.set_aside
    assert not gather.sources[0].truncated


@pytest.mark.parametrize("path", RANKS, ids=label)
def test_that_every_figure_of_every_counter_is_a_sample(path: Path) -> None:
    gather, counts = gathered(path), db_counts.rows(path)
    figures = 0
    for layout in LAYOUTS:
        for column in layout.figures if layout.table in counts else ():
            figures += query_db(path, f'SELECT count("{column}") FROM {layout.table}')[0][0]
    assert sum(len(values) for values in samples(gather).values()) == figures
    assert gather.counter_events == sum(counts.get(layout.table, 0) for layout in LAYOUTS)


@pytest.mark.parametrize("path", FIRST_RANKS, ids=label)
def test_that_names_are_those_of_the_strings(path: Path) -> None:
    counted = Counter(name for process, _, _, _, name, _ in slices(gathered(path)) if process == "CANN")
    assert counted == db_counts.names(path, "CANN_API", "name")


@pytest.mark.parametrize("path", RANKS, ids=label)
def test_that_tasks_are_named_by_their_kernel_their_communication_or_their_type(path: Path) -> None:
    counted = Counter(name for process, _, _, _, name, _ in slices(gathered(path)) if process == "Ascend Hardware")
    assert counted == db_counts.names_of_tasks(path)
    assert counted["hcom_allReduce__210_0_1"] == 1


def test_that_overlap_analysis_is_the_one_that_insight_left_in_the_database() -> None:
    path = profile("real/ascend_pytorch_2rank/db/rank0_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db")
    names = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
    left = {
        (names[kind], start, end)
        for kind, start, end in query_db(path, "SELECT type, startNs, endNs FROM OVERLAP_ANALYSIS")
    }
    assert {(lane, start, end) for _, lane, start, end, _, _ in slices(gathered(path), computed=True)} == left


@pytest.mark.parametrize("path", RANKS, ids=label)
def test_that_overlap_analysis_sums_to_the_step_trace_time_of_the_profiler(path: Path) -> None:
    columns = ("computing", "communication", "free", "communication_not_overlapped")
    [row] = query_db(path.with_name("analysis.db"), f"SELECT {', '.join(columns)} FROM StepTraceTime")
    sums: Counter[str] = Counter()
    for _, lane, start, end, _, _ in slices(gathered(path), computed=True):
        sums[lane] += end - start
    for lane, value in zip(("Computing", "Communication", "Free", "Communication(Not Overlapped)"), row, strict=True):
        assert sums[lane] / 1000 == pytest.approx(value, abs=0.001)


@pytest.mark.parametrize("path", FIRST_RANKS, ids=label)
def test_that_flows_join_what_shares_a_connection(path: Path) -> None:
    gather = gathered(path)
    tasks = "(SELECT startNs, connectionId FROM TASK WHERE globalTaskId NOT IN"
    tasks += " (SELECT globalTaskId FROM COMMUNICATION_TASK_INFO) UNION ALL"
    tasks += " SELECT startNs, connectionId FROM COMMUNICATION_OP)"
    line = f"SELECT a.startNs, t.startNs FROM CANN_API a JOIN {tasks} t USING (connectionId)"
    assert arrows(gather, "HostToDevice") == set(query_db(path, line))
    listed = "PYTORCH_API a JOIN CONNECTION_IDS c ON c.id = a.connectionId"
    line = (
        f"SELECT CAST(a.startNs AS INTEGER), t.startNs FROM {listed} JOIN {tasks} t ON t.connectionId = c.connectionId"
    )
    assert arrows(gather, "async_npu") == set(query_db(path, line + " WHERE a.type = 50001"))
    assert len(arrows(gather, "async_task_queue")) == QUEUED[kind_of(path)]
    assert len(arrows(gather, "fwdbwd")) == BACKWARD[kind_of(path)]


@pytest.mark.parametrize("path", SECOND_RANKS, ids=label)
def test_that_rank_and_step_come_from_the_database(path: Path) -> None:
    gather = gathered(path)
    assert {process.rank for process in gather.processes if process.label != "CPU"} == {1}
    assert gather.sources[0].rank == 1
    assert [number for number, *_ in gather.steps] == [50]


@pytest.mark.parametrize("path", RANKS, ids=label)
def test_that_pages_hold_what_sqlite_reads(path: Path) -> None:
    with open_database(path) as base:
        for table in base.tables.values():
            columns = [name for _, name in sorted(table.columns.values())]
            rows = base.connection.execute(f"SELECT rowid, {', '.join(columns)} FROM {table.name}").fetchall()
            found = zip(*(column.tolist() for column in read_columns(base, table.name, *columns)), strict=True)
            assert sorted(found) == sorted(tuple(map(whole, row)) for row in rows), table.name


@pytest.mark.parametrize("path", FIRST_RANKS, ids=label)
def test_that_a_task_comes_with_its_kernel_and_its_metrics(path: Path) -> None:
    row = row_of(path, "TASK", query_db(path, "SELECT rowid FROM TASK WHERE globalTaskId = 3")[0][0])
    assert row is not None
    assert row["name"] == "trans_TransData_0"
    assert row["inputShapes"] == '"32,3,224,224"'
    assert row["metrics"]["aiv_total_cycles"] == 2874988


@pytest.mark.parametrize("path", FIRST_RANKS, ids=label)
def test_that_a_part_of_a_communication_comes_with_its_ends_and_its_task(path: Path) -> None:
    row = row_of(path, "COMMUNICATION_TASK_INFO", 2)
    assert row is not None
    assert (row["taskType"], row["transportType"], row["linkType"], row["streamId"]) == ("Memcpy", "SDMA", "ON_CHIP", 4)


@pytest.mark.parametrize("path", FIRST_RANKS, ids=label)
def test_that_a_call_comes_with_its_stack_and_its_shapes(path: Path) -> None:
    rowid = query_db(path, "SELECT rowid FROM PYTORCH_API WHERE callchainId = 99")[0][0]
    row = row_of(path, "PYTORCH_API", rowid)
    assert row is not None
    assert (row["inputShapes"], row["inputDtypes"]) == ("32,4096", "float")
    assert row["callStack"][0].endswith("torch/nn/functional.py(1469): relu")
    assert row["callStack"][-1] == "<string>(1): <module>"
    assert row_of(path, "PYTORCH_API", 10**9) is None
    assert row_of(path, "computed", 0) is None


@pytest.mark.parametrize("path", FIRST_RANKS, ids=label)
def test_that_an_analysis_is_recognised(path: Path) -> None:
    with pytest.raises(StudioError, match="results of an analysis") as caught:
        gathered(path.with_name("analysis.db"))
    assert caught.value.key == "timeline.db.no_slices"


@pytest.mark.parametrize("path", FIRST_RANKS, ids=label)
def test_that_nothing_is_changed_beside_the_database(path: Path) -> None:
    folder = path.parent

    def state() -> dict[str, tuple[int, str]]:
        return {
            path.name: (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
            for path in folder.iterdir()
        }

    before = state()
    gathered(path)
    row_of(path, "TASK", 1)
    assert state() == before


@pytest.mark.parametrize("path", FIRST_RANKS, ids=label)
def test_that_sqlite_would_say_the_same_of_a_database_in_use(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "ascend_pytorch_profiler_0.db"
    copy.write_bytes(path.read_bytes())
    with closing(sqlite3.connect(copy)) as base:
        base.execute("PRAGMA journal_mode=WAL")
        base.execute("DELETE FROM CANN_API")
        base.commit()
        assert copy.with_name(copy.name + "-wal").stat().st_size
        assert by_table(gathered(copy))["CANN_API"] == 0
        assert by_table(gathered(copy))["TASK"] == db_counts.rows(path)["TASK"] > 50
