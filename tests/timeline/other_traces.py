"""Small traces of other writers: MindSpore (times and durations as text), Kineto (an object, times as numbers) and
chrome's own pairs of begin and end."""

from __future__ import annotations

from tests.timeline.torch_npu_trace import (
    BASE,
    Event,
    microseconds,
    process_of,
    slice_of,
    thread_of,
)


def mindspore(count: int = 20, base: int = BASE) -> list[Event]:
    """As MindSpore writes on a CPU: two processes of fixed pids, times and durations as text of any decimals."""
    names = [*process_of(2, "CPU OP", "CPU", 0), thread_of(2, 0, "Thread 0"), *process_of(3, "Scope Layer", "CPU", 1)]
    ops = [
        {"ph": "X", "name": f"Default/MatMul-op{number}", "pid": 2, "tid": 0, "cat": "", "args": {"type": "HostCpuOps"},
         "ts": _decimal(base + number * 10_000 + number), "dur": _decimal(8_423 + 100 * number)}
        for number in range(count)
    ]  # fmt: skip
    layers = [slice_of("Default", 3, 0, base, 10_000 * count) | {"dur": _decimal(10_000 * count)}]
    return [*names, *ops, *layers]


def _decimal(ns: int) -> str:
    """Microseconds without zeros at the end, as Decimal prints them."""
    return microseconds(ns).rstrip("0").rstrip(".")


def kineto(count: int = 20, gpu: bool = False) -> Event:
    """torch.profiler's own object: times are numbers that count from `baseTimeNanoseconds`, some pids are texts."""
    thread = {"pid": 24011, "tid": 24011}
    process = {"ts": 4341505727483.927, "pid": 24011, "tid": 0}
    events: list[Event] = [
        {"ph": "M", "name": "process_name", **process, "args": {"name": "python"}},
        {"ph": "M", "name": "process_labels", **process, "args": {"labels": "CPU"}},
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#2", **thread, "ts": 4341505726000.001, "dur": 9e4},
        {"ph": "X", "cat": "python_function", "name": "torch_cpu.py(21): <module>", **thread, "ts": 4341505726140.755,
         "dur": 90000, "args": {"Python parent id": None, "Python id": 1}},
        {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler",
         "ts": 4341505725948.652, "dur": 99999.234, "args": {"Op count": 0}},
        {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 4341505825948.652},
    ]  # fmt: skip
    for number in range(count):
        time = 4341505730000 + number * 1000
        events += [
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", **thread, "ts": float(f"{time}.001"), "dur": 78.408,
             "args": {"External id": number, "Input Dims": [[64, 3], [3, 8]], "Input type": ["float", "float"]}},
            {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", **thread, "ts": float(f"{time}.25"),
             "args": {"Total Reserved": 0, "Total Allocated": 4096 * number, "Bytes": 4096, "Device Id": -1,
                      "Device Type": 0, "Addr": 94444941611392}},
            {"ph": "s", "id": number, **thread, "ts": float(f"{time}.001"), "cat": "fwdbwd", "name": "fwdbwd"},
            {"ph": "f", "id": number, **thread, "ts": float(f"{time}.6"), "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"},
            *(_gpu_kernel(number, time) if gpu else ()),
        ]  # fmt: skip
    return {"schemaVersion": 1, "deviceProperties": [], "displayTimeUnit": "ms",
            "baseTimeNanoseconds": 1790857026000000000, "traceEvents": events, "traceName": "trace.json"}  # fmt: skip


def _gpu_kernel(number: int, time: int) -> list[Event]:
    """As CUPTI's activities come: the call of the runtime, the kernel on its stream, and the flow between them."""
    call = {"pid": 24011, "tid": 24011, "ts": float(f"{time}.01")}
    kernel = {"pid": 0, "tid": 7, "ts": float(f"{time}.5")}
    args = {"External id": number, "device": 0, "stream": 7, "correlation": number, "grid": [96, 1, 1]}
    return [
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", **call, "dur": 5.5, "args": args},
        {"ph": "X", "cat": "kernel", "name": "ampere_sgemm_128x64_tn", **kernel, "dur": 200.25, "args": args},
        {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": number, **call},
        {"ph": "f", "cat": "ac2g", "name": "ac2g", "id": number, "bp": "e", **kernel},
    ]


def chrome_pairs() -> list[Event]:
    """Begin and end apart, one pair within another, a begin that never ends, async pairs, an instant, no names."""
    lane = {"pid": 1, "tid": 1}
    return [
        {"ph": "B", "name": "outer", **lane, "ts": 10}, {"ph": "B", "name": "inner", **lane, "ts": 20.5},
        {"ph": "E", **lane, "ts": 30}, {"ph": "i", "name": "mark", **lane, "ts": 31}, {"ph": "E", **lane, "ts": 40},
        {"ph": "b", "cat": "net", "id": "0x1", "name": "request", **lane, "ts": 12},
        {"ph": "e", "cat": "net", "id": "0x1", "name": "request", **lane, "ts": 35},
        {"ph": "B", "name": "never ended", **lane, "ts": 50},
    ]  # fmt: skip
