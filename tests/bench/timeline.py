"""Opening profiles: what the whole command costs, seen from outside, beside what must be done by anybody."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.bench.figure import Figure, cpu_of
from tests.timeline.command_runs import LINE
from tests.timeline.large_profiles import big_db, big_text
from tests.timeline.process_costs import measure

DECODING = """
import gc, mmap, sys, msgspec
gc.disable()
class Event(msgspec.Struct, gc=False):
    ph: str = ""
    name: str = ""
    ts: object = None
    dur: object = None
    pid: object = None
    tid: object = None
    id: object = None
    cat: str = ""
with open(sys.argv[1], "rb") as file:
    msgspec.json.decode(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ), type=list[Event])
"""
ROWS = """
import sqlite3, sys, numpy
base = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro&immutable=1", uri=True)
cursor = base.execute("SELECT startNs, endNs, streamId FROM TASK")
while rows := cursor.fetchmany(5_000):
    numpy.array(rows, numpy.int64)
"""
RUNS = 3


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [
            *_text(folder, 286_000_000, "300 MB", 2.5, 300),
            *_text(folder, 1_000_000_000, "1 GB", 8, 700),
            *_db(folder),
        ]


def _text(folder: Path, size: int, called: str, seconds: float, private: float) -> list[Figure]:
    path = big_text(folder / "trace_view.json", size)
    opened = _opened(path, f"text trace, {called}", seconds, private)
    peer = cpu_of((sys.executable, "-I", "-c", DECODING, str(path)), runs=1)
    path.unlink()
    return [_with_peer(opened[0], peer, "msgspec decoding alone"), *opened[1:]]


def _db(folder: Path) -> list[Figure]:
    path = big_db(folder / "ascend_pytorch_profiler_0.db", 2_000_000)
    opened = _opened(path, "db, 2 M rows of TASK", 1.5, None)
    peer = cpu_of((sys.executable, "-I", "-c", ROWS, str(path)), runs=1)
    path.unlink()
    return [_with_peer(opened[0], peer, "sqlite3 to numpy alone"), *opened[1:]]


def _opened(path: Path, what: str, seconds: float, private: float | None) -> list[Figure]:
    """The command, median of several first openings; then once more, from the cache."""
    path.read_bytes()
    done = []
    for _ in range(RUNS):
        shutil.rmtree(Path(os.environ["XDG_CACHE_HOME"]), ignore_errors=True)
        done.append(measure((*LINE, str(path), "--json")))
    assert not any(run.code for run in done), done[0].error
    answer = json.loads(done[0].out.splitlines()[-1])
    title = f"{what}, {answer['events'] / 1e6:.2f} M events"
    cpu = sorted(run.cpu for run in done)[RUNS // 2]
    again = cpu_of((*LINE, str(path), "--json"), runs=RUNS)
    return [
        Figure(what=f"{title}: first open", value=cpu, unit="s CPU", bar=seconds),
        Figure(what="  private memory", value=max(run.private for run in done), unit="MB", bar=private),
        Figure(what="  the command again, from the cache", value=again, unit="s CPU"),
    ]


def _with_peer(figure: Figure, peer: float, name: str) -> Figure:
    return Figure(what=figure.what, value=figure.value, unit=figure.unit, bar=figure.bar, peer=peer, peer_name=name)
