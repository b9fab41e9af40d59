"""Whose line made a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.precision.compare.evidence import key_of
from backends.precision.compare.tokens import BACKWARD
from backends.precision.dump.names import source_of

if TYPE_CHECKING:
    from backends.precision.compare.scene import Scene


def source_at(scene: Scene, call: int) -> str:
    """The user's line that made a call; of a backward, that of its forward."""
    for side, calls in ((scene.target, scene.calls.target), (scene.golden, scene.calls.golden)):
        place = int(calls[call])
        if place >= 0 and (found := _source(side, place)):
            return found
    name = scene.names[call]
    if name.direction in BACKWARD:
        for other, one in enumerate(scene.names):
            if one.direction == "forward" and key_of(one) == key_of(name):
                return source_at(scene, other)
    return ""


def _source(side: Any, place: int) -> str:
    stack = int(side.stacks[place])
    return source_of(side.stack_lines[stack]) if stack >= 0 else ""
