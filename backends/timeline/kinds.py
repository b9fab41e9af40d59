"""Kinds of lanes and families of names: families decide the colours and are easy to tell apart."""

from __future__ import annotations

from typing import Literal, get_args

# host: Python and framework threads; api: CANN and runtime calls; device: streams; communication: groups and planes;
# overlap: the rows of Overlap Analysis; counter: figures over time; other: what no table knows.
LaneKind = Literal["host", "api", "device", "communication", "overlap", "counter", "other"]
LANE_KINDS: tuple[LaneKind, ...] = get_args(LaneKind)

Family = Literal["host", "api", "compute", "communication", "memory", "free", "other"]
FAMILIES: tuple[Family, ...] = get_args(Family)
