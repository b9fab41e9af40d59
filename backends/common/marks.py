"""What happened at a step and is marked on the curves: overflows, the first NaN, checkpoints, and where a run went
on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from studio.events import Artifact, Finding, Note

if TYPE_CHECKING:
    from studio.events import Event

Kind = Literal["overflow", "nan", "checkpoint", "resume"]
RESUMED = {"launch.resumed", "launch.resumed_inexactly"}
NAN = {"launch.nan", "launch.nan_stopped", "launch.nan_skipped", "run.nonfinite"}
MAX_MARKS = 1000
_CHECKPOINT = re.compile(r"step-(\d{1,18})-[0-9a-f]+")


@dataclass(frozen=True, kw_only=True)
class Mark:
    """`key` and `args` make its sentence."""

    kind: Kind
    step: int
    key: str
    args: dict[str, Any] = field(default_factory=dict)


def mark_of(event: Event) -> Mark | None:
    """The mark that an event is; None for all others, and for one that is damaged."""
    if isinstance(event, Artifact):
        match = _CHECKPOINT.search(event.path) if event.kind == "checkpoint" else None
        return _mark("checkpoint", "mark.checkpoint", {"step": int(match[1])}) if match else None
    if isinstance(event, Finding) and event.rule in NAN:
        return _mark("nan", event.rule, event.args)
    if isinstance(event, Note) and event.key == "launch.overflow":
        return _mark("overflow", event.key, event.args)
    if isinstance(event, Note) and event.key in RESUMED:
        return _mark("resume", event.key, event.args)
    return None


def _mark(kind: Kind, key: str, args: dict[str, Any]) -> Mark | None:
    step = args.get("step")
    return Mark(kind=kind, step=step, key=key, args=args) if type(step) is int else None


class Marks:
    """The marks of a run, by kind. A flood of one kind is counted, and its first MOST are kept."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self.count: dict[Kind, int] = {}

    def add(self, mark: Mark) -> None:
        number = self.count[mark.kind] = self.count.get(mark.kind, 0) + 1
        if number <= MAX_MARKS:
            self.marks.append(mark)

    def first(self, kind: Kind) -> Mark | None:
        return next((mark for mark in self.marks if mark.kind == kind), None)
