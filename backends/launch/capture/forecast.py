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

# torch 2.13 and msprobe 26.2 on a CPU: a network of 4 tensors, and a transformer of 68 (0.9 M parameters). Octets of a
# step for each trained tensor, and for each parameter.
_BY_TENSOR = {"profile": 27_000, "stacks": 78_000, "statistics": 7_000, "tensor": 14_000}
_BY_PARAMETER = {"tensor": 40}
# How many times as long a captured step takes: least and most of those measured.
_SLOWER = {"profile": (1.1, 2.0), "stacks": (1.2, 4.0), "statistics": (2.0, 15.0), "tensor": (2.0, 40.0)}


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """`octets`: of all ranks and steps, None where nothing is known; `slower`: a captured step takes so many times as
    long as another one, least and most; `is_measured`: in this run, not by an estimate."""

    octets: int | None
    slower: tuple[float, float]
    is_measured: bool = False

    @property
    def need(self) -> int:
        """Octets to be sure of: an estimate may be half of what comes."""
        return int((self.octets or 0) * (1.2 if self.is_measured else 2.0))


def forecast_in(folder: Path, request: Request) -> Forecast:
    """From the files of a run."""
    return forecast(request, state.ready(folder), state.done_before(folder))


def forecast(request: Request, ready: tuple[Ready, ...], before: tuple[Rank, ...]) -> Forecast:
    same = [one for one in before if is_like(one, request) and one.usual and one.seconds]
    there = [one for one in ready if not request.ranks or one.rank in request.ranks]
    times = request.steps * max(1, len(there))
    if same:
        last = same[-1]
        slower = last.seconds / last.usual
        measured = math.ceil(last.octets / last.done * times)
        return Forecast(octets=measured, slower=(slower, slower), is_measured=True)
    way = _way(request)
    network = there[0] if there else None
    octets = None
    if network is not None and network.tensors:
        one_step = network.tensors * _BY_TENSOR[way] + network.parameters * _BY_PARAMETER.get(way, 0)
        octets = one_step * times
    return Forecast(octets=octets, slower=_SLOWER[way])


def is_like(one: Rank, request: Request) -> bool:
    return (_way(one), one.level) == (_way(request), request.level) and one.done > 0


def _way(one: Request | Rank) -> str:
    if one.kind == "profile":
        return "stacks" if one.stacks else "profile"
    return one.task
