"""What is missing from a profile, and which switch of its profiler collects it.

Switches as in torch_npu 2.13 (profiler/experimental_config.py), MindSpore 2.10 (mindspore.profiler) and torch 2.13.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.timeline.tables.capture_settings import Framework, settings_of
from backends.timeline.tables.csv_table import CsvTable, plain
from backends.timeline.tables.table_files import files_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from backends.timeline.trace import Trace

_LEVEL1 = "experimental_config=_ExperimentalConfig(profiler_level=ProfilerLevel.Level1)"
_CONFIG = "experimental_config=_ExperimentalConfig({})".format
_STEPS = "schedule=schedule(wait=1, warmup=1, active=2, repeat=1); prof.step()"


@dataclass(frozen=True, kw_only=True)
class View:
    """`key`: what it shows. `switches`: how each framework collects it; a framework that cannot is left out."""

    key: str
    switches: dict[Framework, str]


@dataclass(frozen=True, kw_only=True)
class Missing:
    """`key`: what would be shown. `switch`: the argument of the profiler that collects it, as code."""

    key: str
    switch: str


VIEWS = {
    "device": View(
        key="timeline.missing.device",
        switches={
            "torch_npu": "activities=[ProfilerActivity.CPU, ProfilerActivity.NPU]",
            "mindspore": "activities=[ProfilerActivity.CPU, ProfilerActivity.NPU]",
            "torch": "activities=[torch_npu.profiler.ProfilerActivity.CPU, torch_npu.profiler.ProfilerActivity.NPU]",
            "msprof": "--ascendcl=on --task-time=l1",
        },
    ),
    "host": View(
        key="timeline.missing.host",
        switches={
            "torch_npu": "activities=[ProfilerActivity.CPU, ProfilerActivity.NPU]",
            "mindspore": "activities=[ProfilerActivity.CPU, ProfilerActivity.NPU]",
            "torch": "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
        },
    ),
    "steps": View(key="timeline.missing.steps", switches={"torch_npu": _STEPS, "mindspore": _STEPS, "torch": _STEPS}),
    "cann": View(
        key="timeline.missing.cann",
        switches={"torch_npu": _LEVEL1, "mindspore": _LEVEL1, "msprof": "--ascendcl=on --runtime-api=on"},
    ),
    "planes": View(
        key="timeline.missing.planes",
        switches={"torch_npu": _LEVEL1, "mindspore": _LEVEL1, "msprof": "--task-time=l1"},
    ),
    "stacks": View(
        key="timeline.missing.stacks",
        switches={"torch_npu": "with_stack=True", "mindspore": "with_stack=True", "torch": "with_stack=True"},
    ),
    "shapes": View(
        key="timeline.missing.shapes",
        switches={"torch_npu": "record_shapes=True", "mindspore": "record_shapes=True", "torch": "record_shapes=True"},
    ),
    "memory": View(
        key="timeline.missing.memory",
        switches={
            "torch_npu": "profile_memory=True", "mindspore": "profile_memory=True", "torch": "profile_memory=True",
            "msprof": "--sys-hardware-mem=on",
        },
    ),
    "metrics": View(
        key="timeline.missing.metrics",
        switches={
            "torch_npu": _CONFIG("profiler_level=ProfilerLevel.Level1, aic_metrics=AiCMetrics.PipeUtilization"),
            "mindspore": _CONFIG("profiler_level=ProfilerLevel.Level1, aic_metrics=AicoreMetrics.PipeUtilization"),
            "msprof": "--ai-core=on --aic-metrics=PipeUtilization",
        },
    ),
    "cache": View(
        key="timeline.missing.cache",
        switches={"torch_npu": _CONFIG("l2_cache=True"), "mindspore": _CONFIG("l2_cache=True"), "msprof": "--l2=on"},
    ),
    # torch_npu samples HBM, LLC and the like along with memory (ACL_PROF_SYS_HARDWARE_MEM_FREQ in its ProfilerMgr).
    "bandwidth": View(
        key="timeline.missing.bandwidth",
        switches={
            "torch_npu": "profile_memory=True", "mindspore": "hbm_ddr=True", "msprof": "--sys-hardware-mem=on",
        },
    ),
    "links": View(
        key="timeline.missing.links",
        switches={
            "torch_npu": _CONFIG("sys_io=True, sys_interconnection=True"),
            "mindspore": _CONFIG("sys_io=True, sys_interconnection=True"),
            "msprof": "--sys-io-profiling=on --sys-interconnection-profiling=on",
        },
    ),
    "collector": View(
        key="timeline.missing.collector", switches={"torch_npu": _CONFIG("gc_detect_threshold=1.0")},
    ),
    "marks": View(
        key="timeline.missing.marks",
        switches={"torch_npu": _CONFIG("mstx=True"), "mindspore": _CONFIG("mstx=True"), "msprof": "--msproftx=on"},
    ),
    "db": View(
        key="timeline.missing.db",
        switches={
            "torch_npu": _CONFIG("export_type=[ExportType.Text, ExportType.Db]"),
            "mindspore": _CONFIG("export_type=[ExportType.Text, ExportType.Db]"),
        },
    ),
}  # fmt: skip

_BANDWIDTH = {"HBM", "LLC", "DDR"}
_LINKS = {"PCIe", "HCCS", "NIC", "RoCE", "SIO", "Stars Chip Trans"}
_METRICS = ("aicore time(us)", "aic total cycles", "aiv time(us)", "cube utilization(%)", "aic mac ratio")


def missing(trace: Trace) -> tuple[Missing, ...]:
    """Return what is missing, in the order of VIEWS; nothing for traces of unknown origin. Reads files: not for the UI
    thread."""
    settings = settings_of(trace)
    if settings.framework is None:
        return ()
    collected = settings.collected | set(_lanes(trace)) | set(_tables(trace))
    if "device" not in collected and settings.framework != "torch":
        views = ["device"]  # all others need an NPU, too
    else:
        views = [name for name in VIEWS if name not in collected and _applies(name, collected)]
    return tuple(
        Missing(key=VIEWS[name].key, switch=VIEWS[name].switches[settings.framework])
        for name in views
        if settings.framework in VIEWS[name].switches
    )


def _applies(name: str, collected: Collection[str]) -> bool:
    return name != "planes" or "communication" in collected


def _lanes(trace: Trace) -> set[str]:
    """Return what lanes, series, steps and sources show."""
    kinds = {lane.kind for lane in trace.meta.lanes}
    processes = {process.name for process in trace.meta.processes}
    views = {
        "device": bool(kinds & {"device", "communication", "overlap"}),
        "host": "host" in kinds,
        "cann": "api" in kinds,
        "communication": "communication" in kinds,
        "planes": any(lane.kind == "communication" and lane.name.startswith("Plane") for lane in trace.meta.lanes),
        "steps": bool(trace.meta.steps),
        "memory": bool(processes & {"Memory", "NPU MEM"}),
        "bandwidth": bool(processes & _BANDWIDTH),
        "links": bool(processes & _LINKS),
        "collector": "Python GC" in processes,
        "marks": any("mstx" in name.lower() for name in (*processes, *trace.meta.flow_kinds)),
        "db": any(source.kind == "db" for source in trace.meta.sources),
    }
    return {name for name, is_collected in views.items() if is_collected}


def _tables(trace: Trace) -> set[str]:
    folders = {(trace.root / source.path).parent for source in trace.meta.sources[:8]}
    views = {"cache" for folder in folders if files_of(folder, "l2_cache*.csv")}
    kernels = [
        CsvTable(path) for folder in folders for path in files_of(folder, "kernel_details*.csv", "op_summary*.csv")
    ]
    views |= {"device"} if kernels else set()
    return views | {"metrics" for table in kernels if _has_metrics(table)}


def _has_metrics(table: CsvTable) -> bool:
    try:
        return bool({plain(column) for column in table.columns} & set(_METRICS))
    except OSError:
        return False
