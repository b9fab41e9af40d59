"""A database as torch_npu exports one, with as many rows as a test or a benchmark wants."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from tests.timeline.torch_npu_trace import (
    BASE,
    HOST,
    KERNELS,
    QUEUE,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NONE32 = 4294967295
SCHEMA = """
CREATE TABLE STRING_IDS (id INTEGER PRIMARY KEY,value TEXT);
CREATE TABLE META_DATA (name TEXT,value TEXT);
CREATE TABLE HOST_INFO (hostUid TEXT,hostName TEXT);
CREATE TABLE NPU_INFO (id INTEGER,name TEXT);
CREATE TABLE RANK_DEVICE_MAP (rankId INTEGER, deviceId INTEGER);
CREATE TABLE SESSION_TIME_INFO (startTimeNs INTEGER,endTimeNs INTEGER);
CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER);
CREATE TABLE ENUM_API_TYPE (id INTEGER PRIMARY KEY,name TEXT);
CREATE TABLE TASK (startNs INTEGER,endNs INTEGER,deviceId INTEGER,connectionId INTEGER,globalTaskId INTEGER,
  globalPid INTEGER,taskType INTEGER,contextId INTEGER,streamId INTEGER,taskId INTEGER,modelId INTEGER);
CREATE TABLE COMPUTE_TASK_INFO (name INTEGER,globalTaskId INTEGER PRIMARY KEY,blockDim INTEGER,mixBlockDim INTEGER,
  taskType INTEGER,opType INTEGER,inputFormats INTEGER,inputDataTypes INTEGER,inputShapes INTEGER,outputFormats INTEGER,
  outputDataTypes INTEGER,outputShapes INTEGER,attrInfo INTEGER);
CREATE TABLE CANN_API (startNs INTEGER,endNs INTEGER,type INTEGER,globalTid INTEGER,connectionId INTEGER PRIMARY KEY,
  name INTEGER);
CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER,
  sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER,
  type INTEGER);
CREATE TABLE CONNECTION_IDS (id INTEGER, connectionId INTEGER);
CREATE TABLE AICORE_FREQ (deviceId INTEGER,timestampNs NUMERIC,freq INTEGER);
CREATE INDEX TaskIndex ON TASK (startNs,globalTaskId);
"""
API_TYPES = ((5000, "runtime"), (5500, "hccl"), (10000, "node"), (15000, "model"), (20000, "acl"), (50001, "op"),
             (50002, "queue"), (50003, "trace"), (50004, "mstx"))  # fmt: skip
STRINGS = ("PROFILING_ENABLE", "KERNEL_AICORE", "EVENT_WAIT", "N/A", *KERNELS, "MatMulV3", "ND", "BF16", '"4096,1024"')
OPS = 1 << 28  # where PyTorch's own strings begin
OP_NAMES = ("aten::mm", "Enqueue", "ProfilerStep#0")


def write_db(path: Path, *, tasks: int = 60, compute: int | None = None, api: int | None = None) -> Path:
    """`tasks` rows of TASK, one after the other on three streams of one card; `compute` of them (a third) are named in
    COMPUTE_TASK_INFO; `api` calls (a third) each of PYTORCH_API and CANN_API, tied to tasks by connection."""
    compute = tasks // 3 if compute is None else compute
    api = tasks // 3 if api is None else api
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as base:
        base.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + SCHEMA)
        _small(base, tasks)
        base.executemany(f"INSERT INTO TASK VALUES ({_places(11)})", _tasks(tasks))
        base.executemany(f"INSERT INTO COMPUTE_TASK_INFO VALUES ({_places(13)})", _compute(compute))
        base.executemany(f"INSERT INTO CANN_API VALUES ({_places(6)})", _cann(api))
        base.executemany(f"INSERT INTO PYTORCH_API VALUES ({_places(11)})", _framework(api))
        base.executemany("INSERT INTO CONNECTION_IDS VALUES (?, ?)", ((number, number + 1) for number in range(api)))
        base.commit()
    return path


def _places(count: int) -> str:
    return ",".join("?" * count)


def _small(base: sqlite3.Connection, tasks: int) -> None:
    strings = [*enumerate(STRINGS), *enumerate(OP_NAMES, OPS)]
    base.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", strings)
    base.executemany("INSERT INTO ENUM_API_TYPE VALUES (?, ?)", API_TYPES)
    base.executemany("INSERT INTO META_DATA VALUES (?, ?)", [("SCHEMA_VERSION", "1.0.0")])
    base.execute("INSERT INTO HOST_INFO VALUES ('3538958389648580163', 'ubuntu')")
    base.execute("INSERT INTO NPU_INFO VALUES (0, 'Ascend910B')")
    base.execute("INSERT INTO RANK_DEVICE_MAP VALUES (0, 0)")
    base.execute("INSERT INTO STEP_TIME VALUES (0, ?, ?)", (BASE, BASE + tasks * 2000))
    base.executemany("INSERT INTO AICORE_FREQ VALUES (0, ?, 1800)", [(BASE,), (BASE + tasks * 1000,)])


def _tasks(count: int) -> Iterator[tuple[int, ...]]:
    for number in range(count):
        start = BASE + number * 2000 + number % 7
        kind = 2 if number % 10 == 9 else 1
        yield (start, start + 1500 + number % 400, 0, number + 1, number, HOST, kind, NONE32, 2 + number % 3,
               number % 65536, NONE32)  # fmt: skip


def _compute(count: int) -> Iterator[tuple[int, ...]]:
    for number in range(count):
        yield (4 + number % 3, number, 20, 0, 1, 7, 8, 9, 10, 8, 9, 10, 3)


def _cann(count: int) -> Iterator[tuple[int, ...]]:
    for number in range(count):
        start = BASE + number * 6000 - 3000
        yield start, start + 2000, 10000, (HOST << 32) | QUEUE, number + 1, 4 + number % 3


def _framework(count: int) -> Iterator[tuple[object, ...]]:
    for number in range(count):
        start = BASE + number * 6000 - 5000
        yield (str(start), str(start + 4500), (HOST << 32) | HOST, number, OPS + number % 2, number, 0, None, None,
               None, 50001 + number % 2)  # fmt: skip
