"""Planted faults of profiles, of what the Timeline keeps of them, and of its sentences; and healthy twins.

`profile`: what reading answers: "whole", "incomplete" or "refused", with the exit code of `ascend-studio timeline`.
`cache`: whether what was stored is believed: "kept", "made again". `step sentence`: whether its figures are of one step
of one rank: "one basis", "mixed". `stack line`: "same", "other", "missing". `notes`: "kept", "lost".
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import structs

from backends.timeline.command import timeline
from backends.timeline.profile_reader import open_cached, read_profile
from backends.timeline.query.notes import Mark, merge_notes, read_notes
from backends.timeline.query.source_files import find_source
from backends.timeline.spec import Profile, TimelineSpec
from backends.timeline.tables.summary import step_summary
from backends.timeline.tables.summary_sentence import texts
from tests.planted.verdicts.case import Observation, VerdictCase
from tests.timeline.memory_traces import LaneSpec, trace_of
from tests.timeline.other_traces import kineto
from tests.timeline.profile_folders import OUTPUT, ranks
from tests.timeline.synthetic_profiles import write_profiles
from tests.timeline.torch_npu_db import write_db
from tests.timeline.torch_npu_trace import HOST, torch_npu, write_array, write_object

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from backends.timeline.trace import Trace

WHOLE = Observation(state="whole", exit_code=0, success=True)
INCOMPLETE = Observation(state="incomplete", exit_code=3, success=False)
REFUSED = Observation(state="refused", exit_code=1, success=False)
KEPT = Observation(state="kept", success=True)
MADE_AGAIN = Observation(state="made again", success=False)

# What reading a profile answers


def read(build: Callable[[Path], Path], folder: Path) -> Observation:
    """Read what was built with the command itself, in a cache of its own."""
    with OwnHomes(folder):
        path = build(folder / "data")
        lines: list[str] = []
        code, answer = timeline(TimelineSpec(profile=Profile(profile_path=path)), lines.append)
    state = str(answer.get("state", "refused" if code == 1 else "unknown"))
    return Observation(state=state, exit_code=code, success=code == 0)


class OwnHomes:
    """Homes in a folder of the case: a cache of another case would be believed."""

    def __init__(self, folder: Path) -> None:
        self.values = {f"XDG_{name.upper()}_HOME": str(folder / "home" / name) for name in ("cache", "state", "config")}

    def __enter__(self) -> None:
        self.former = {name: os.environ.get(name) for name in self.values}
        os.environ.update(self.values)

    def __exit__(self, *_: object) -> None:
        for name, value in self.former.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def text(folder: Path, *, steps: int = 2, kernels: int = 12) -> Path:
    return write_array(folder / "trace_view.json", torch_npu(steps=steps, kernels=kernels))


def cut(folder: Path, share: float) -> Path:
    path = text(folder)
    os.truncate(path, int(path.stat().st_size * share))
    return path


def with_event(folder: Path, **changes: Any) -> Path:
    events = torch_npu()
    number = next(i for i, event in enumerate(events) if event["ph"] == "X")
    events[number] = {**events[number], **changes}
    return write_array(folder / "trace_view.json", events)


def thinned(folder: Path, keeps: Callable[[int, dict[str, Any]], bool], steps: int = 4) -> Path:
    """A trace whose JSON is whole, and which lacks events; a process behind the other, as torch_npu writes it."""
    whole = sorted(torch_npu(steps=steps, kernels=30), key=lambda event: event["pid"])
    events = [event for number, event in enumerate(whole) if keeps(number, event)]
    return write_array(folder / "trace_view.json", events)


def is_step(event: dict[str, Any], *numbers: int) -> bool:
    return event["name"] in {f"ProfilerStep#{number}" for number in numbers}


def is_kernel(event: dict[str, Any]) -> bool:
    return event["ph"] == "X" and "Task Type" in event.get("args", {})


def is_flow(event: dict[str, Any], phase: str, cat: str = "") -> bool:
    return bool(event["ph"] == phase and (not cat or event.get("cat") == cat))


def joined(folder: Path, *, is_array_each: bool) -> Path:
    """A trace that was appended to itself: as two arrays, or as one."""
    whole = text(folder, steps=3).read_text()
    inner = whole.strip()[1:-1]
    return with_text(folder, whole + "\n" + whole if is_array_each else f"[{inner}, {inner}]")


def without_lanes(folder: Path, rank: int, layer: int) -> Path:
    """Of one rank of three, the lanes of a layer of its trace are missing."""
    path = rank_trace(ranks(folder, 3), rank)
    pids = [(HOST << 10) | (layer << 5) | rank] if layer else [HOST]
    events = [event for event in json.loads(path.read_text()) if event.get("pid") not in pids or event["ph"] != "X"]
    path.write_text(json.dumps(events))
    return folder


def cut_after(folder: Path, step: int, rank: int = 0, *, count: int = 1, tables: bool = True, asked: int = 0) -> Path:
    """Of one rank, nothing that begins after a step is in the trace, whose JSON is whole. `asked`: steps of the
    schedule in the profiler's settings."""
    path = rank_trace(ranks(folder, count, steps=4, kernels=30), rank)
    events = json.loads(path.read_text())
    last = next(event for event in events if is_step(event, step))
    end = float(last["ts"]) + last["dur"]
    path.write_text(json.dumps([event for event in events if event["ph"] == "M" or float(event["ts"]) < end]))
    if not tables:
        for table in folder.rglob("step_trace_time.csv"):
            table.unlink()
    for info in folder.rglob("profiler_info_*.json") if asked else ():
        settings = json.loads(info.read_text())
        settings["config"]["common_config"]["schedule"] = {"wait": 0, "warmup": 1, "active": asked, "repeat": 1}
        info.write_text(json.dumps(settings))
    return folder


