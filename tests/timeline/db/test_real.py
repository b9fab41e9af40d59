"""The databases of a real training, counted with sqlite3 on its own."""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from backends.timeline.db.cells import whole
from backends.timeline.db.layouts import LAYOUTS
from backends.timeline.db.one import row_of
from backends.timeline.db.opening import opened
from backends.timeline.db.rows import column_of
from studio.errors import StudioError
from tests.timeline import counted_db
from tests.timeline.db.bases import accounted, arrows, by_table, gathered, samples, slices
from tests.timeline.shared_data import PROFILES

if TYPE_CHECKING:
    from pathlib import Path

RANKS = [
    PROFILES / f"ascend_pytorch_2rank/db/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_{rank}.db"
    for rank in (0, 1)
]
pytestmark = pytest.mark.skipif(not RANKS[0].exists(), reason="no shared data")


def ask(path: Path, line: str) -> list[tuple[Any, ...]]:
    with closing(counted_db.open_raw(path)) as base:
        return base.execute(line).fetchall()


@pytest.mark.parametrize("path", RANKS, ids=["rank 0", "rank 1"])
def test_that_every_row_of_every_table_of_slices_is_shown_at_its_times(path: Path) -> None:
    gather = gathered(path)
    found: dict[str, Counter[tuple[int, int]]] = {}
    for lane, start, end, _, _ in gather.slices:
        for number, begin, stop in zip(lane.tolist(), start.tolist(), end.tolist(), strict=True):
            found.setdefault(gather.lanes[number].table, Counter())[begin, stop] += 1
    found.pop("computed")
    assert found == {table: times for table, times in counted_db.times(path).items() if times}
    assert accounted(gather)
    assert not gather.set_aside
    assert not gather.sources[0].truncated


@pytest.mark.parametrize("path", RANKS, ids=["rank 0", "rank 1"])
def test_that_every_figure_of_every_counter_is_a_sample(path: Path) -> None:
    gather, there = gathered(path), counted_db.rows(path)
    figures = 0
    for layout in LAYOUTS:
        for column in layout.figures if layout.table in there else ():
            figures += ask(path, f'SELECT count("{column}") FROM {layout.table}')[0][0]
    assert sum(len(values) for values in samples(gather).values()) == figures
    assert gather.counter_events == sum(there.get(layout.table, 0) for layout in LAYOUTS)


def test_that_names_are_those_of_the_strings() -> None:
    counted = Counter(name for process, _, _, _, name, _ in slices(gathered(RANKS[0])) if process == "CANN")
    assert counted == counted_db.names(RANKS[0], "CANN_API", "name")


@pytest.mark.parametrize("path", RANKS, ids=["rank 0", "rank 1"])
def test_that_tasks_are_named_by_their_kernel_their_communication_or_their_type(path: Path) -> None:
    counted = Counter(name for process, _, _, _, name, _ in slices(gathered(path)) if process == "Ascend Hardware")
    assert counted == counted_db.names_of_tasks(path)
    assert counted["hcom_allReduce__210_0_1"] == 1


def test_that_overlap_analysis_is_the_one_that_insight_left_in_the_database() -> None:
    names = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
    left = {
        (names[kind], start, end)
        for kind, start, end in ask(RANKS[0], "SELECT type, startNs, endNs FROM OVERLAP_ANALYSIS")
    }
    assert {(lane, start, end) for _, lane, start, end, _, _ in slices(gathered(RANKS[0]), computed=True)} == left


@pytest.mark.parametrize("path", RANKS, ids=["rank 0", "rank 1"])
def test_that_overlap_analysis_sums_to_the_step_trace_time_of_the_profiler(path: Path) -> None:
    columns = ("computing", "communication", "free", "communication_not_overlapped")
    [row] = ask(path.with_name("analysis.db"), f"SELECT {', '.join(columns)} FROM StepTraceTime")
    sums: Counter[str] = Counter()
    for _, lane, start, end, _, _ in slices(gathered(path), computed=True):
        sums[lane] += end - start
    for lane, value in zip(("Computing", "Communication", "Free", "Communication(Not Overlapped)"), row, strict=True):
        assert sums[lane] / 1000 == pytest.approx(value, abs=0.001)


