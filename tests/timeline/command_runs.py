"""What the product shows of a profile, asked from outside: the command's answer, and the columns that it left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backends.timeline.trace import Lane, Trace, open_trace
from studio.paths import MAIN, ROOT

LINE = (sys.executable, "-I", str(MAIN), "--no-project", "--language", "en", "timeline")


@dataclass(frozen=True, kw_only=True)
class CommandResult:
    """What one command printed. `answer`: the last line of stdout; empty where there is none."""

    code: int
    answer: dict[str, Any]
    error: str

    @property
    def trace(self) -> Trace:
        return open_trace(Path(self.answer["cache"]), Path())


def run_timeline(path: Path, seconds: float = 120, **env: str) -> CommandResult:
    """What the command says of a profile. Raises TimeoutExpired."""
    done = subprocess.run(
        (*LINE, str(path), "--json"), cwd=ROOT, env={**os.environ, **env}, stdin=subprocess.DEVNULL,
        capture_output=True, timeout=seconds, check=False,
    )  # fmt: skip
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return CommandResult(
        code=done.returncode,
        answer=json.loads(lines[-1]) if lines else {},
        error=done.stderr.decode("utf-8", "replace"),
    )


def slices(trace: Trace) -> Counter[tuple[str, str, str, int, int]]:
    """(pid, tid, name, start, end), ns as the file counts them; of instants start and end are equal."""
    return Counter((*_location(trace, lane), name, start, end) for lane, name, start, end in _each(trace))


def arrows(trace: Trace) -> Counter[tuple[tuple[str, str, int], tuple[str, str, int]]]:
    """((pid, tid, time), (pid, tid, time)), ns as the file counts them."""
    lanes, origin = [_location(trace, lane) for lane in trace.meta.lanes], trace.meta.origin_ns
    return Counter(((*lanes[a], b + origin), (*lanes[c], d + origin)) for a, b, c, d in trace.arrow.tolist())


def by_table(trace: Trace) -> dict[str, Counter[tuple[str, int, int]]]:
    """Count the slices of a database: table -> (name, start, end)."""
    counts: dict[str, Counter[tuple[str, int, int]]] = {}
    for lane, name, start, end in _each(trace):
        counts.setdefault(lane.table, Counter())[(name, start, end)] += 1
    return counts


def _each(trace: Trace) -> list[tuple[Lane, str, int, int]]:
    meta, names = trace.meta, trace.name_texts
    lanes = [meta.lanes[int(lane)] for lane in trace.row_lane]
    counts = (trace.row_begin[1:] - trace.row_begin[:-1]).tolist()
    of_row = (lane for lane, many in zip(lanes, counts, strict=True) for _ in range(many))
    columns = (trace.name.tolist(), (trace.start + meta.origin_ns).tolist(), (trace.end + meta.origin_ns).tolist())
    return [(lane, names[n], start, end) for lane, n, start, end in zip(of_row, *columns, strict=True)]


def _location(trace: Trace, lane: Lane) -> tuple[str, str]:
    """Python stacks have a lane of their own; in the file they are on their thread."""
    return trace.meta.processes[lane.process].pid, lane.tid.split("\0")[0]
