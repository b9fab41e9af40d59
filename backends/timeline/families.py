"""The kind of a lane, by the names of its process and its own, and the family of a slice, by its name. The names are
those of torch_npu, MindSpore, msprof (current and older versions) and Kineto."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backends.timeline.kinds import Family, LaneKind

# In the order in which the profilers themselves show them (their process_sort_index).
_PROCESSES: dict[str, LaneKind] = {
    "python": "host",
    "python gc": "host",
    "mindspore": "host",
    "cpu op": "host",
    "dataset": "host",
    "mstx": "host",
    "cann": "api",
    "ascendcl": "api",
    "acl": "api",
    "ge": "api",
    "model": "api",
    "node": "api",
    "runtime": "api",
    "runtime api": "api",
    "scope layer": "host",
    "ascend hardware": "device",
    "task scheduler": "device",
    "ai core": "device",
    "ai cpu": "device",
    "npu": "device",
    "ai core freq": "counter",
    "hccl": "communication",
    "communication": "communication",
    "hbm": "counter",
    "ddr": "counter",
    "llc": "counter",
    "npu mem": "counter",
    "stars soc info": "counter",
    "acc pmu": "counter",
    "qos": "counter",
    "pcie": "counter",
    "hccs": "counter",
    "nic": "counter",
    "roce": "counter",
    "sio": "counter",
    "stars chip trans": "counter",
    "memory": "counter",
    "overlap analysis": "overlap",
}
_POSITIONS = {name: position for position, name in enumerate(_PROCESSES)}
_DEVICE_LABEL = re.compile(r"\b(?:gpu|npu|xpu|cuda|ascend)\b", re.I)
_STREAM = re.compile(r"\s*stream\b", re.I)
_FREE = re.compile(
    r"(?:event|notify|stream|context|value)?[ _]?(?:wait|sync)(?:[ _]?(?:event|value))?$|free$|idle$", re.I
)
_MEMORY = re.compile(r"mem(?:cpy|set|move)|sdma|pinned_?mem", re.I)
_COMMUNICATION = re.compile(
    r"hcom|(?:\w*[^a-z])?(?:hccl|nccl|rccl|lccl)|(?:all_?reduce|all_?gather|reduce_?scatter|all_?to_?all)", re.I
)
_MARKER = re.compile(r"event[ _]|notify[ _]|write[ _]value|profiler|optimizer\.|label|stars|nop\b", re.I)


def lane_kind(process: str, label: str, lane: str) -> LaneKind:
    """Return the kind of a lane whose reader does not tell."""
    kind = _PROCESSES.get(process.strip().lower())
    if kind not in (None, "host"):
        return kind
    if _DEVICE_LABEL.search(label) or _STREAM.match(lane):  # Kineto calls the process of a GPU "python" too
        return "device"
    return "host" if kind or label.strip().upper() == "CPU" else "other"


def sort_position(process: str) -> float:
    """Return the display position of a process without a sort index; unknown ones come last."""
    return _POSITIONS.get(process.strip().lower(), math.inf)


def family_of(kind: LaneKind, name: str) -> Family:
    if kind in ("host", "api"):
        return kind
    if kind == "overlap":
        return _of_overlap(name)
    if _FREE.match(name):
        return "free"
    if kind == "communication" or _COMMUNICATION.match(name):
        return "communication"
    if _MEMORY.match(name):
        return "memory"
    return "other" if kind != "device" or _MARKER.match(name) else "compute"


def _of_overlap(name: str) -> Family:
    if name.startswith("Comput"):
        return "compute"
    return "communication" if name.startswith("Communication") else "free" if name == "Free" else "other"
