"""The databases of a synthetic rank: the profiler's own and that of its analysis, made from the same trace events."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING, Any

from tests.timeline.torch_npu_trace import (
    HOST,
    Event,
    layer,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NONE32 = 4294967295
ID = "id INTEGER PRIMARY KEY"
SCHEMA = {
    "SESSION_TIME_INFO": "startTimeNs INTEGER,endTimeNs INTEGER",
    "NPU_INFO": "id INTEGER,name TEXT",
    "HOST_INFO": "hostUid TEXT,hostName TEXT",
    "ENUM_HCCL_RDMA_TYPE": f"{ID},name TEXT",
    "ENUM_MSTX_EVENT_TYPE": f"{ID},name TEXT",
    "ENUM_HCCL_LINK_TYPE": f"{ID},name TEXT",
    "ENUM_HCCL_TRANSPORT_TYPE": f"{ID},name TEXT",
    "ENUM_HCCL_DATA_TYPE": f"{ID},name TEXT",
    "ENUM_MODULE": f"{ID},name TEXT",
    "ENUM_API_TYPE": f"{ID},name TEXT",
    "COMPUTE_TASK_INFO": (
        "name INTEGER,globalTaskId INTEGER PRIMARY KEY,blockDim INTEGER,mixBlockDim INTEGER,taskType INTEGER,"
        "opType INTEGER,inputFormats INTEGER,inputDataTypes INTEGER,inputShapes INTEGER,outputFormats INTEGER,"
        "outputDataTypes INTEGER,outputShapes INTEGER,attrInfo INTEGER"
    ),
    "NPU_MEM": "type INTEGER,ddr NUMERIC,hbm NUMERIC,timestampNs INTEGER,deviceId INTEGER",
    "CANN_API": (
        "startNs INTEGER,endNs INTEGER,type INTEGER,globalTid INTEGER,connectionId INTEGER PRIMARY KEY,name INTEGER"
    ),
    "TASK": (
        "startNs INTEGER,endNs INTEGER,deviceId INTEGER,connectionId INTEGER,globalTaskId INTEGER,globalPid INTEGER,"
        "taskType INTEGER,contextId INTEGER,streamId INTEGER,taskId INTEGER,modelId INTEGER"
    ),
    "COMMUNICATION_TASK_INFO": (
        "name INTEGER,globalTaskId INTEGER,taskType INTEGER,planeId INTEGER,groupName INTEGER,notifyId INTEGER,"
        "rdmaType INTEGER,srcRank INTEGER,dstRank INTEGER,transportType INTEGER,size INTEGER,dataType INTEGER,"
        "linkType INTEGER,opId INTEGER"
    ),
    "NPU_OP_MEM": (
        "operatorName INTEGER,addr INTEGER,type INTEGER,size INTEGER,timestampNs INTEGER,globalTid INTEGER,"
        "totalAllocate NUMERIC,totalReserve NUMERIC,component INTEGER,deviceId INTEGER"
    ),
    "NPU_MODULE_MEM": "moduleId INTEGER,timestampNs INTEGER,totalReserved NUMERIC,deviceId INTEGER",
    "TASK_PMU_INFO": "globalTaskId INTEGER,name INTEGER,value NUMERIC",
    "HBM": "deviceId INTEGER,timestampNs INTEGER,bandwidth NUMERIC,hbmId INTEGER,type INTEGER",
    "LLC": "deviceId INTEGER,llcId INTEGER,timestampNs INTEGER,hitRate REAL,throughput INTEGER,mode INTEGER",
    "META_DATA": "name TEXT,value TEXT",
    "SOC_BANDWIDTH_LEVEL": "l2BufferBwLevel INTEGER,mataBwLevel INTEGER,timestampNs NUMERIC,deviceId INTEGER",
    "ACC_PMU": (
        "accId INTEGER,readBwLevel INTEGER,writeBwLevel INTEGER,readOstLevel INTEGER,writeOstLevel INTEGER,"
        "timestampNs NUMERIC,deviceId INTEGER"
    ),
    "AICORE_FREQ": "deviceId INTEGER,timestampNs NUMERIC,freq INTEGER",
    "COMMUNICATION_OP": (
        "opName INTEGER,startNs INTEGER,endNs INTEGER,connectionId INTEGER,groupName INTEGER,opId INTEGER PRIMARY KEY,"
        "relay INTEGER,retry INTEGER,dataType INTEGER,algType INTEGER,count NUMERIC,opType INTEGER"
    ),
    "STRING_IDS": f"{ID},value TEXT",
    "RANK_DEVICE_MAP": "rankId INTEGER, deviceId INTEGER",
    "STEP_TIME": "id INTEGER, startNs INTEGER, endNs INTEGER",
    "PYTORCH_API": (
        "startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, sequenceNumber INTEGER,"
        " fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER"
    ),
    "CONNECTION_IDS": "id INTEGER, connectionId INTEGER",
    "MEMORY_RECORD": (
        "component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER, totalActive INTEGER,"
        " streamPtr INTEGER, deviceId INTEGER"
    ),
    "OP_MEMORY": (
        "name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, activeReleaseTime INTEGER,"
        " duration INTEGER, activeDuration INTEGER, allocationTotalAllocated INTEGER, allocationTotalReserved INTEGER,"
        " allocationTotalActive INTEGER, releaseTotalAllocated INTEGER, releaseTotalReserved INTEGER,"
        " releaseTotalActive INTEGER, streamPtr INTEGER, deviceId INTEGER"
    ),
    "PYTORCH_CALLCHAINS": "id INTEGER, stack INTEGER, stackDepth INTEGER",
}
INDEXES = (
    "CREATE INDEX CommunicationTaskIndex ON COMMUNICATION_TASK_INFO (globalTaskId)",
    "CREATE INDEX TaskIndex ON TASK (startNs,globalTaskId)",
)
ENUMS = {
    "ENUM_HCCL_RDMA_TYPE": ((0, "RDMA_SEND_NOTIFY"), (65535, "INVALID_TYPE")),
    "ENUM_MSTX_EVENT_TYPE": ((0, "marker"), (1, "push/pop"), (2, "start/end"), (3, "marker_ex")),
    "ENUM_HCCL_LINK_TYPE": ((0, "ON_CHIP"), (1, "HCCS"), (2, "PCIE"), (3, "ROCE"), (4, "SIO")),
    "ENUM_HCCL_TRANSPORT_TYPE": ((0, "SDMA"), (1, "RDMA"), (2, "LOCAL"), (65535, "INVALID_TYPE")),
    "ENUM_HCCL_DATA_TYPE": ((0, "INT8"), (3, "FP16"), (4, "FP32")),
    "ENUM_MODULE": ((0, "SLOG"), (3, "HCCL"), (7, "RUNTIME")),
    "ENUM_API_TYPE": ((5000, "runtime"), (5500, "hccl"), (10000, "node"), (15000, "model"), (20000, "acl"),
                      (50001, "op"), (50002, "queue"), (50003, "trace"), (50004, "mstx")),
}  # fmt: skip
ANALYSIS = {
    "StepTraceTime": (
        "step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC, overlapped NUMERIC,"
        " communication NUMERIC, free NUMERIC, stage NUMERIC, bubble NUMERIC,"
        " communication_not_overlapped_and_exclude_receive NUMERIC, preparing NUMERIC"
    ),
    "CommAnalyzerBandwidth": (
        "hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC,"
        " bandwidth NUMERIC, large_packet_ratio NUMERIC, package_size NUMERIC, count NUMERIC, total_duration NUMERIC,"
        " step TEXT, type TEXT"
    ),
    "CommAnalyzerMatrix": (
        "hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT, transport_type TEXT, transit_size NUMERIC,"
        " transit_time NUMERIC, bandwidth NUMERIC, step TEXT, type TEXT, op_name TEXT"
    ),
    "CommAnalyzerTime": (
        "hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, elapse_time NUMERIC, transit_time NUMERIC,"
        " wait_time NUMERIC, synchronization_time NUMERIC, idle_time NUMERIC, step TEXT, type TEXT"
    ),
}
FIRST_CHAIN, FIRST_TASK = 99, 3
CATEGORIES = {"cpu_op": 50001, "enqueue": 50002, "dequeue": 50002, "python_function": 50003}


def write_rank_db(path: Path, rank: int, events: Sequence[Event], stack: Sequence[str]) -> None:
    """Write the profiler's database of one rank. `stack`: the frames of every operator, innermost first."""
    rows = _Rows(rank, stack)
    for event in events:
        if event["ph"] == "X":
            rows.add(event)
    rows.add_counters()
    _write(path, SCHEMA, {**rows.tables, **ENUMS})


