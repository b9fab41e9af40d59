"""Small profiles in the formats of the real ones: the same files, columns, keys and tables, with invented contents.

The tree below `write_profiles` is that of the real profiles: one step of two ranks as torch_npu writes it as text, the
same as a database, a Kineto trace and a MindSpore trace. A test compares the layout of every file with the real one.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tests.timeline.other_traces import kineto, mindspore
from tests.timeline.synthetic_db import write_analysis, write_rank_db
from tests.timeline.torch_npu_trace import (
    BASE,
    HOST,
    Event,
    communication_events,
    counter_events,
    kernel_events,
    lane_names,
    layer,
    microseconds,
    slice_of,
    write_array,
    write_object,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    Spans = list[tuple[int, int]]

RANKS = 2
STEP = 50
KERNELS = 24
COMMUNICATIONS = 4
LENGTH = 3_900_000  # ns of the step
KERNEL_NAMES = ("trans_TransData_{}", "aclnnAddmm_MatMulCommon_MatMulV2", "aclnnInplaceCopy_TensorMove_TensorMove",
                "Conv2D{}")  # fmt: skip
STACK = ("/home/user/torch/nn/functional.py(1469): relu", "/home/user/main.py(12): forward", "<string>(1): <module>")
CALL_NAMES = ("AscendCL@aclnnAdd", "Node@launch", "Runtime@KernelLaunch", "Model@execute", "AscendCL@aclrtMemcpy")
OVERLAP = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
GROUP = {"text": 586, "db": 210}
DELAY = {"text": 0, "db": 1_680_000_000_000}  # ns: the database is a capture of its own, 28 minutes later
OUTPUT = "ASCEND_PROFILER_OUTPUT"

KERNEL_HEAD = (
    "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
    "Block Dim,Mix Block Dim,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
    "Output Formats,Context ID,aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,aic_scalar_time(us),"
    "aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,aic_fixpipe_time(us),"
    "aic_fixpipe_ratio,aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,"
    "aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),aiv_mte2_ratio,aiv_mte3_time(us),aiv_mte3_ratio,"
    "aiv_icache_miss_rate,cube_utilization(%)"
)
OPERATOR_HEAD = (
    "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),"
    "Device Total Duration(us),Device Self Duration With AICore(us),Device Total Duration With AICore(us)"
)
OPERATOR_MEMORY_HEAD = (
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),"
    "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),"
    "Release Total Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type"
)
STEP_HEAD = (
    "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing"
)


def write_profiles(folder: Path) -> Path:
    """Write all synthetic profiles into a folder, and return it."""
    for rank in range(RANKS):
        for kind in ("text", "db"):
            rank_folder = folder / "ascend_pytorch_2rank" / kind / f"rank{rank}_ascend_pt"
            (rank_folder / OUTPUT).mkdir(parents=True)
            _write_info(rank_folder, rank, kind)
            events = rank_events(rank, kind)
            if kind == "text":
                _write_text(rank_folder, rank, events)
            else:
                write_rank_db(rank_folder / OUTPUT / f"ascend_pytorch_profiler_{rank}.db", rank, events, STACK)
                write_analysis(
                    rank_folder / OUTPUT / "analysis.db", _step_row(events), _communication(events), _matrix(events)
                )
    head = {"with_stack": 1, "profile_memory": 1, "record_shapes": 1, "with_modules": 1, "with_flops": 1}
    trace = kineto(120)
    write_object(folder / "torch_cpu" / "trace.json", {"schemaVersion": 1, **head, **trace})
    _write_mindspore(folder / "mindspore_cpu" / "run_ascend_ms")
    return folder


def rank_events(rank: int, kind: str) -> list[Event]:
    """The trace events of one rank: one step with kernels, communication operators, counters and the overlap rows."""
    begin = BASE + 1_000 * rank + DELAY[kind]
    events = list(lane_names(rank))
    events.append(slice_of(f"ProfilerStep#{STEP}", HOST, HOST, begin, LENGTH, cat="cpu_op"))
    for number in range(KERNELS):
        name = KERNEL_NAMES[number % 4].format(number)
        parts = kernel_events(number + 1, begin + 20_000 + number * 90_000, ";\r\n".join(STACK[1:]), rank, name)
        events += [
            _named_call(event, number, rank) for event in parts if event["pid"] != layer("Overlap Analysis", rank)
        ]
    for number in range(COMMUNICATIONS):
        start = begin + 1_000_000 + number * 600_000
        parts = list(communication_events(start, number, rank, group=GROUP[kind], length=360_000 + 9_000 * rank))
        events += [event for event in parts if event["pid"] != layer("Overlap Analysis", rank)]
    events += counter_events(begin, rank)
    return [*events, *_overlap(events, rank)]


def _named_call(event: Event, number: int, rank: int) -> Event:
    """Give the calls of CANN several names, so that a table of them has several rows."""
    is_call = event["ph"] == "X" and event["pid"] == layer("CANN", rank)
    return event | {"name": CALL_NAMES[number % len(CALL_NAMES)]} if is_call else event


def _spans(events: Iterable[Event]) -> Spans:
    starts = [int(event["ts"].replace(".", "")) for event in events]
    return [(start, start + round(event["dur"] * 1000)) for start, event in zip(starts, events, strict=True)]


def _overlap(events: Sequence[Event], rank: int) -> Iterator[Event]:
    """The rows of Overlap Analysis, from kernels and communication operators between the first and the last."""
    compute = _spans([event for event in events if _is_kernel(event)])
    communication = _spans([event for event in events if event["name"].startswith("hcom_")])
    edges = sorted({edge for span in (*compute, *communication) for edge in span})
    rows: dict[str, Spans] = defaultdict(list)
    for begin, end in pairwise(edges):
        computes, communicates = (any(a <= begin < b for a, b in spans) for spans in (compute, communication))
        names = [name for name, holds in zip(
            OVERLAP, (computes, communicates, communicates and not computes, not computes and not communicates),
            strict=True,
        ) if holds]  # fmt: skip
        for name in names:
            if rows[name] and rows[name][-1][1] == begin:
                rows[name][-1] = (rows[name][-1][0], end)
            else:
                rows[name].append((begin, end))
    for number, name in enumerate(OVERLAP):
        for begin, end in rows[name]:
            yield slice_of(name, layer("Overlap Analysis", rank), number, begin, end - begin)


def _is_kernel(event: Event) -> bool:
    return event["ph"] == "X" and event.get("args", {}).get("Task Type") == "AI_CORE"


def _write_info(folder: Path, rank: int, kind: str) -> None:
    common = {"activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"],
              "schedule": {"wait": 0, "active": 1, "warmup": 1, "repeat": 1, "skip_first": 48},
              "record_shapes": True, "profile_memory": True, "with_stack": True, "with_flops": False,
              "with_modules": True}  # fmt: skip
    experimental = {"_profiler_level": "Level1", "_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION", "_l2_cache": True,
                    "_msprof_tx": False, "_data_simplification": True, "record_op_args": False, "_export_type": kind,
                    "_op_attr": False, "_gc_detect_threshold": None}  # fmt: skip
    info = {"config": {"common_config": common, "experimental_config": experimental},
            "start_info": {"syscnt_enable": True, "freq": 100, "start_cnt": 17238197612056,
                           "start_monotonic": 172163581670080},
            "end_info": {"collectionTimeEnd": BASE + LENGTH, "MonotonicTimeEnd": 172163581670080 + LENGTH},
            "rank_id": rank}  # fmt: skip
    (folder / f"profiler_info_{rank}.json").write_text(json.dumps(info, indent=4), "utf-8")
    if kind == "text":
        metadata = {"ENV_VARIABLES": {"ASCEND_GLOBAL_LOG_LEVEL": "", "ASCEND_LAUNCH_BLOCKING": ""}}
        (folder / "profiler_metadata.json").write_text(json.dumps(metadata, indent=4), "utf-8")


def _write_text(folder: Path, rank: int, events: list[Event]) -> None:
    output = folder / OUTPUT
    write_array(output / "trace_view.json", events)
    kernels = [event for event in events if _is_kernel(event)]
    operators = [event for event in events if event.get("cat") == "cpu_op"]
    calls = [event for event in events if event["ph"] == "X" and event["pid"] == layer("CANN", rank)]
    device, begin = f"NPU:{rank}", BASE + 1_000 * rank
    times = [f"{microseconds(begin + number * 400_000)}\t" for number in range(9)]
    _table(output / "kernel_details.csv", KERNEL_HEAD, map(_kernel_row, [*kernels, *_operations(events)]))
    _table(output / "l2_cache.csv", "Stream Id,Task Id,Hit Rate,Victim Rate,Op Name",
           ([event["args"]["Physic Stream Id"], event["args"]["Task Id"], 0.5, 0.25, event["name"]]
            for event in kernels))  # fmt: skip
    _table(output / "operator_details.csv", OPERATOR_HEAD, map(_operator_row, operators))
    _table(output / "operator_memory.csv", OPERATOR_MEMORY_HEAD,
           ([event["name"], 512.5, f"{event['ts']}\t", "", "", "", "", 954.5, 1452.0, 954.5, "", "", "", 897357296,
             device] for event in operators))  # fmt: skip
    _table(output / "memory_record.csv",
           "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type",
           [*(["APP", time, "", 2109.6015625, "", "", device] for time in times),
            *(["PTA", time, 100.5, 1452.0, 90.5, 897357296, device] for time in times)])  # fmt: skip
    _table(output / "npu_module_mem.csv", "Component,Timestamp(us),Total Reserved(MB),Device",
           ([component, time, 1.5, device] for component in ("SLOG", "HCCL", "RUNTIME") for time in times))  # fmt: skip
    _table(output / "op_statistic.csv",
           "OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)",
           _statistics(kernels, "AI_CORE"))  # fmt: skip
    _table(output / "api_statistic.csv", "Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance",
           (["node", name, total, count, mean, low, high, 0.0]
            for name, _, count, total, low, mean, high, _ in _statistics(calls, "")))  # fmt: skip
    _table(output / "step_trace_time.csv", STEP_HEAD, [_step_row(events)])
    (output / "communication.json").write_text(json.dumps(_communication(events)), "utf-8")
    (output / "communication_matrix.json").write_text(json.dumps(_matrix(events)), "utf-8")


def _table(path: Path, head: str, rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(head + "\n")
        csv.writer(file, lineterminator="\n").writerows(rows)


def _kernel_row(event: Event) -> list[object]:
    args, zeros = event["args"], [0.0] * 24
    operation = event["name"].startswith("hcom_")
    kind, core = ("hcom_allReduce_", "HCCL") if operation else ("MatMulV2", "AI_CORE")
    ids = [STEP, *(args.get(name, 0) for name in ("Model Id", "Task Id", "Physic Stream Id"))]
    tensors = ['"4096,1024;1024,512"', "BF16;BF16", "ND;ND", '"4096,512"', "BF16", "ND", "N/A"]
    times = [f"{event['ts']}\t", event["dur"], 1.5]
    return [*ids, event["name"], kind, "dynamic", core, *times, 20, 0, "NO", *tensors, event["dur"], *zeros]


def _operator_row(event: Event) -> list[object]:
    args = event.get("args", {})
    return [event["name"], str(args.get("Input Dims", "")).replace(";\r\n", ";"),
            str(args.get("Call stack", "")).replace("\r\n", "\n"), event["dur"], event["dur"], 5.0, 5.0, 5.0,
            5.0]  # fmt: skip


def _statistics(events: Sequence[Event], core: str) -> Iterator[tuple[Any, ...]]:
    by_name: dict[str, list[float]] = defaultdict(list)
    for event in events:
        by_name[event["name"]].append(event["dur"])
    total = sum(map(sum, by_name.values()))
    for name, times in by_name.items():
        yield (name, core, len(times), round(sum(times), 3), min(times), round(sum(times) / len(times), 3), max(times),
               round(100 * sum(times) / total, 3))  # fmt: skip


def _step_row(events: Sequence[Event]) -> list[object]:
    """The overlap rows summed as the profiler does, in microseconds."""
    sums = {name: sum(end - begin for begin, end in _spans([e for e in events if e["name"] == name and e["ph"] == "X"]))
            for name in OVERLAP}  # fmt: skip
    computing, communication, exposed, free = (sums[name] / 1000 for name in OVERLAP)
    stage = computing + exposed + free
    return [STEP, computing, exposed, communication - exposed, communication, free, stage, 0, exposed, 20.0]


def _operations(events: Sequence[Event]) -> list[Event]:
    return [event for event in events if event["name"].startswith("hcom_")]


def _communication(events: Sequence[Event]) -> dict[str, Any]:
    names = ("RDMA", "HCCS", "PCIE", "SDMA", "SIO")
    operations: dict[str, Any] = {}
    for event in _operations(events):
        elapsed = event["dur"] / 1000
        times = {"Start Timestamp(us)": float(event["ts"]), "Elapse Time(ms)": elapsed, "Transit Time(ms)": 0.125,
                 "Wait Time(ms)": 0.05, "Synchronization Time(ms)": 0.025, "Idle Time(ms)": elapsed - 0.175,
                 "Wait Time Ratio": 0.2857, "Synchronization Time Ratio": 0.1667}  # fmt: skip
        links = {}
        for name in names:
            carries = name in ("HCCS", "SDMA")
            links[name] = {"Transit Size(MB)": 28.5 if carries else 0, "Transit Time(ms)": 1.75 if carries else 0,
                           "Bandwidth(GB/s)": 15.75 if carries else 0, "Large Packet Ratio": 0,
                           "Size Distribution": {"2.0625": [12, 1.5]} if name == "HCCS" else {}}  # fmt: skip
        operations[f"{event['name']}@17522688603477080586"] = {
            "Communication Time Info": times, "Communication Bandwidth Info": links,
        }  # fmt: skip
    return {f"step{STEP}": {"p2p": {}, "collective": operations}}


def _matrix(events: Sequence[Event]) -> dict[str, Any]:
    operation = _operations(events)[0]["name"]
    pairs = {pair: {"Transport Type": "LOCAL" if pair[0] == pair[2] else "HCCS", "Transit Size(MB)": 4.125,
                    "Transit Time(ms)": 0.0625, "Bandwidth(GB/s)": 502.25, "Op Name": operation}
             for pair in ("0-0", "0-1")}  # fmt: skip
    names = ("allreduce-top1", "allreduce-middle", "allreduce-bottom1", "allreduce-total")
    return {f"step{STEP}": {"p2p": {}, "collective": {f"{name}@17522688603477080586": pairs for name in names}}}


def _write_mindspore(folder: Path) -> None:
    write_array(folder / OUTPUT / "trace_view.json", mindspore(120, base=1_795_198_561_087_324_162))
    files = {
        "cpu_op_detail_info_0.csv": "op_side,op_type,op_name,full_op_name,op_occurrences,op_total_time(ms),"
        "op_avg_time(ms),total_proportion,subgraph,pid\nHost,MatMul,MatMul-op0,Default/MatMul-op0,3,0.005,0.0017,"
        "5.5e-06,Default,24430\n",
        "cpu_op_type_info_0.csv": "op_type,type_occurrences,execution_frequency(per-step),total_compute_time,"
        "avg_time(ms),percent\nMatMul,6,1,0.113791,0.0189652,0.00012747\n",
        "cpu_ms_memory_record_0.txt": "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n"
        "1795198560127575382,38912,1073741824,38912\n1795198560127631967,39424,1073741824,39424\n",
        "cpu_op_execute_timestamp_0.txt": "Default/MatMul-op0;HostCpuOps;1795198561087324125,0.008423,0 \n",
        "cpu_framework_0.txt": ";;452930967;\nMatMul;MatMul-op0;452930967;input_1:[32, 32];input_2:[32];\n",
    }
    (folder / "FRAMEWORK").mkdir(parents=True)
    for name, text in files.items():
        (folder / "FRAMEWORK" / name).write_text(text, "utf-8")
