"""Folders as the profilers leave them: a trace and the tables beside it, of one rank or of several."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.timeline.torch_npu_trace import (
    BASE,
    HOST,
    STEP,
    Event,
    microseconds,
    torch_npu,
    write_array,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OUTPUT = "ASCEND_PROFILER_OUTPUT"
KERNEL_HEAD = (
    "Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),"
    "Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
    "Output Data Types,Output Formats,Context ID,aicore_time(us),cube_utilization(%)"
)
MEMORY_HEAD = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type"
STEP_HEAD = (
    "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,"
    "Communication(Not Overlapped and Exclude Receive),Preparing"
)


def ranks(folder: Path, count: int = 2, *, steps: int = 2, kernels: int = 12) -> Path:
    for rank in range(count):
        rank_folder(folder / f"host_{HOST}_2026010112000{rank}_ascend_pt", rank=rank, steps=steps, kernels=kernels)
    return folder


def rank_folder(folder: Path, *, rank: int = 0, steps: int = 2, kernels: int = 12, stack: str | None = None) -> Path:
    """As torch_npu writes one rank at level 1; its own folder is given back. `stack`: as in `torch_npu`."""
    base = BASE + 1_000 * rank
    args = {} if stack is None else {"stack": stack}
    events = torch_npu(steps=steps, kernels=kernels, base=base, device=rank, **args)
    output = folder / OUTPUT
    write_array(output / "trace_view.json", events)
    kernel_rows = [row for event in events if (row := _kernel(event, rank))]
    _table(output / "kernel_details.csv", KERNEL_HEAD, kernel_rows)
    times = [microseconds(base + number * 500_000) for number in range(8)]
    _table(output / "memory_record.csv", MEMORY_HEAD,
           [f"PTA,{time}\t,{100 + number}.5,1452.0,{90 + number},897357296,NPU:{rank}"
            for number, time in enumerate(times)])  # fmt: skip
    _table(output / "step_trace_time.csv", STEP_HEAD, [_step(events, rank, number, base) for number in range(steps)])
    info = {"config": {"common_config": {"with_stack": True, "record_shapes": True, "profile_memory": True},
                       "experimental_config": {"_profiler_level": "Level1", "_export_type": ["text"]}},
            "rank_id": rank}  # fmt: skip
    (folder / f"profiler_info_{rank}.json").write_text(json.dumps(info, indent=4), "utf-8")
    return folder


def _table(path: Path, head: str, rows: Sequence[str]) -> None:
    path.write_text("\n".join([head, *rows, ""]), "utf-8")


def _kernel(event: Event, rank: int) -> str:
    args = event.get("args", {})
    if event["ph"] != "X" or args.get("Task Type") != "AI_CORE":
        return ""
    return (
        f"0,{rank},4294967295,{args['Task Id']},{args['Physic Stream Id']},{event['name']},MatMulV3,dynamic,AI_CORE,"
        f'{event["ts"]}\t,{event["dur"]},1.5,20,0,NO,"""4096,1024;1024,512""",BF16;BF16,ND;ND,"""4096,512""",BF16,ND,'
        f"N/A,{event['dur']},91.5"
    )


def _step(events: Sequence[Event], rank: int, step: int, base: int) -> str:
    """The overlap rows of a step, summed as the profiler does, in microseconds."""
    begin = base + step * STEP
    sums = dict.fromkeys(("Computing", "Communication", "Communication(Not Overlapped)", "Free"), 0.0)
    for event in events:
        if event["name"] in sums and event["ph"] == "X":
            start = int(event["ts"].replace(".", ""))
            sums[event["name"]] += event["dur"] if begin <= start < begin + STEP else 0.0
    computing, whole, alone, free = sums.values()
    return f"{rank},{step},{computing},{alone},{whole - alone},{whole},{free},{computing + alone + free},0,{alone},20.0"