def write_analysis(path: Path, step: Sequence[Any], communication: dict[str, Any], matrix: dict[str, Any]) -> None:
    """Write analysis.db with the contents of step_trace_time.csv and of both files of communication."""
    tables: dict[str, list[tuple[Any, ...]]] = {"StepTraceTime": [(str(step[0]), *step[1:])]}
    ((step_name, kinds),) = communication.items()
    for title, info in kinds["collective"].items():
        name, group = title.split("@")
        times, links = info["Communication Time Info"], info["Communication Bandwidth Info"]
        figures = list(times.values())[:6]
        tables.setdefault("CommAnalyzerTime", []).append((name, group, *figures, step_name, "collective"))
        for kind, link in links.items():
            if link["Transit Size(MB)"]:
                row = (name, group, kind, *list(link.values())[:4], 2.0625, 12, 1.5, step_name, "collective")
                tables.setdefault("CommAnalyzerBandwidth", []).append(row)
    for title, pairs in matrix[step_name]["collective"].items():
        name, group = title.split("@")
        for pair, link in pairs.items():
            kind, *figures, operation = link.values()
            row = (name, group, *pair.split("-"), kind, *figures, step_name, "collective", operation)
            tables.setdefault("CommAnalyzerMatrix", []).append(row)
    _write(path, ANALYSIS, tables)


