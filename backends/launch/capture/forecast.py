"""How large a capture becomes and how much it slows its steps: measured where this run was captured in the same way
before, else an estimate from what was measured once on small networks on a CPU."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.launch.capture import state

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.capture.state import Rank, Ready, Request

# torch 2.13 and msprobe 26.2 on a CPU: a network of 4 tensors, and a transformer of 64 (1.0 M parameters, 64 tokens in
# a batch). Bytes of a step for each trained tensor, and for each parameter, by task and level; digests at L0 were not
# measured. Both networks are within a factor of 1.5 of each; whole tensors grow with the batch too.
_BY_TENSOR = {
    ("profile", ""): 27_000, ("stacks", ""): 78_000,
    ("statistics", "L1"): 3_000, ("statistics", "L0"): 2_000, ("statistics", "mix"): 5_000,
    ("md5", "L1"): 3_200, ("md5", "L0"): 2_200, ("md5", "mix"): 5_300,
    ("structure", "L0"): 1_400, ("structure", "mix"): 1_400,
    ("tensor", "L1"): 16_000, ("tensor", "L0"): 12_000, ("tensor", "mix"): 28_000,
}  # fmt: skip
_BY_PARAMETER = {("tensor", "L1"): 20, ("tensor", "L0"): 20, ("tensor", "mix"): 38}
_OF_DIRECTION = {"both": 1.0, "forward": 0.7, "backward": 0.5}
_OF_CASTS = 1.25
# How many times as long a captured step takes: least and most of those measured.
_SLOWER = {
    "profile": (1.1, 2.0), "stacks": (1.2, 4.0), "statistics": (2.0, 15.0), "md5": (2.0, 15.0),
    "structure": (1.5, 4.0), "tensor": (3.0, 50.0),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """`total_bytes`: of all ranks and steps, None where nothing is known; `slower`: a captured step takes so many times
    as long as another one, least and most; `is_measured`: in this run, not by an estimate; `is_upper_bound`: the
    figures are of everything, since nobody knows how much of it the targets are."""

    total_bytes: int | None
    slower: tuple[float, float]
    is_measured: bool = False
    is_upper_bound: bool = False

    @property
    def need(self) -> int:
        """Bytes to be sure of: an estimate may be half of what comes. A part of everything is not waited for: it is
        ended where the disk gets full."""
        return 0 if self.is_upper_bound else int((self.total_bytes or 0) * (1.2 if self.is_measured else 2.0))


def forecast_in(folder: Path, request: Request) -> Forecast:
    """From the files of a run."""
    return forecast(request, state.ready(folder), state.done_before(folder))


def forecast(request: Request, ready: tuple[Ready, ...], before: tuple[Rank, ...]) -> Forecast:
    same = [earlier for earlier in before if is_like(earlier, request) and earlier.usual and earlier.seconds]
    captured_ranks = [rank for rank in ready if not request.ranks or rank.rank in request.ranks]
    times = request.steps * max(1, len(captured_ranks))
    if same:
        last = same[-1]
        slower = last.seconds / last.usual
        measured = math.ceil(last.byte_count / last.done * times)
        return Forecast(total_bytes=measured, slower=(slower, slower), is_measured=True)
    total_bytes = None
    if captured_ranks and captured_ranks[0].tensors:
        total_bytes = math.ceil(bytes_per_step(request, captured_ranks[0]) * times)
    slower_by = _SLOWER[_method_of(request)[0]]
    return Forecast(
        total_bytes=total_bytes, slower=slower_by, is_upper_bound=bool(request.targets) and total_bytes is not None
    )


def bytes_per_step(request: Request, network: Ready) -> float:
    """Bytes of one rank's one step: an estimate."""
    method = _method_of(request)
    step_bytes = network.tensors * _BY_TENSOR[method] + network.parameters * _BY_PARAMETER.get(method, 0)
    if request.kind == "profile":
        return step_bytes
    return step_bytes * _OF_DIRECTION.get(request.direction, 1.0) * (_OF_CASTS if request.casts else 1.0)


def is_like(rank: Rank, request: Request) -> bool:
    return rank.done > 0 and _choices(rank) == _choices(request)


def _choices(choices: Request | Rank) -> tuple[object, ...]:
    return (
        _method_of(choices),
        *((choices.targets, choices.direction, choices.casts) if choices.kind == "dump" else ()),
    )


def _method_of(choices: Request | Rank) -> tuple[str, str]:
    if choices.kind == "profile":
        return ("stacks" if choices.stacks else "profile"), ""
    level = "mix" if (choices.task, choices.level) == ("structure", "L1") else choices.level
    return choices.task, level
