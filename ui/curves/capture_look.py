"""What the small files of a run say of its captures, at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backends.launch.capture import state

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.capture.state import Rank, Ready, Request


@dataclass(frozen=True, kw_only=True)
class Look:
    """`request`: the newest one, and how far its `ranks` are; `is_over`: nothing more comes of it. `before`: what
    earlier captures came to, None where that was not read."""

    ready: tuple[Ready, ...] = ()
    request: Request | None = None
    is_over: bool = True
    ranks: dict[int, Rank] = field(default_factory=dict)
    before: tuple[Rank, ...] | None = None


def look(folder: Path, *, works: bool, with_before: bool) -> Look:
    """Reads a few files. `works`: whether the run's training lives."""
    request = state.asked(folder)
    # Before the ranks: then these are the last ones where it is over.
    is_over = request is None or not works or state.is_over(folder, request)
    return Look(
        ready=state.ready(folder) if works else (),
        request=request,
        is_over=is_over,
        ranks=state.ranks(folder, request.id) if request else {},
        before=state.done_before(folder) if with_before else None,
    )
