"""Small traces as the profilers write them, made when a test runs: the repository holds nobody's profile.

The layout is that of `facts/profiler.md` 2.1 (text microseconds with three decimals, pid by host, layer
and device, flow ids above 2^53). Those of MindSpore, Kineto and chrome are made in `other_traces`.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Event = dict[str, Any]

BASE = 1_736_412_474_714_258_990  # ns since the epoch
HOST = 3_096_504
QUEUE = HOST + 3539
LAYERS = {
    "CANN": 7, "Ascend Hardware": 13, "AI Core Freq": 14, "Communication": 15, "HBM": 17, "Acc PMU": 21,
    "Overlap Analysis": 23,
}  # fmt: skip
OVERLAP_ROWS = ("Computing", "Communication", "Communication(Not Overlapped)", "Free")
KERNELS = ("aclnnMatmul_MatMulV3Common_MatMulV3", "aclnnAdd_AddAiCore_Add", "aclnnSoftmax_SoftmaxV2")
STACK = "/home/user/model.py(12): forward;\r\n/home/user/train.py(40): <module>"
STEP = 4_000_000


def microseconds(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03d}"


def layer(name: str, device: int = 0) -> int:
    return (HOST << 10) | (LAYERS[name] << 5) | device


def torch_npu(
    *, steps: int = 2, kernels: int = 12, base: int = BASE, stack: str = STACK, device: int = 0
) -> list[Event]:
    """Events of `steps` steps of 4 ms with `kernels` kernels each, at most 40, in blocks that are not in order of time.
    Among them: a dangling end of a flow, slices of one stream that overlap partially, one of no length, a duration of
    eight decimals. `stack`: of the framework's operators, lines joined as torch_npu does."""
    events = list(lane_names(device))
    for step in range(steps):
        begin = base + step * STEP
        events.append(slice_of(f"ProfilerStep#{step}", HOST, HOST, begin, 3_900_000, cat="cpu_op"))
        for number in range(kernels):
            events += kernel_events(step * kernels + number + 1, begin + 20_000 + number * 90_000, stack, device)
        events += communication_events(begin + 1_000_000, step, device)
        events += counter_events(begin, device)
    return events + _oddities(base, device)


def lane_names(device: int) -> Iterator[Event]:
    yield from process_of(HOST, "Python", "CPU", 0)
    yield thread_of(HOST, HOST, f"Thread {HOST}")
    yield thread_of(HOST, QUEUE, f"Thread {QUEUE}")
    for name, sort in LAYERS.items():
        yield from process_of(layer(name, device), name, "CPU" if name == "CANN" else f"NPU {device}", sort)
    yield thread_of(layer("CANN", device), QUEUE, f"Thread {QUEUE}")
    for stream in (2, 3):
        yield thread_of(layer("Ascend Hardware", device), stream, f"Stream {stream}")
    for plane, name in enumerate(("Group 0 Communication", "Plane 0", "Plane 1")):
        yield thread_of(layer("Communication", device), plane, name)
    for row, name in enumerate(OVERLAP_ROWS):
        yield thread_of(layer("Overlap Analysis", device), row, name)


def process_of(pid: int, name: str, label: str, sort: int) -> Iterator[Event]:
    for key, figure, value in (("name", "name", name), ("labels", "labels", label), ("sort_index", "sort_index", sort)):
        yield {"ph": "M", "name": f"process_{key}", "pid": pid, "tid": 0, "args": {figure: value}}


def thread_of(pid: int, tid: int, name: str) -> Event:
    return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}