def _write(path: Path, schema: dict[str, str], tables: dict[str, Any]) -> None:
    with closing(sqlite3.connect(path)) as base:
        for table, columns in schema.items():
            base.execute(f"CREATE TABLE {table} ({columns})")
            for row in tables.get(table, ()):
                base.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)
        for line in INDEXES if schema is SCHEMA else ():
            base.execute(line)
        base.commit()


class _Rows:
    """The rows of a rank's database, by table."""

    def __init__(self, rank: int, stack: Sequence[str]) -> None:
        self.rank, self.stack = rank, stack
        self.tables: defaultdict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self._strings: defaultdict[str, int] = defaultdict(count().__next__)
        self._connections = count()
        self._tasks = count(FIRST_TASK)
        self._operation: tuple[int, int, str] = (0, 0, "")  # connection, id and name of the current communication

    def add(self, event: Event) -> None:
        start = int(event["ts"].replace(".", ""))
        end = start + round(event["dur"] * 1000)
        pids = {HOST: self._add_host, layer("CANN", self.rank): self._add_cann,
                layer("Ascend Hardware", self.rank): self._add_kernel,
                layer("Communication", self.rank): self._add_communication}  # fmt: skip
        if event["name"].startswith("ProfilerStep#"):
            self._start, self._end = start, end
            self.tables["STEP_TIME"].append((int(event["name"].partition("#")[2]), start, end))
        if event["pid"] in pids:
            pids[event["pid"]](event, start, end)

    def _add_host(self, event: Event, start: int, end: int) -> None:
        category, args, text = event["cat"], event.get("args", {}), self._strings.__getitem__
        connection = next(self._connections)
        chain = shapes = dtypes = sequence = forward = None
        number = args.get("Sequence number", args.get("correlation_id"))
        if number is not None:
            self.tables["CONNECTION_IDS"].append((connection, number if category == "cpu_op" else 10_000 + number))
        if "Call stack" in args:
            chain, sequence = FIRST_CHAIN + number - 1, (number + 1) // 2
            forward = 0 if number % 2 else number  # odd operators run forward, even ones backward
            shapes, dtypes = text("32,4096"), text("float")
            for depth, frame in enumerate(self.stack):
                self.tables["PYTORCH_CALLCHAINS"].append((chain, text(frame), depth))
        thread = (HOST << 32) | event["tid"]
        self.tables["PYTORCH_API"].append(
            (str(start), str(end), thread, connection if number is not None else None, text(event["name"]), sequence,
             forward, dtypes, shapes, chain, CATEGORIES[category])
        )  # fmt: skip

    def _add_cann(self, event: Event, start: int, end: int) -> None:
        thread, connection = (HOST << 32) | event["tid"], event["args"]["connection_id"]
        name = self._strings[event["name"]]
        self.tables["CANN_API"].append((start, end, 10000, thread, connection, name))

    def _add_task(self, start: int, end: int, connection: int, kind: str, stream: int) -> int:
        task = next(self._tasks)
        row = (start, end, self.rank, connection, task, HOST, self._strings[kind], NONE32, stream, task, NONE32)
        self.tables["TASK"].append(row)
        return task

    def _add_kernel(self, event: Event, start: int, end: int) -> None:
        args, text = event["args"], self._strings.__getitem__
        task = self._add_task(start, end, args["connection_id"], "AI_CORE", args["Physic Stream Id"])
        tensor = (text("NCHW"), text("FLOAT"), text('"32,3,224,224"'))
        name = "trans_TransData_0" if task == FIRST_TASK else event["name"]
        info = (text(name), task, 20, 0, text("AI_CORE"), text("TransData"), *tensor, *tensor, text("N/A"))
        self.tables["COMPUTE_TASK_INFO"].append(info)
        for metric, value in (("aiv_total_cycles", 2_874_988), ("aic_mac_ratio", 0.25)):
            self.tables["TASK_PMU_INFO"].append((task, text(metric), value))

    def _add_communication(self, event: Event, start: int, end: int) -> None:
        text, args = self._strings.__getitem__, event["args"]
        group = text("17148521525495523210")
        if event["name"].startswith("hcom_"):
            self._operation = args["connection_id"], len(self.tables["COMMUNICATION_OP"]) + 1, event["name"]
            connection, number, name = self._operation
            self.tables["COMMUNICATION_OP"].append(
                (text(name), start, end, connection, group, number, 0, 0, 4, text("MESH-RING"), args["count"],
                 text("hcom_allReduce_"))
            )  # fmt: skip
            self._add_task(start, start + 1_000, connection, "AI_CORE", 2)
            return
        connection, number, name = self._operation
        task = self._add_task(start, end, connection, "EVENT_WAIT", 4)
        kind = "Memcpy" if len(self.tables["COMMUNICATION_TASK_INFO"]) == 1 else event["name"]
        self.tables["COMMUNICATION_TASK_INFO"].append(
            (text(name), task, text(kind), event["tid"] - 1, group, 0, 65535, 0, 1, 0, 4096, 4, 0, number)
        )

    def add_counters(self) -> None:
        """Add the tables of counters and the small ones, once the step is known."""
        rank, text, tables = self.rank, self._strings.__getitem__, self.tables
        for time in range(self._start, self._end, 400_000):
            tables["NPU_MEM"].append((text("app"), 0, 2_212_077_568, time, rank))
            tables["NPU_OP_MEM"].append((text("aten::mm"), 20617629794304, text("alloc"), 4096, time, HOST << 32, 8192,
                                         65536, text("GE"), rank))  # fmt: skip
            tables["NPU_MODULE_MEM"] += [(module, time, 4096, rank) for module, _ in ENUMS["ENUM_MODULE"]]
            tables["HBM"] += [(rank, time, 12_500_000, hbm, text(kind)) for hbm in (0, 1) for kind in ("read", "write")]
            tables["LLC"].append((rank, 0, time, 90.2, 4096, text("read")))
            tables["SOC_BANDWIDTH_LEVEL"].append((0, 1, time, rank))
            tables["ACC_PMU"].append((0, 1, 2, 3, 4, time, rank))
            tables["AICORE_FREQ"].append((rank, time, 1800))
            tables["MEMORY_RECORD"].append((text("PTA"), time, 981_462_016, 1_522_532_352, 981_462_016, 897461056,
                                            rank))  # fmt: skip
            tables["OP_MEMORY"].append((text("aten::mm"), 4096, time, *(None,) * 4, 8192, 65536, 8192, *(None,) * 3,
                                        897461056, rank))  # fmt: skip
        tables["SESSION_TIME_INFO"].append((self._start - 1000, self._end + 1000))
        tables["NPU_INFO"].append((rank, "Ascend910B"))
        tables["HOST_INFO"].append(("3538958389648580163", "ubuntu"))
        tables["RANK_DEVICE_MAP"].append((rank, rank))
        tables["META_DATA"] += [("SCHEMA_VERSION", "1.0.0"), ("SCHEMA_VERSION_MAJOR", "1")]
        tables["STRING_IDS"] = [(number, value) for value, number in self._strings.items()]
