"""Files that nobody should write, through the command: it never crashes, never takes much memory, invents nothing.

`python -m tests.prove timeline` goes on for longer.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.timeline.trace import open_trace
from tests.timeline.command_runs import LINE, run_timeline, slices
from tests.timeline.hostile_files import (
    CASES,
    PACKED,
    array,
    good,
    mutated,
)
from tests.timeline.other_traces import kineto
from tests.timeline.process_costs import Measured, measure
from tests.timeline.profile_folders import ranks
from tests.timeline.text_counts import Slice, count_text
from tests.timeline.torch_npu_db import write_db
from tests.timeline.torch_npu_trace import BASE, torch_npu, write_array

if TYPE_CHECKING:
    from backends.timeline.trace import Trace

MEMORY = 1000  # MB, for what is under 10 MB
NAMES = 300  # that are looked for in the file
DB = "ascend_pytorch_profiler_0.db"


def tried(path: Path) -> Trace | None:
    """What is shown of a file; None where it was refused, in a sentence."""
    before = fingerprint(path.parent)
    done = measure((*LINE, str(path), "--json"), seconds=120)
    check_outcome(done)
    assert fingerprint(path.parent) == before
    return open_trace(Path(json.loads(done.out.splitlines()[-1])["cache"]), path) if done.code in (0, 3) else None


def check_outcome(done: Measured) -> None:
    assert "Traceback" not in done.error, done.error[-3000:]
    assert done.code in (0, 1, 2, 3), (done.code, done.error[-3000:])
    assert done.code == 0 or done.error.strip()
    assert done.private < MEMORY
    assert done.resident < MEMORY * 1.2


def fingerprint(folder: Path) -> list[tuple[str, int, str]]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(str(path), path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]


def written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", CASES)
def test_that_a_strange_file_is_shown_or_refused(name: str, tmp_path: Path) -> None:
    data = CASES[name]()
    trace = tried(written(tmp_path / "data" / "trace_view.json", data))
    if trace is not None:
        nothing_invented(data.decode("utf-8", "replace"), trace)


@pytest.mark.parametrize("name", ["empty", "space", "null", "number", "text", "object", "zeros", "noise", "utf-16"])
def test_that_what_is_no_trace_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    assert tried(written(tmp_path / "data" / "trace_view.json", CASES[name]())) is None


@pytest.mark.parametrize("name", PACKED)
def test_that_a_strange_packed_file_is_shown_or_refused(name: str, tmp_path: Path) -> None:
    tried(written(tmp_path / "data" / "trace_view.json.gz", PACKED[name]()))


def nothing_invented(text: str, trace: Trace) -> None:
    assert trace.meta.slices <= text.count('"ph"')
    assert trace.meta.slices + trace.meta.instants == len(trace.start)
    written_so = "".join(text.split())
    for name in sorted(set(trace.name_texts))[:NAMES]:
        forms = (name, json.dumps(name)[1:-1], json.dumps(name, ensure_ascii=False)[1:-1])
        assert not name or "\ufffd" in name or any("".join(form.split()) in written_so for form in forms), name[:100]
    try:
        raw = count_text(text)
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        return
    counts = Counter((start, end) for *_, start, end in slices(trace).elements())
    expected = Counter((start, end) for *_, start, end in raw.slices.elements())
    expected += Counter((time, time) for *_, time in raw.instants.elements())
    expected += Counter((start, end) for _, start, end in raw.apart.elements())
    assert not counts - expected


# What is no value at all may take the event behind it along.
@pytest.mark.parametrize("name", ["event is a number", "event is none", "event is an array", "literals", "garbage",
                                  "braces in texts", "deep arguments", "twice the same key", "bad utf-8"])  # fmt: skip
def test_that_a_bad_event_costs_only_itself(name: str, tmp_path: Path) -> None:
    trace = tried(written(tmp_path / "data" / "trace_view.json", CASES[name]()))
    assert trace is not None
    good_slices = sum(many for key, many in slices(trace).items() if key[2] == "good")
    assert good_slices >= (199 if name == "garbage" else 200)


@pytest.mark.parametrize("seed", range(6))
def test_that_a_truncated_file_gives_all_that_is_whole(seed: int, tmp_path: Path) -> None:
    events = torch_npu(kernels=40)
    data = array(events)
    cut = random.Random(seed).randrange(len(data) // 4, len(data))
    trace = tried(written(tmp_path / "data" / "trace_view.json", data[:cut]))
    assert trace is not None
    assert trace.meta.sources[0].truncated
    raw = count_text(json.dumps(_whole(events, cut)))
    assert slices(trace) == raw.slices
    assert trace.meta.events - sum(trace.meta.set_aside.values()) <= raw.events


def _whole(events: list[Any], cut: int) -> list[Any]:
    """Those that end before the cut."""
    length = 1
    for number, event in enumerate(events):
        length += len(json.dumps(event))
        if length > cut:
            return events[:number]
        length += 2
    return events


@pytest.mark.parametrize("seed", range(6))
def test_that_changed_bytes_change_few_slices(seed: int, tmp_path: Path) -> None:
    whole = torch_npu(kernels=30) if seed % 2 else kineto(200)["traceEvents"]
    data = array(whole)
    trace = tried(written(tmp_path / "data" / "trace_view.json", mutated(data, seed)))
    assert trace is not None
    strangers = slices(trace) - _slices_of(data)
    assert strangers.total() <= 20


def _slices_of(data: bytes) -> Counter[Slice]:
    raw = count_text(data.decode())
    return raw.slices + Counter({(*key, key[3]): many for key, many in raw.instants.items()})


@pytest.mark.parametrize("seed", range(6))
def test_that_a_broken_database_is_shown_or_refused(seed: int, tmp_path: Path) -> None:
    data = write_db(tmp_path / DB, tasks=3000).read_bytes()
    chance = random.Random(seed)
    broken = data[: chance.randrange(len(data))] if seed % 2 else mutated(data[100:], seed)
    trace = tried(written(tmp_path / "data" / DB, broken if seed % 2 else data[:100] + broken))
    times = {(BASE + n * 2000 + n % 7, BASE + n * 2000 + n % 7 + 1500 + n % 400) for n in range(3000)}
    if trace is not None:
        names = {key[3:] for key in slices(trace) if key[2] in ("KERNEL_AICORE", "EVENT_WAIT")}
        assert len(names - times) <= 20


@pytest.mark.parametrize("data", [b"", b"SQLite format 3\x00", bytes(4096), b"SQLite format 3\x00" + bytes(9000),
                                  random.Random(3).randbytes(20_000)])  # fmt: skip
def test_that_what_is_no_database_is_refused_in_a_sentence(data: bytes, tmp_path: Path) -> None:
    assert tried(written(tmp_path / "data" / DB, data)) is None


def test_that_an_unknown_schema_and_odd_values_are_tolerated(tmp_path: Path) -> None:
    path = write_db(tmp_path / "data" / DB, tasks=300)
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE OVERLAP_ANALYSIS (id, x, y)")
        base.execute("CREATE TABLE 'a \" table' ('start Ns', b)")
        base.execute("CREATE VIEW MSTX_EVENTS AS SELECT * FROM nowhere")
        for value in ("NULL", "'x'", "-5", "1e300", "x'00ff'", "'1736412474714258990'", "9223372036854775807"):
            base.execute(f"INSERT INTO TASK VALUES ({value},{value},0,1,{value},1,{value},0,2,1,0)")
            base.execute(f"INSERT INTO PYTORCH_API VALUES ({value},{value},{value},{value},{value},1,0,1,1,1,50001)")
        base.execute("INSERT INTO STRING_IDS VALUES (77, NULL), (78, x'ff00'), (79, 5)")
        base.commit()
    trace = tried(path)
    assert trace is not None
    assert trace.meta.slices >= 500
    assert sum(trace.meta.set_aside.values()) >= 8


def test_that_a_locked_database_is_read_or_refused(tmp_path: Path) -> None:
    path = write_db(tmp_path / "data" / DB, tasks=300)
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("BEGIN EXCLUSIVE")
        run = run_timeline(path)
        base.execute("ROLLBACK")
    assert "Traceback" not in run.error
    assert run.code == 0 or run.error.strip()


def test_that_rows_in_the_log_of_a_database_are_read(tmp_path: Path) -> None:
    path = write_db(tmp_path / "data" / DB, tasks=300, compute=0, api=0)
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode=WAL")
        base.execute("PRAGMA wal_autocheckpoint=0")
        base.execute(f"INSERT INTO TASK VALUES ({BASE},{BASE + 7},0,1,900,1,1,0,9,1,0)")
        base.commit()
        assert path.with_name(DB + "-wal").stat().st_size
        trace = tried(path)
    assert trace is not None
    assert [key[3:] for key in slices(trace) if key[2] == "KERNEL_AICORE" and key[4] - key[3] == 7]


def test_that_a_file_may_grow_while_it_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "data" / "trace_view.json", array(good(60_000)))
    child = subprocess.Popen((*LINE, str(path), "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while child.poll() is None:
        with path.open("ab") as file:
            file.write(b" " * 1000)
        time.sleep(0.02)
    out, error = child.communicate()
    assert b"Traceback" not in error, error
    assert child.returncode in (0, 1, 3), error
    assert child.returncode == 0 or error.strip()
    assert not out or json.loads(out.splitlines()[-1])["slices"] == 60_000


def test_that_a_file_may_shrink_while_it_is_read(tmp_path: Path) -> None:
    """The hard case: reading a map behind the end of its file kills a process with SIGBUS."""
    path = written(tmp_path / "data" / "trace_view.json", array(good(60_000)))
    for wait in (0.15, 0.25, 0.35):
        path.write_bytes(array(good(60_000)))
        child = subprocess.Popen((*LINE, str(path), "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(wait)
        os.truncate(path, 4096)
        _, error = child.communicate()
        assert b"Traceback" not in error, error
        assert child.returncode in (0, 1, 3), (child.returncode, error)


def test_that_a_kill_half_way_leaves_nothing_that_is_wrong(tmp_path: Path, homes: Path) -> None:
    path = written(tmp_path / "data" / "trace_view.json", array(good(60_000)))
    for wait in (0.2, 0.3, 0.4, 0.5, 0.6):
        child = subprocess.Popen((*LINE, str(path), "--json"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait)
        child.kill()
        child.wait()
    run = run_timeline(path)
    assert (run.code, run.answer["slices"]) == (0, 60_000)
    once = _size(homes / "cache")
    shutil.rmtree(homes / "cache")
    run_timeline(path)
    assert once <= _size(homes / "cache") * 1.05 + 100_000


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_that_eight_may_open_the_same_at_once(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "data", 2, kernels=40)
    line = (*LINE, str(folder), "--json")
    children = [subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(8)]
    outputs = [child.communicate() for child in children]
    assert [child.returncode for child in children] == [0] * 8, outputs
    answers = [json.loads(out.splitlines()[-1]) for out, _ in outputs]
    assert len({answer["slices"] for answer in answers}) == 1
    assert all(slices(open_trace(Path(answer["cache"]), folder)) for answer in answers)


def test_that_data_that_nobody_may_write_opens_and_stays_as_it_is(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "data", 1)
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = fingerprint(folder)
    assert run_timeline(folder).code == 0
    assert run_timeline(folder).code == 0
    assert fingerprint(folder) == before


def test_that_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path, homes: Path) -> None:
    path = written(tmp_path / "data" / "trace_view.json", array(good(60_000)))
    limit = (200_000, 200_000)
    done = measure((*LINE, str(path), "--json"), prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    check_outcome(done)
    assert done.code == 1
    assert _size(homes / "cache") < 1_000_000
    assert run_timeline(path).answer["slices"] == 60_000


def test_that_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    path = write_array(tmp_path / "data" / "trace_view.json", torch_npu())
    first = run_timeline(path).answer
    for file in sorted(Path(first["cache"]).glob("*")):
        if file.suffix in (".npy", ".json", ".bin") and file.stat().st_size > 200:
            os.truncate(file, file.stat().st_size // 2)
            again = run_timeline(path)
            assert (again.code, again.answer["slices"]) == (0, first["slices"]), file.name
            assert slices(again.trace) == _slices_of(path.read_bytes()), file.name
