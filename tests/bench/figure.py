"""A figure: what was measured, beside a peer measured in the same minute and the bar it should keep."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, kw_only=True)
class Figure:
    """`bar`: the value must not be over it; None where the figure is only to be known. `noise`: by how much the value
    may be wrong, in its unit; `floor`: what this machine takes for the least that any way of doing it must do. Where
    either is more than the bar there is no verdict."""

    what: str
    value: float
    unit: str
    bar: float | None = None
    peer: float | None = None
    peer_name: str = ""
    noise: float | None = None
    floor: float | None = None

    @property
    def verdict(self) -> str:
        if self.bar is not None and self.noise is not None and self.noise > self.bar:
            return f"NO VERDICT: noise of {self.noise:.3g} {self.unit}"
        if self.bar is not None and self.floor is not None and self.floor > self.bar:
            return "NO VERDICT: here the peer alone is over it"
        return "OVER" if self.bar is not None and self.value > self.bar else ""


def table(figures: Sequence[Figure]) -> str:
    rows = [("what", "value", "bar", "peer", "")]
    for figure in figures:
        bar = f"<= {figure.bar:g} {figure.unit}" if figure.bar is not None else ""
        peer = f"{figure.peer:.4g} {figure.unit} {figure.peer_name}" if figure.peer is not None else ""
        rows.append((figure.what, f"{figure.value:.4g} {figure.unit}", bar, peer, figure.verdict))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def cpu_of(line: Sequence[str], runs: int = 5, env: dict[str, str] | None = None) -> float:
    """Median CPU seconds (user and system) of a whole process, children that it waited for included."""
    seconds = []
    for _ in range(runs):
        child = subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env
        )
        _, _, usage = os.wait4(child.pid, 0)
        child.returncode = 0
        seconds.append(usage.ru_utime + usage.ru_stime)
    return statistics.median(seconds)


def per_call(call: Callable[[], object], times: int, rounds: int = 5) -> float:
    """Median CPU seconds of one call, over rounds of `times` calls."""
    seconds = []
    for _ in range(rounds):
        begun = time.process_time()
        for _ in range(times):
            call()
        seconds.append((time.process_time() - begun) / times)
    return statistics.median(seconds)


def percentile(values: Sequence[float], part: float) -> float:
    """The value that `part` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