def of_torch(folder: Path, *, has_end: bool = True, last: float = 1e5) -> Path:
    """A trace of torch.profiler whose one step takes 9 ms of the 100 that were recorded. `last`: of its events, in
    microseconds behind its begin."""
    whole = kineto(count=90)
    begin, events = 4341505726000.0, []
    for event in whole["traceEvents"]:
        is_end = event["name"] == "Record Window End"
        if (has_end or not is_end) and (is_end or event["ts"] < begin + last):
            events.append({**event, "dur": 9e3} if event.get("dur", 0) == 9e4 else event)
    return write_object(folder / "trace.json", {**whole, "traceEvents": events})


THINNED: tuple[tuple[str, Callable[[int, dict[str, Any]], bool]], ...] = (
    ("every second event", lambda number, event: bool(event["ph"] == "M" or number % 2)),
    ("the second half of its events", lambda number, event: number < 1000),
    ("half of the ends of flows", lambda number, event: bool(not is_flow(event, "f") or number % 4 < 2)),
    ("the begins of flows to kernels", lambda _number, event: not is_flow(event, "s", "async_npu")),
    ("the ends of the queue's flows", lambda _number, event: not is_flow(event, "f", "async_task_queue")),
    ("half of its kernels", lambda number, event: bool(not is_kernel(event) or number % 28 < 14)),
    ("all kernels", lambda _number, event: not is_kernel(event)),
    ("a step in the middle", lambda _number, event: not is_step(event, 1)),
    ("two steps in the middle", lambda _number, event: not is_step(event, 1, 2)),
)