def test_that_flows_join_what_shares_a_connection() -> None:
    gather = gathered(RANKS[0])
    tasks = "(SELECT startNs, connectionId FROM TASK WHERE globalTaskId NOT IN"
    tasks += " (SELECT globalTaskId FROM COMMUNICATION_TASK_INFO) UNION ALL"
    tasks += " SELECT startNs, connectionId FROM COMMUNICATION_OP)"
    line = f"SELECT a.startNs, t.startNs FROM CANN_API a JOIN {tasks} t USING (connectionId)"
    assert arrows(gather, "HostToDevice") == set(ask(RANKS[0], line))
    listed = "PYTORCH_API a JOIN CONNECTION_IDS c ON c.id = a.connectionId"
    line = (
        f"SELECT CAST(a.startNs AS INTEGER), t.startNs FROM {listed} JOIN {tasks} t ON t.connectionId = c.connectionId"
    )
    assert arrows(gather, "async_npu") == set(ask(RANKS[0], line + " WHERE a.type = 50001"))
    assert len(arrows(gather, "async_task_queue")) == 159
    assert len(arrows(gather, "fwdbwd")) == 27


def test_that_rank_and_step_come_from_the_database() -> None:
    gather = gathered(RANKS[1])
    assert {process.rank for process in gather.processes if process.label != "CPU"} == {1}
    assert gather.sources[0].rank == 1
    assert [number for number, *_ in gather.steps] == [50]


@pytest.mark.parametrize("path", RANKS, ids=["rank 0", "rank 1"])
def test_that_pages_hold_what_sqlite_reads(path: Path) -> None:
    with opened(path) as base:
        for table in base.tables.values():
            columns = [name for _, name in sorted(table.columns.values())]
            rows = base.connection.execute(f"SELECT rowid, {', '.join(columns)} FROM {table.name}").fetchall()
            found = zip(*(column.tolist() for column in column_of(base, table.name, *columns)), strict=True)
            assert sorted(found) == sorted(tuple(map(whole, row)) for row in rows), table.name


def test_that_a_task_comes_with_its_kernel_and_its_metrics() -> None:
    row = row_of(RANKS[0], "TASK", ask(RANKS[0], "SELECT rowid FROM TASK WHERE globalTaskId = 3")[0][0])
    assert row is not None
    assert row["name"] == "trans_TransData_0"
    assert row["inputShapes"] == '"32,3,224,224"'
    assert row["metrics"]["aiv_total_cycles"] == 2874988


def test_that_a_part_of_a_communication_comes_with_its_ends_and_its_task() -> None:
    row = row_of(RANKS[0], "COMMUNICATION_TASK_INFO", 2)
    assert row is not None
    assert (row["taskType"], row["transportType"], row["linkType"], row["streamId"]) == ("Memcpy", "SDMA", "ON_CHIP", 4)


def test_that_a_call_comes_with_its_stack_and_its_shapes() -> None:
    rowid = ask(RANKS[0], "SELECT rowid FROM PYTORCH_API WHERE callchainId = 99")[0][0]
    row = row_of(RANKS[0], "PYTORCH_API", rowid)
    assert row is not None
    assert (row["inputShapes"], row["inputDtypes"]) == ("32,4096", "float")
    assert row["callStack"][0].endswith("torch/nn/functional.py(1469): relu")
    assert row["callStack"][-1] == "<string>(1): <module>"
    assert row_of(RANKS[0], "PYTORCH_API", 10**9) is None
    assert row_of(RANKS[0], "computed", 0) is None


def test_that_an_analysis_is_recognised() -> None:
    path = RANKS[0].with_name("analysis.db")
    with pytest.raises(StudioError, match="figures of an analysis") as caught:
        gathered(path)
    assert caught.value.key == "timeline.db.no_slices"


def test_that_nothing_is_changed_beside_the_database() -> None:
    folder = RANKS[0].parent

    def state() -> dict[str, tuple[int, str]]:
        return {
            path.name: (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
            for path in folder.iterdir()
        }

    before = state()
    gathered(RANKS[0])
    row_of(RANKS[0], "TASK", 1)
    assert state() == before


def test_that_sqlite_would_say_the_same_of_a_database_in_use(tmp_path: Path) -> None:
    copy = tmp_path / "ascend_pytorch_profiler_0.db"
    copy.write_bytes(RANKS[0].read_bytes())
    with closing(sqlite3.connect(copy)) as base:
        base.execute("PRAGMA journal_mode=WAL")
        base.execute("DELETE FROM CANN_API")
        base.commit()
        assert copy.with_name(copy.name + "-wal").stat().st_size
        assert by_table(gathered(copy))["CANN_API"] == 0
        assert by_table(gathered(copy))["TASK"] == 552