def slice_of(name: str, pid: int, tid: int, start: int, length: int, args: Event | None = None, cat: str = "") -> Event:
    event = {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": microseconds(start), "dur": length / 1000}
    return event | ({"cat": cat} if cat else {}) | ({"args": args} if args is not None else {})


def _end(phase: str, cat: str, name: str, flow: int | str, pid: int, tid: int, time: int) -> Event:
    event = {"ph": phase, "name": name, "id": flow, "pid": pid, "tid": tid, "ts": microseconds(time), "cat": cat}
    return event | ({"bp": "e"} if phase == "f" else {})


def kernel_events(number: int, begin: int, stack: str, device: int, name: str = "") -> list[Event]:
    """From the Python function to the kernel on its stream, and the three flows that tie them."""
    cann, hardware, overlap = (layer(name, device) for name in ("CANN", "Ascend Hardware", "Overlap Analysis"))
    name, stream = name or KERNELS[number % 3], 2 + number % 2
    queued, kernel, length = begin + 12_000, begin + 40_000, 8_000 + 1_000 * (number % 20)
    shapes = {"Sequence number": number, "Fwd thread id": 0, "Input Dims": "4096,1024;\r\n1024,512",
              "Input type": "c10::BFloat16;\r\nc10::BFloat16", "Call stack": stack}  # fmt: skip
    launch = {"Thread Id": QUEUE, "level": "node", "id": "0", "item_id": name, "connection_id": number}
    task = {"Model Id": 4294967295, "Task Type": "AI_CORE", "Physic Stream Id": stream, "Task Id": number,
            "connection_id": number}  # fmt: skip
    return [
        slice_of("train.py(40): step", HOST, HOST, begin, 50_000, {"Python id": number}, "python_function"),
        slice_of("aten::mm", HOST, HOST, begin + 1_000, 30_000, shapes, "cpu_op"),
        slice_of("Enqueue", HOST, HOST, begin + 2_000, 3_000, {"correlation_id": number}, "enqueue"),
        _end("s", "async_task_queue", "enqueue_to_dequeue", number, HOST, HOST, begin + 2_000),
        slice_of("Dequeue@mm", HOST, QUEUE, queued, 20_000, {"correlation_id": number}, "dequeue"),
        _end("f", "async_task_queue", "enqueue_to_dequeue", number, HOST, QUEUE, queued),
        slice_of("Node@launch", cann, QUEUE, queued + 2_000, 9_000, launch),
        _end("s", "HostToDevice", f"HostToDevice{number}", str(number), cann, QUEUE, queued + 2_000),
        _end("f", "HostToDevice", f"HostToDevice{number}", str(number), hardware, stream, kernel),
        slice_of(name, hardware, stream, kernel, length, task),
        _end("s", "async_npu", "torch_to_npu", kernel, HOST, HOST, begin + 1_000),
        _end("f", "async_npu", "torch_to_npu", kernel, hardware, stream, kernel),
        slice_of("Computing", overlap, 0, kernel, length),
        slice_of("Free", overlap, 3, kernel + length, 90_000 - length),
    ]


def communication_events(
    begin: int, step: int, device: int, *, group: int = 271, length: int = 900_000
) -> Iterator[Event]:
    pid = layer("Communication", device)
    args = {"connection_id": 100_000 + step, "data_type": "FP32", "alg_type": "MESH-RING", "count": 4_097_000}
    part = length * 2 // 9
    yield slice_of(f"hcom_allReduce__{group}_{step}_1", pid, 0, begin, length, args)
    for plane in (1, 2):
        for number, name in enumerate(("Notify_Wait", "Reduce_Inline", "Memcpy", "Notify_Record")):
            moved = {"stream id": 4, "src rank": 0, "dst rank": plane - 1, "size(Byte)": 4096, "bandwidth(GB/s)": 15.7}
            yield slice_of(name, pid, plane, begin + number * part, part, moved)
    yield slice_of("Communication", layer("Overlap Analysis", device), 1, begin, 900_000)
    yield slice_of("Communication(Not Overlapped)", layer("Overlap Analysis", device), 2, begin + 400_000, 500_000)


def counter_events(begin: int, device: int) -> Iterator[Event]:
    for number in range(8):
        time = microseconds(begin + number * 500_000)
        for name, process, args in (
            ("AI Core Freq", "AI Core Freq", {"MHz": 1800 - 150 * (number % 2)}),
            ("HBM 0/Read", "HBM", {"Read(MB/s)": 12.5 * number}),
            ("read_bandwidth", "Acc PMU", {"value": number, "acc_id": 0}),
        ):
            yield {"name": name, "ts": time, "pid": layer(process, device), "tid": 0, "args": args, "ph": "C"}


def _oddities(base: int, device: int) -> list[Event]:
    pid, after = layer("Ascend Hardware", device), base + 3_950_000
    uneven = slice_of("Write Value", pid, 3, after + 2_000, 0) | {"dur": 0.82853125}
    return [
        _end("f", "HostToDevice", "HostToDevice999999", "999999", pid, 2, after),
        slice_of("Write Value", pid, 3, after, 1_000),
        slice_of("Write Value", pid, 3, after + 580, 680),
        slice_of("EVENT_RECORD", pid, 3, after + 1_500, 0),
        uneven,
    ]


def write_array(path: Path, events: Sequence[Any], separator: str = ", ") -> Path:
    return write_bytes(path, ("[" + separator.join(map(json.dumps, events)) + "]").encode())


def write_object(path: Path, trace: Event | Sequence[Event], indent: int | None = 2) -> Path:
    whole = trace if isinstance(trace, dict) else {"traceEvents": list(trace)}
    return write_bytes(path, json.dumps(whole, indent=indent, ensure_ascii=False).encode())


def write_bytes(path: Path, data: bytes) -> Path:
    """Packed where the name ends in .gz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path