def with_text(folder: Path, content: str, name: str = "trace_view.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content)
    return folder / name


def rank_trace(folder: Path, rank: int) -> Path:
    return next(folder.glob(f"*{rank}_ascend_pt")) / OUTPUT / "trace_view.json"


def cut_rank(folder: Path, rank: int, share: float) -> Path:
    path = rank_trace(ranks(folder, 3), rank)
    os.truncate(path, int(path.stat().st_size * share))
    return folder


def unreadable_rank(folder: Path, rank: int, content: str) -> Path:
    rank_trace(ranks(folder, 3), rank).write_text(content)
    return folder


def unparsed_rank(folder: Path, rank: int) -> Path:
    shutil.rmtree(rank_trace(ranks(folder, 3), rank).parent)
    return folder


def without_trace(folder: Path, rank: int, named: str = "{}") -> Path:
    """The trace of one rank is gone, its tables are there. `named`: of its folder, after what torch_npu calls it."""
    path = rank_trace(ranks(folder, 3), rank)
    path.unlink()
    parent = path.parent.parent
    parent.rename(parent.with_name(named.format(parent.name)))
    return folder


def tables_alone(folder: Path) -> Path:
    """No rank has a trace: the tables are what is opened."""
    for path in ranks(folder, 2).rglob("trace_view.json"):
        path.unlink()
    return folder


def without_steps(folder: Path, rank: int) -> Path:
    """Of one rank no step was recorded, so that it is in no figure of the sentence."""
    path = rank_trace(ranks(folder, 2), rank)
    events = [event for event in json.loads(path.read_text()) if "ProfilerStep" not in str(event.get("name"))]
    path.write_text(json.dumps(events))
    return folder


def database(folder: Path, *changes: str, tasks: int = 60) -> Path:
    path = write_db(folder / "ascend_pytorch_profiler_0.db", tasks=tasks)
    with closing(sqlite3.connect(path)) as base:
        for change in changes:
            base.execute(change)
        base.commit()
    return path


def cut_database(folder: Path, share: float) -> Path:
    path = database(folder, tasks=3000)
    os.truncate(path, int(path.stat().st_size * share))
    return path


def zipped(folder: Path, share: float = 1.0) -> Path:
    data = gzip.compress(text(folder).read_bytes())
    path = folder / "trace.json.gz"
    path.write_bytes(data[: int(len(data) * share)])
    (folder / "trace_view.json").unlink()
    return path


def memory_table(folder: Path, row: str) -> Path:
    path = rank_trace(ranks(folder, 1), 0).parent / "memory_record.csv"
    with path.open("a") as file:
        file.write(row + "\n")
    return folder


def with_table(folder: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    """Change the bytes of one table next to a trace."""
    path = rank_trace(ranks(folder, 1, kernels=30), 0).parent / name
    path.write_bytes(change(path.read_bytes()))
    return folder


def to_half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def to_noise(data: bytes) -> bytes:
    """Return as many bytes that are no text."""
    return bytes((at * 167 + at // 7) % 256 for at in range(len(data)))


def with_noise_inside(data: bytes) -> bytes:
    return data[: len(data) // 2] + bytes(range(256)) + data[len(data) // 2 :]


def rank_db(folder: Path, *changes: str) -> Path:
    """A database with everything that one rank of two writes, and the settings of its capture next to it."""
    path = next((write_profiles(folder) / "ascend_pytorch_2rank" / "db").rglob("ascend_pytorch_profiler_0.db"))
    with closing(sqlite3.connect(path)) as base:
        for change in changes:
            base.executescript(change)
        base.commit()
    if changes == (NO_COMMUNICATION,):  # the analysis of a single card has none either
        path.with_name("analysis.db").unlink()
    return path


def overwritten(folder: Path, table: str, *, leaf: bool, noise: bytes) -> Path:
    """A page of a table is overwritten: its first, or one of its rows."""
    path = database(folder, tasks=20000)
    with closing(sqlite3.connect(path)) as base:
        (root,) = base.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    data = bytearray(path.read_bytes())
    begin = 4096 * (root - 1)
    if leaf:
        begin = 4096 * (int.from_bytes(data[begin + 8 : begin + 12], "big") - 1)
    data[begin : begin + 4096] = (noise * 4096)[:4096]
    path.write_bytes(data)
    return path


def damaged_not_cut(build: Callable[[Path], Path], folder: Path) -> Observation:
    """Tell by which word a database with an overwritten page is incomplete."""
    with OwnHomes(folder):
        _, answer = timeline(TimelineSpec(profile=Profile(profile_path=build(folder / "data"))), lambda _line: None)
    is_cut = any(source["truncated"] for source in answer["sources"])
    state = "cut off" if is_cut else "damaged" if any("damaged" in note for note in answer["notes"]) else "whole"
    return Observation(state=state, success=state == "whole")


NOT_REFERRED = "UPDATE PYTORCH_API SET callchainId = NULL; DROP TABLE PYTORCH_CALLCHAINS"
NO_COMMUNICATION = (
    "DELETE FROM TASK WHERE globalTaskId IN (SELECT globalTaskId FROM COMMUNICATION_TASK_INFO);"
    "DROP TABLE COMMUNICATION_TASK_INFO; DROP TABLE COMMUNICATION_OP"
)
DATABASES: tuple[tuple[str, tuple[str, ...], Observation], ...] = (
    *(
        (f"{table} is gone", (f"DROP TABLE {table}",), INCOMPLETE)
        for table in (
            "COMMUNICATION_OP", "STRING_IDS", "TASK", "COMPUTE_TASK_INFO", "CONNECTION_IDS", "PYTORCH_CALLCHAINS",
            "PYTORCH_API", "CANN_API", "STEP_TIME", "MEMORY_RECORD", "OP_MEMORY",
        )
    ),
    *(
        (f"{table} is empty", (f"DELETE FROM {table}",), INCOMPLETE)
        for table in ("COMMUNICATION_OP", "STRING_IDS", "TASK", "CONNECTION_IDS", "STEP_TIME")
    ),
    ("an operator of communication is missing", ("DELETE FROM COMMUNICATION_OP WHERE rowid = 1",), INCOMPLETE),
    (
        "communication is known from the calls of HCCL alone",
        (f"UPDATE CANN_API SET type = 5500 WHERE rowid IN (SELECT min(rowid) FROM CANN_API); {NO_COMMUNICATION}",),
        INCOMPLETE,
    ),
    *(
        (
            f"the text of {table}.{column} is missing",
            (f"DELETE FROM STRING_IDS WHERE id IN (SELECT {column} FROM {table})",),
            INCOMPLETE,
        )
        for table, column in (
            ("TASK", "taskType"), ("COMPUTE_TASK_INFO", "name"), ("COMPUTE_TASK_INFO", "opType"),
            ("COMMUNICATION_OP", "groupName"), ("PYTORCH_API", "inputShapes"), ("PYTORCH_CALLCHAINS", "stack"),
            ("TASK_PMU_INFO", "name"), ("CANN_API", "name"), ("COMPUTE_TASK_INFO", "inputShapes"),
        )
    ),
    ("half of the connections are missing", ("DELETE FROM CONNECTION_IDS WHERE id % 2",), INCOMPLETE),
    ("nothing is missing", (), WHOLE),
    ("a card without communication", (NO_COMMUNICATION,), WHOLE),
    ("a capture without stacks", (NOT_REFERRED,), WHOLE),
    ("a capture without metrics of kernels", ("DROP TABLE TASK_PMU_INFO",), WHOLE),
    ("a text that no row uses is missing", ("INSERT INTO STRING_IDS VALUES (999999, 'x')",), WHOLE),
    ("a table of a newer version is there", ("CREATE TABLE NEWER (name); INSERT INTO NEWER VALUES (77777777)",), WHOLE),
    ("the profiler writes its number for none", ("UPDATE COMPUTE_TASK_INFO SET attrInfo = 4294967295",), WHOLE),
    ("counters of memory modules are not collected", ("DROP TABLE NPU_MODULE_MEM; DROP TABLE NPU_MEM",), WHOLE),
    ("the rank is not known", ("DROP TABLE RANK_DEVICE_MAP",), WHOLE),
)  # fmt: skip
PAGES = tuple(
    (
        f"{'rows' if leaf else 'first page'} of {table} overwritten with {name}",
        partial(overwritten, table=table, leaf=leaf, noise=noise),
    )
    for table in ("TASK", "CANN_API", "PYTORCH_API")
    for leaf in (False, True)
    for name, noise in (("zeros", b"\0"), ("text", b"lorem ipsum "), ("bytes", bytes(range(255, 0, -1))))
)  # fmt: skip
DAMAGED = Observation(state="damaged", success=False)
TABLES = ("kernel_details.csv", "memory_record.csv", "step_trace_time.csv")
READING: tuple[tuple[str, Callable[[Path], Path], Observation], ...] = (
    *(
        (f"a text trace that is cut at {share:.0%}", partial(cut, share=share), INCOMPLETE)
        for share in (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97)
    ),
    *(
        (f"rank {rank} of three is cut at {share:.0%}", partial(cut_rank, rank=rank, share=share), INCOMPLETE)
        for rank in (0, 1, 2)
        for share in (0.4, 0.7, 0.95)
    ),
    *(
        (f"rank {rank} of three holds {name}", partial(unreadable_rank, rank=rank, content=content), INCOMPLETE)
        for rank, name, content in (
            (0, "no event", "[]"),
            (1, "an empty object", '{"traceEvents": []}'),
            (2, "zero bytes", ""),
            (1, "a sentence", "killed by signal 9"),
        )
    ),
    *((f"rank {rank} of three was never parsed", partial(unparsed_rank, rank=rank), INCOMPLETE) for rank in (0, 1, 2)),
    *((f"rank {rank} of three has tables alone", partial(without_trace, rank=rank), INCOMPLETE) for rank in (0, 1, 2)),
    ("a renamed rank has tables alone", partial(without_trace, rank=1, named="second"), INCOMPLETE),
    ("no rank has a trace, each has tables", tables_alone, WHOLE),
    *((f"rank {rank} of two has no step", partial(without_steps, rank=rank), INCOMPLETE) for rank in (0, 1)),
    *(
        (f"an event with {name}", partial(with_event, **changes), INCOMPLETE)
        for name, changes in (
            ("a time in words", {"ts": "soon"}),
            ("no time", {"ts": None}),
            ("a negative duration", {"dur": -5}),
            ("an infinite duration", {"dur": "Infinity"}),
            ("a time a thousand years later", {"ts": "33293321874714258.990"}),
            ("a list as time", {"ts": [1]}),
        )
    ),
    (
        "an event whose JSON is malformed",
        lambda folder: with_text(folder, (text(folder).read_text()[:-1] + ', {"ph": "X", "name": }]')),
        INCOMPLETE,
    ),
    ("items that are no events", lambda folder: with_text(folder, text(folder).read_text()[:-1] + ", 7]"), INCOMPLETE),
    (
        "a db task without times",
        lambda folder: database(folder, "UPDATE TASK SET endNs = NULL WHERE rowid = 7"),
        INCOMPLETE,
    ),
    (
        "a db task that ends before it begins",
        lambda folder: database(folder, "UPDATE TASK SET endNs = startNs - 9 WHERE rowid = 7"),
        INCOMPLETE,
    ),
    (
        "a db task whose time is text",
        lambda folder: database(folder, "UPDATE TASK SET startNs = 'x' WHERE rowid = 9"),
        INCOMPLETE,
    ),
    *((f"a db that is cut at {share:.0%}", partial(cut_database, share=share), INCOMPLETE) for share in (0.6, 0.8)),
    *((f"a gzip that is cut at {share:.0%}", partial(zipped, share=share), INCOMPLETE) for share in (0.3, 0.6, 0.9)),
    ("a table row with a time in words", partial(memory_table, row="PTA,never\t,1,2,3,4,NPU:0"), INCOMPLETE),
    (
        "a table row with figures in words",
        partial(memory_table, row="PTA,1736412474714258.990\t,much,more,most,4,NPU:0"),
        INCOMPLETE,
    ),
    *(
        (f"{name} {damage}", partial(with_table, name=name, change=change), INCOMPLETE)
        for name in TABLES
        for damage, change in (
            ("is cut to half", to_half),
            ("lacks its last line end", lambda data: data[:-1]),
            ("is empty", lambda _data: b""),
            ("holds random bytes", to_noise),
            ("holds random bytes inside", with_noise_inside),
        )
    ),
    *(
        (f"{name} {change_name}", partial(with_table, name=name, change=change), WHOLE)
        for name in TABLES
        for change_name, change in (
            ("is as it was written", bytes),
            ("has the line ends of Windows", lambda data: data.replace(b"\n", b"\r\n")),
            ("has a byte order mark", lambda data: b"\xef\xbb\xbf" + data),
            ("has its head alone", lambda data: data.partition(b"\n")[0] + b"\n"),
        )
    ),
    *((f"a trace that lacks {name}", partial(thinned, keeps=keeps), INCOMPLETE) for name, keeps in THINNED),
    *(
        (f"a trace that lacks its {name} step", partial(thinned, keeps=keeps), WHOLE)
        for name, keeps in (
            ("first", lambda _number, event: not is_step(event, 0)),
            ("last", lambda _number, event: not is_step(event, 3)),
        )
    ),
    (
        "a trace that lacks one flow at its edge",
        partial(thinned, keeps=lambda _number, event: not (is_flow(event, "f") and str(event["id"]) == "1")),
        WHOLE,
    ),
    *(
        (f"a trace that is cut after step {step}, by its table", partial(cut_after, step=step), INCOMPLETE)
        for step in (0, 1, 2)
    ),
    *(
        (
            f"a trace that is cut after step {step}, by its schedule",
            partial(cut_after, step=step, tables=False, asked=4),
            INCOMPLETE,
        )
        for step in (0, 1, 2)
    ),
    *(
        (
            f"rank {rank} of three is cut after step {step}",
            partial(cut_after, step=step, rank=rank, count=3, tables=False),
            INCOMPLETE,
        )
        for rank, step in ((0, 2), (1, 0), (2, 1))
    ),
    ("a trace with all steps of its schedule", partial(cut_after, step=3, asked=4), WHOLE),
    (
        "a trace of torch without its end",
        partial(of_torch, has_end=False),
        INCOMPLETE,
    ),
    (
        "a trace of torch without its last events",
        partial(of_torch, last=9e3),
        INCOMPLETE,
    ),
    ("a trace as two arrays in one file", partial(joined, is_array_each=True), INCOMPLETE),
    ("a trace with each event twice", partial(joined, is_array_each=False), INCOMPLETE),
    *(
        (f"rank {rank} of three lacks {name}", partial(without_lanes, rank=rank, layer=layer), INCOMPLETE)
        for rank in (0, 1, 2)
        for name, layer in (("its hardware", 13), ("its host", 0), ("its communication", 15))
    ),
    ("no profile but a sentence", partial(with_text, content="hello", name="notes.txt"), REFUSED),
    ("a JSON of a configuration", partial(with_text, content='{"lr": 0.1}', name="config.json"), REFUSED),
    ("an empty list of events", partial(with_text, content="[]"), REFUSED),
    ("an empty file", partial(with_text, content=""), REFUSED),
    (
        "a trace of which every event is set aside",
        partial(with_text, content='[{"ph": "?", "name": "a", "pid": 1, "ts": 1}]'),
        REFUSED,
    ),
    ("an empty db", lambda folder: with_text(folder, "", "ascend_pytorch_profiler_0.db"), REFUSED),
    ("text that is named a db", lambda folder: with_text(folder, "x" * 5000, "ascend_pytorch_profiler_0.db"), REFUSED),
    *(
        (f"a text trace of {steps} steps with {kernels} kernels", partial(text, steps=steps, kernels=kernels), WHOLE)
        for steps in (1, 2, 3, 5, 8)
        for kernels in (1, 12, 30)
    ),
    *(
        (f"{count} ranks of {steps} steps", partial(ranks, count=count, steps=steps), WHOLE)
        for count in (1, 2, 3, 4)
        for steps in (1, 3)
    ),
    *((f"a db of {tasks} tasks", partial(database, tasks=tasks), WHOLE) for tasks in (3, 30, 60, 150, 300, 2000)),
    ("a gzip", zipped, WHOLE),
    ("a trace of torch to the end of its recording", of_torch, WHOLE),
    ("a trace of torch on a CPU", lambda folder: write_object(folder / "trace.json", kineto()), WHOLE),
    ("a trace with a byte order mark", lambda folder: with_text(folder, "\ufeff" + text(folder).read_text()), WHOLE),
    ("a trace with blank space behind it", lambda folder: with_text(folder, text(folder).read_text() + "\n \n"), WHOLE),
)

# Whether what was stored is believed


def stored(damage: Callable[[Path], None], folder: Path) -> Observation:
    """Damage what was stored of a profile, and see whether it is shown."""
    with OwnHomes(folder):
        path = text(folder / "data")
        first = read_profile(path, lambda _done, _total: None)
        damage(first.cache)
        is_believed = open_cached(path) is not None
        again = read_profile(path, lambda _done, _total: None)
    if again.trace.meta != first.trace.meta or again.fresh == is_believed:
        return Observation(state="neither", success=is_believed)
    return KEPT if is_believed else MADE_AGAIN


def change(column: str, alter: Callable[[Any], None], cache: Path) -> None:
    values = np.load(cache / f"{column}.npy")
    alter(values)
    np.save(cache / f"{column}.npy", values)


def flip(name: str, cache: Path) -> None:
    """Change one bit in the middle of a file."""
    data = bytearray((cache / name).read_bytes())
    data[len(data) * 3 // 4] ^= 4
    (cache / name).write_bytes(bytes(data))


def set_values(part: slice, value: int, values: Any) -> None:
    values.reshape(-1)[part] = value


COLUMNS = (
    "start",
    "end",
    "name",
    "event",
    "row_begin",
    "row_lane",
    "cover",
    "arrow",
    "arrow_kind",
    "arrow_by_to",
    "name_family",
    "name_begin",
)
CACHES: tuple[tuple[str, Callable[[Path], None], Observation], ...] = (
    *((f"one bit of {column} is turned", partial(flip, f"{column}.npy"), MADE_AGAIN) for column in COLUMNS),
    *(
        (f"one bit of {name} is turned", partial(flip, name), MADE_AGAIN)
        for name in ("names.bin", "meta.json", "seal.json")
    ),
    *(
        (
            f"{column} holds a number beyond all others",
            partial(change, column, partial(set_values, slice(1, 5), 2**30)),
            MADE_AGAIN,
        )
        for column in ("name", "row_begin", "row_lane", "arrow", "arrow_by_to", "end")
    ),
    *(
        (f"{column} is filled with zeros", partial(change, column, partial(set_values, slice(None), 0)), MADE_AGAIN)
        for column in ("start", "end", "name_begin", "cover")
    ),
    *(
        (f"{name} is gone", lambda cache, name=name: (cache / name).unlink(), MADE_AGAIN)
        for name in ("seal.json", "meta.json", "end.npy", "names.bin")
    ),
    *(
        (
            f"{name} is half",
            lambda cache, name=name: os.truncate(cache / name, (cache / name).stat().st_size // 2),
            MADE_AGAIN,
        )
        for name in ("start.npy", "name.npy", "seal.json")
    ),
    ("nothing is touched", lambda _cache: None, KEPT),
    (
        "only the time of the files is another",
        lambda cache: [os.utime(path, (1, 1)) for path in cache.iterdir()] and None,
        KEPT,
    ),
    ("another file lies beside the columns", lambda cache: (cache / "seen.npy").write_bytes(b"x") and None, KEPT),
)

# Whether the figures of the sentences are of one step of one rank

STEP, COMPILING, FREE = 50, 20, 30


def repeated(folder: Path, *, rank_count: int, steps: int) -> Trace:
    """Steps that are alike: 10 ns of work, 30 ns free, of which the host compiles 20, 10 ns of work."""
    begins = range(0, steps * 100, 100)
    lanes = [
        lane
        for rank in range(rank_count)
        for lane in (
            LaneSpec(
                process=f"npu {rank}", rank=rank, slices=[(at + s, at + s + 10, "mm") for at in begins for s in (0, 40)]
            ),
            LaneSpec(
                name="main",
                kind="host",
                process=f"host {rank}",
                rank=rank,
                slices=[(at + 15, at + 35, "aclopCompile") for at in begins],
            ),
        )
    ]
    trace = trace_of(folder, lanes, steps=[(at // 100, at, at + 50) for at in begins])
    each = tuple(structs.replace(step, rank=None) for step in trace.meta.steps)
    return replace(trace, meta=structs.replace(trace.meta, steps=each))


def told(build: Callable[[Path], Trace], folder: Path) -> Observation:
    summary = step_summary(build(folder))
    is_one = summary.whole == STEP and [cause.ns for cause in summary.causes] == [COMPILING]
    is_one = is_one and round(summary.share("free") * summary.whole) == FREE
    is_partial = any("None of these figures" in sentence for sentence in texts(summary))
    state = "a part" if is_partial else "one basis" if is_one else "mixed"
    return Observation(state=state, success=state == "one basis")


def with_rank_outside(folder: Path, *, rank_count: int, steps: int) -> Trace:
    """One rank more, which works in no step."""
    trace = repeated(folder, rank_count=rank_count + 1, steps=steps)
    last = max(process.rank or 0 for process in trace.meta.processes)
    every = (structs.replace(step, rank=rank) for step in trace.meta.steps for rank in range(rank_count + 1))
    each = tuple(step if step.rank != last else structs.replace(step, start=10**6, end=10**6 + 1) for step in every)
    return replace(trace, meta=structs.replace(trace.meta, steps=each))


ONE_BASIS, PART = Observation(state="one basis", success=True), Observation(state="a part", success=False)
SENTENCES: tuple[tuple[str, Callable[[Path], Trace], Observation], ...] = (
    *(
        (
            f"{rank_count} ranks with {steps} steps that are alike",
            partial(repeated, rank_count=rank_count, steps=steps),
            ONE_BASIS,
        )
        for rank_count in (1, 2, 3, 5, 8)
        for steps in (1, 2, 4, 10, 40)
    ),
    *(
        (
            f"{rank_count} ranks with {steps} steps, and a rank that works in none",
            partial(with_rank_outside, rank_count=rank_count, steps=steps),
            PART,
        )
        for rank_count in (1, 2)
        for steps in (1, 3)
    ),
)

# Whether the file of a stack line is the one that the profile names

SOURCE = "import torch\n\nclass Net:\n    def forward(self, x):\n        return x\n\ndef main():\n    Net()\n"


def source(line: int, function: str, folder: Path, content: str = SOURCE, name: str = "train.py") -> Observation:
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "train.py").write_text(content)
    written = f"/other/host/src/{name}" if name != "train.py" else str(folder / "src" / name)
    _, match = find_source(written, line, function, (), (folder,))
    return Observation(state=match, success=match == "same")


SAME, OTHER, MISSING = (Observation(state=state, success=state == "same") for state in ("same", "other", "missing"))
SOURCES: tuple[tuple[str, Callable[[Path], Observation], Observation], ...] = (
    *(
        (f"line {line} of {function}", partial(source, line, function), SAME)
        for line, function in (
            (4, "forward"),
            (5, "forward"),
            (7, "main"),
            (8, "main"),
            (1, "<module>"),
            (5, "Net.forward"),
        )
    ),
    *(
        (f"line {line} of {function}, which is elsewhere", partial(source, line, function), OTHER)
        for line, function in ((8, "forward"), (451, "_conv_forward"), (5, "main"), (99, "<module>"), (1, "forward"))
    ),
    ("a file of another version", partial(source, 5, "forward", content="# newer\n" * 30), OTHER),
    ("a file that is no Python", partial(source, 5, "forward", content="def f(:\n" * 9), OTHER),
    ("a file that is not here", partial(source, 5, "forward", name="gone.py"), MISSING),
)

# Whether two windows keep each other's notes


def noted(count: int, folder: Path) -> Observation:
    """Several windows, each of which knows only its own notes, write by turns."""
    path = folder / "notes.json"
    own: list[tuple[Mark, ...]] = [() for _ in range(count)]
    for turn in range(3):
        for window in range(count):
            marks = (*own[window], Mark(begin=turn, end=turn, text=f"{window} {turn}"))
            merge_notes(path, own[window], marks)
            own[window] = marks
    state = "kept" if len(read_notes(path)) == 3 * count else "lost"
    return Observation(state=state, success=state == "kept")


CASES = (
    *(
        VerdictCase(name=f"timeline: {name}", verdict="profile", expected=expected, observe=partial(read, build))
        for name, build, expected in READING
    ),
    *(
        VerdictCase(
            name=f"timeline db: {name}",
            verdict="profile",
            expected=expected,
            observe=partial(read, lambda folder, changes=changes: rank_db(folder, *changes)),
        )
        for name, changes, expected in DATABASES
    ),
    *(
        VerdictCase(
            name=f"timeline db: {name}", verdict="profile", expected=DAMAGED, observe=partial(damaged_not_cut, build)
        )
        for name, build in PAGES
    ),
    *(
        VerdictCase(name=f"timeline cache: {name}", verdict="cache", expected=expected, observe=partial(stored, damage))
        for name, damage, expected in CACHES
    ),
    *(
        VerdictCase(
            name=f"timeline sentence: {name}", verdict="step sentence", expected=expected, observe=partial(told, build)
        )
        for name, build, expected in SENTENCES
    ),
    *(
        VerdictCase(name=f"timeline stack: {name}", verdict="stack line", expected=expected, observe=observe)
        for name, observe, expected in SOURCES
    ),
    *(
        VerdictCase(
            name=f"timeline notes: {count} windows", verdict="notes", expected=KEPT, observe=partial(noted, count)
        )
        for count in (1, 2, 3, 5)
    ),
)
