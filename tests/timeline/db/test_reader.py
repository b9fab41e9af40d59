"""Where the rows of each table are shown."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.timeline.db.cells import ABSENT, whole
from backends.timeline.db.row_details import row_of
from studio.errors import StudioError
from tests.timeline.db.small_databases import (
    BASE,
    CANN_API,
    COMMUNICATION_OP,
    COMMUNICATION_TASK_INFO,
    PYTORCH_API,
    STRING_IDS,
    TASK,
    THREAD,
    accounted,
    arrows,
    gathered,
    samples,
    slices,
    tasks,
    write,
)

if TYPE_CHECKING:
    from pathlib import Path

OPS = 1 << 28
TEXTS = {5: "EVENT_WAIT", 6: "MatMul_0", 7: "group", 8: "allReduce", 9: "Memcpy",
         OPS: "aten::mm", OPS + 1: "Enqueue", OPS + 2: "Dequeue@mm", OPS + 3: "main.py(3): f"}  # fmt: skip
STRINGS = (STRING_IDS, list(TEXTS.items()))


def test_that_a_task_is_named_by_its_kernel_or_by_its_type(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", {
        "TASK": tasks((BASE, BASE + 10, 2), (BASE + 5, BASE + 20, 3)),
        "COMPUTE_TASK_INFO": ("name INTEGER, globalTaskId INTEGER PRIMARY KEY", [(6, 1)]),
        "STRING_IDS": STRINGS,
    })  # fmt: skip
    assert slices(gathered(path)) == [
        ("Ascend Hardware", "Stream 2", BASE, BASE + 10, "EVENT_WAIT", 1),
        ("Ascend Hardware", "Stream 3", BASE + 5, BASE + 20, "MatMul_0", 2),
    ]


def test_that_a_task_that_stands_for_a_communication_has_its_name(tmp_path: Path) -> None:
    times = [(BASE, BASE + 20, 2), (BASE, BASE + 10, 3), (BASE, BASE + 9, 4), (BASE, BASE + 8, 5)]
    columns, rows = tasks(*times)
    for row, kind, connection in zip(rows, (10, 10, 10, 5), (900, 900, 55, 900), strict=True):
        row[3], row[6] = connection, kind
    gather = gathered(write(tmp_path / "a.db", {
        "TASK": (columns, rows),
        "COMPUTE_TASK_INFO": ("name INTEGER, globalTaskId INTEGER PRIMARY KEY", [(6, 1)]),
        "COMMUNICATION_OP": (COMMUNICATION_OP, [(8, BASE + 1, BASE + 19, 900, 7, 1), (8, BASE, BASE + 1, None, 7, 2)]),
        "STRING_IDS": (STRING_IDS, [*TEXTS.items(), (10, "AI_CORE")]),
    }))  # fmt: skip
    names = {lane: name for process, lane, *_, name, _ in slices(gather) if process == "Ascend Hardware"}
    assert names == {"Stream 2": "allReduce", "Stream 3": "MatMul_0", "Stream 4": "AI_CORE", "Stream 5": "EVENT_WAIT"}
    assert accounted(gather)


def test_that_a_task_that_stands_for_a_communication_computes_nothing(tmp_path: Path) -> None:
    columns, rows = tasks((BASE, BASE + 20, 2))
    rows[0][6] = 10
    gather = gathered(write(tmp_path / "a.db", {
        "TASK": (columns, rows),
        "COMMUNICATION_OP": (COMMUNICATION_OP, [(8, BASE, BASE + 20, 900, 7, 1)]),
        "STRING_IDS": (STRING_IDS, [*TEXTS.items(), (10, "AI_CORE")]),
    }))  # fmt: skip
    assert {lane for _, lane, *_ in slices(gather, computed=True)} == {"Communication", "Communication(Not Overlapped)"}


def test_that_a_name_without_a_text_is_shown_as_its_id(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.db",
        {"CANN_API": (CANN_API, [(BASE, BASE + 1, 0, THREAD, 1, 99), (BASE, BASE, 0, THREAD, 2, None)])},
    )
    assert [name for *_, name, _ in slices(gathered(path))] == ["#99", "#"]


def test_that_strange_names_are_kept(tmp_path: Path) -> None:
    names = ["中文\n名", "😀", "", "x" * 100_000]
    rows = [(BASE + at, BASE + at, 0, THREAD, at + 1, at) for at in range(len(names))]
    path = write(tmp_path / "a.db", {"CANN_API": (CANN_API, rows), "STRING_IDS": (STRING_IDS, list(enumerate(names)))})
    assert [name for *_, name, _ in slices(gathered(path))] == names


def test_that_text_that_is_no_utf8_is_still_a_name(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.db", {"CANN_API": (CANN_API, [(BASE, BASE, 0, THREAD, 1, 1)]), "STRING_IDS": (STRING_IDS, [])}
    )
    with closing(sqlite3.connect(path)) as base:
        base.execute("INSERT INTO STRING_IDS VALUES (1, CAST(x'41ff42' AS TEXT))")
        base.commit()
    assert [name for *_, name, _ in slices(gathered(path))] == ["A\ufffdB"]
    row = row_of(path, "CANN_API", 1)
    assert row is not None
    assert row["name"] == "A\ufffdB"


def test_that_python_calls_have_a_lane_of_their_own(tmp_path: Path) -> None:
    def row(name: int, kind: int, **more: int) -> list[object]:
        return [str(BASE), str(BASE + 9), THREAD, more.get("connection"), name, None, None, None, None, None, kind]

    path = write(
        tmp_path / "a.db", {"PYTORCH_API": (PYTORCH_API, [row(OPS, 50001), row(OPS + 3, 50003)]), "STRING_IDS": STRINGS}
    )
    gather = gathered(path)
    assert [(lane.tid, lane.name, lane.table, lane.kind) for lane in gather.lanes] == [
        ("78", "Thread 78", "PYTORCH_API", "host"), ("78\x00python", "Thread 78", "PYTORCH_API", "host"),
    ]  # fmt: skip
    assert [process.pid for process in gather.processes] == ["77"]


def test_that_flows_are_drawn_by_connection_queue_and_sequence(tmp_path: Path) -> None:
    def row(
        start: int,
        name: int,
        kind: int,
        connection: int | None,
        sequence: int | None = None,
        forward: int | None = None,
    ) -> list[object]:
        return [
            str(BASE + start),
            str(BASE + start + 5),
            THREAD,
            connection,
            name,
            sequence,
            forward,
            None,
            None,
            None,
            kind,
        ]

    path = write(tmp_path / "a.db", {
        "PYTORCH_API": (PYTORCH_API, [
            row(0, OPS, 50001, 1, 40, 0), row(10, OPS + 1, 50002, 2), row(20, OPS + 2, 50002, 3),
            row(30, OPS, 50001, None, 40, 1), row(35, OPS, 50001, None, 40, 1), row(40, OPS, 50001, None, -1, 1),
        ]),
        "CONNECTION_IDS": ("id INTEGER, connectionId INTEGER", [(1, 900), (1, 901), (2, 2**60), (3, 2**60), (9, 1)]),
        "CANN_API": (CANN_API, [(BASE + 50, BASE + 51, 1, THREAD, 900, 5), (BASE + 60, BASE + 61, 1, THREAD, 7, 5)]),
        "TASK": tasks((BASE + 100, BASE + 110, 2), (BASE + 200, BASE + 210, 2), (BASE + 300, BASE + 310, 2)),
        "STRING_IDS": STRINGS,
    })  # fmt: skip
    gather = gathered(path)
    assert arrows(gather, "HostToDevice") == {(BASE + 50, BASE + 100)}
    assert arrows(gather, "async_npu") == {(BASE, BASE + 100), (BASE, BASE + 200)}
    assert arrows(gather, "async_task_queue") == {(BASE + 10, BASE + 20)}
    assert arrows(gather, "fwdbwd") == {(BASE, BASE + 35)}
    assert gather.next_key > max(int(keys.max()) for _, _, keys, _, _ in gather.ends)


def test_that_communications_have_a_lane_per_group_and_plane(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", {
        "TASK": tasks((BASE, BASE + 10, 2), (BASE + 5, BASE + 20, 3)),
        "COMMUNICATION_OP": (COMMUNICATION_OP, [(8, BASE, BASE + 20, 900, 7, 1)]),
        "COMMUNICATION_TASK_INFO": (COMMUNICATION_TASK_INFO, [(8, 1, 9, 3, 7, 1), (8, 55, 9, 3, 7, 1)]),
        "STRING_IDS": STRINGS,
    })  # fmt: skip
    gather = gathered(path)
    assert slices(gather)[2:] == [
        ("Communication", "Group 0 Communication", BASE, BASE + 20, "allReduce", 1),
        ("Communication", "Plane 3", BASE + 5, BASE + 20, "Memcpy", 1),
    ]
    assert gather.set_aside == {"timeline.aside.row_without_task": 1}
    assert accounted(gather)
    assert {row[1:4] for row in slices(gather, computed=True)} == {
        ("Communication", BASE, BASE + 20), ("Communication(Not Overlapped)", BASE, BASE + 20),
    }  # fmt: skip


def test_that_each_card_has_processes_of_its_own(tmp_path: Path) -> None:
    rows = [(BASE + card, BASE + card + 9, card, 900 + card, card, 1, 5, 0, 2, 0, 0) for card in (0, 1)]
    path = write(tmp_path / "a.db", {
        "TASK": (TASK, rows),
        "COMPUTE_TASK_INFO": ("name INTEGER, globalTaskId INTEGER PRIMARY KEY", [(6, 0)]),
        "COMMUNICATION_OP": (COMMUNICATION_OP, [(8, BASE, BASE + 20, 901, 7, 1)]),
        "COMMUNICATION_TASK_INFO": (COMMUNICATION_TASK_INFO, [(8, 1, 9, 3, 7, 1)]),
        "RANK_DEVICE_MAP": ("rankId INTEGER, deviceId INTEGER", [(8, 0), (9, 1)]),
        "AICORE_FREQ": ("deviceId INTEGER,timestampNs NUMERIC,freq INTEGER", [(0, BASE, 1800), (1, BASE, 800)]),
    })  # fmt: skip
    gather = gathered(path)
    assert {(process.name, process.label, process.rank) for process in gather.processes} == {
        ("Ascend Hardware", "NPU 0", 8), ("Ascend Hardware", "NPU 1", 9), ("Communication", "NPU 1", 9),
        ("Overlap Analysis", "NPU 0", 8), ("Overlap Analysis", "NPU 1", 9),
        ("AI Core Freq", "NPU 0", 8), ("AI Core Freq", "NPU 1", 9),
    }  # fmt: skip
    assert gather.sources[0].rank is None


def test_that_marks_are_instants_and_ranges_slices(tmp_path: Path) -> None:
    columns = "startNs,endNs,eventType,rangeId,category,message,globalTid,endGlobalTid,domainId,connectionId"
    rows = [(BASE, BASE, 0, 0, 0, 6, THREAD, THREAD, 0, 900), (BASE, BASE + 8, 2, 0, 0, 7, THREAD, THREAD, 0, 1)]
    path = write(
        tmp_path / "a.db",
        {"MSTX_EVENTS": (columns, rows), "TASK": tasks((BASE + 1, BASE + 2, 0)), "STRING_IDS": STRINGS},
    )
    gather = gathered(path)
    assert slices(gather)[:1] == [("MSTX", "Thread 78", BASE, BASE + 8, "group", 2)]
    assert [(time.tolist(), event.tolist()) for _, time, _, event in gather.instants] == [([BASE], [1])]
    assert arrows(gather, "MsTx") == {(BASE, BASE + 1)}
    assert accounted(gather)


def test_that_collections_and_calls_of_the_system_are_shown(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", {
        "GC_RECORD": ("startNs INTEGER,endNs INTEGER,globalTid INTEGER", [(BASE, BASE + 3, THREAD)]),
        "OSRT_API": ("name,globalTid,startNs,endNs", [(9, THREAD, BASE, BASE + 2)]),
        "STRING_IDS": STRINGS,
    })  # fmt: skip
    assert slices(gathered(path)) == [
        ("Python GC", "Thread 78", BASE, BASE + 3, "GC", 1), ("OS Runtime", "Thread 78", BASE, BASE + 2, "Memcpy", 1),
    ]  # fmt: skip


def test_that_counters_are_series_by_their_labels(tmp_path: Path) -> None:
    hbm = "deviceId,timestampNs,bandwidth NUMERIC,hbmId,type"
    memory = "type INTEGER,ddrUsage NUMERIC,hbmUsage NUMERIC,timestampNs INTEGER,deviceId INTEGER"
    record = "component,timestamp,totalAllocated,totalReserved,totalActive,streamPtr,deviceId"
    path = write(tmp_path / "a.db", {
        "HBM": (hbm, [(0, BASE, 5, 1, 5), (0, BASE + 1, 7.5, 1, 5), (0, BASE, 1, 2, 5)]),
        "NPU_MEM": (memory, [(6, None, 9, BASE, 0), (6, None, None, BASE, 0), (6, 1, 1, 0, 0)]),
        "NPU_MODULE_MEM": ("moduleId,timestampNs,totalReserved,deviceId", [(3, BASE, 4, 0), (4, BASE, 4, 0)]),
        "ENUM_MODULE": ("id INTEGER PRIMARY KEY, name TEXT", [(3, "RUNTIME")]),
        "MEMORY_RECORD": (record, [(7, BASE, 1, 2, 3, None, 0)]),
        "CPU_USAGE": ("timestampNs,cpuId,usage", [(BASE, 63, 12.5)]),
        "STRING_IDS": STRINGS,
    })  # fmt: skip
    gather = gathered(path)
    assert samples(gather) == {
        "HBM 1/EVENT_WAIT": [(BASE, 5.0), (BASE + 1, 7.5)], "HBM 2/EVENT_WAIT": [(BASE, 1.0)],
        "MatMul_0/HBM": [(BASE, 9.0)], "RUNTIME Reserved": [(BASE, 4.0)], "#4 Reserved": [(BASE, 4.0)],
        "group Allocated": [(BASE, 1.0)], "group Reserved": [(BASE, 2.0)], "group Active": [(BASE, 3.0)],
        "CPU 63": [(BASE, 12.5)],
    }  # fmt: skip
    assert gather.set_aside == {"timeline.aside.row_time": 1, "timeline.aside.row_figure": 1}
    assert accounted(gather)


def test_that_steps_and_the_rank_are_taken_over(tmp_path: Path) -> None:
    path = write(tmp_path / "a.db", {
        "STEP_TIME": ("id INTEGER, startNs INTEGER, endNs INTEGER", [(50, BASE, BASE + 9), (51, None, 3)]),
        "TASK": tasks((BASE, BASE + 1, 0)),
        "RANK_DEVICE_MAP": ("rankId INTEGER, deviceId INTEGER", [(6, 0)]),
    })  # fmt: skip
    gather = gathered(path)
    assert gather.steps == [(50, BASE, BASE + 9, 0)]
    assert gather.sources[0].rank == 6
    assert accounted(gather)


def test_that_tables_nobody_knows_are_left_alone(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.db",
        {"TASK": tasks((BASE, BASE + 1, 0)), "status_info": ("a", [("x",)]), "no such 表": ("a", [(1,)])},
    )
    assert len(slices(gathered(path))) == 1


def test_that_a_database_of_something_else_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match="none of the tables"):
        gathered(write(tmp_path / "a.db", {"songs": ("a", [(1,)])}))


def test_that_reading_tells_how_far_it_is_and_can_be_stopped(tmp_path: Path) -> None:
    from backends.timeline.db.reader import read_db
    from backends.timeline.gathering import Gathering

    path = write(tmp_path / "a.db", {"TASK": tasks(*((BASE + at, BASE + at, 0) for at in range(150_000)))})
    reports: list[tuple[int, int]] = []
    gather = Gathering()
    read_db(path, gather.source(path, "db"), gather, lambda done, total: reports.append((done, total)))
    size = path.stat().st_size
    assert reports[0] == (0, size)
    assert reports[-1] == (size, size)
    assert len(reports) > 2
    assert reports == sorted(reports)

    def stop(done: int, total: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        read_db(path, gather.source(path, "db"), gather, stop)


TIMES = st.one_of(
    st.integers(BASE, BASE + 1000), st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(max_size=5),
    st.integers(BASE, BASE + 1000).map(str), st.binary(max_size=3), st.integers(-(10**20), 10**20).map(str),
)  # fmt: skip


def untyped(columns: str) -> str:
    """So that each cell is stored as it is given."""
    return columns.replace("INTEGER PRIMARY KEY", "").replace("INTEGER", "").replace("TEXT", "")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(TIMES, TIMES, TIMES, TIMES), max_size=12))
def test_that_odd_values_are_set_aside_and_nothing_is_invented(tmp_path: Path, rows: list[tuple[object, ...]]) -> None:
    path = tmp_path / "odd.db"
    path.unlink(missing_ok=True)
    write(path, {
        "TASK": (untyped(TASK), [(a, b, c, d, at, d, c, a, c, 0, 0) for at, (a, b, c, d) in enumerate(rows)]),
        "PYTORCH_API": (untyped(PYTORCH_API), [(a, b, c, d, d, c, d, None, None, None, d) for a, b, c, d in rows]),
        "COMMUNICATION_OP": (untyped(COMMUNICATION_OP), [(c, a, b, d, c, d) for a, b, c, d in rows]),
        "HBM": ("deviceId,timestampNs,bandwidth,hbmId,type", [(c, a, b, d, c) for a, b, c, d in rows]),
        "CONNECTION_IDS": ("id, connectionId", [(d, c) for _, _, c, d in rows]),
    })  # fmt: skip
    gather = gathered(path)
    good = [
        (start, end, at)
        for at, (start, end) in enumerate(((whole(a), whole(b)) for a, b, _, _ in rows), 1)
        if start != ABSENT and 0 < start <= end < 2**62
    ]
    for process in ("Ascend Hardware", "Python", "Communication"):
        assert sorted((start, end, event) for of, _, start, end, _, event in slices(gather) if of == process) == sorted(
            good
        )
    assert accounted(gather)
