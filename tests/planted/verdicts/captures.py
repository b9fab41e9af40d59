"""Whether a capture is done: what torch_npu and msprobe may leave behind, whole and not."""

from __future__ import annotations

import os
import sqlite3
import sys
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

from studio.paths import GUEST
from tests.planted.verdicts.case import Observation, VerdictCase

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Files = Mapping[str, str]

DONE = Observation(state="done", success=True)
PROFILE = "host_1_2_ascend_pt"
OUTPUT = f"{PROFILE}/ASCEND_PROFILER_OUTPUT"
RAW = f"{PROFILE}/PROF_000001_20261123/device_0/data"
INFO = {f"{PROFILE}/profiler_info.json": "{}", f"{PROFILE}/profiler_metadata.json": "{}"}
TRACE = '[{"name": "step", "ph": "X", "ts": "1.5", "dur": 2, "pid": 1, "tid": 1}]'
DATABASE = "a database with a table"


def write(folder: Path, files: Files) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text == DATABASE:
            with sqlite3.connect(path) as connection:
                connection.execute("CREATE TABLE TASK (startNs INTEGER)")
        else:
            path.write_text(text)


def state_of(finish: Callable[[], Any]) -> Observation:
    """What the tool says at its end: done, or the rule by which it refuses."""
    from ascend_studio.captures import Refused

    try:
        finish()
    except Refused as refused:
        return Observation(state=refused.rule, success=False)
    return DONE


def profile(files: Files, folder: Path) -> Observation:
    if str(GUEST) not in sys.path:
        sys.path.append(str(GUEST))
    from ascend_studio import captures, captures_torch

    write(folder, files)
    capture: Any = SimpleNamespace(folder=str(folder))
    with mock.patch.dict(os.environ, {captures.NPU_PROFILE: str(folder)}):
        return state_of(captures_torch.NpuProfile(capture).finish)


def dump(files: Files, folder: Path) -> Observation:
    if str(GUEST) not in sys.path:
        sys.path.append(str(GUEST))
    from ascend_studio.captures_msprobe import Dump

    write(folder, files)
    tool: Any = SimpleNamespace(capture=SimpleNamespace(folder=str(folder)))
    return state_of(lambda: Dump._refuse_half(tool))


NOTHING, RAW_ONLY, HALF = "capture.nothing_left", "capture.not_analysed", "capture.half"
BAD_PROFILES: dict[str, tuple[Files, str]] = {
    "an empty folder": ({}, NOTHING),
    "the two small files of torch_npu": (INFO, NOTHING),
    "an output folder without a trace": ({**INFO, f"{OUTPUT}/step_trace_time.csv": "Step\n"}, NOTHING),
    "a trace of no bytes": ({**INFO, f"{OUTPUT}/trace_view.json": ""}, NOTHING),
    "a trace that was cut off": ({**INFO, f"{OUTPUT}/trace_view.json": TRACE[:40]}, NOTHING),
    "a trace that was cut off behind a comma": ({**INFO, f"{OUTPUT}/trace_view.json": TRACE[:-1] + ","}, NOTHING),
    "a database of no bytes": ({**INFO, f"{OUTPUT}/ascend_pytorch_profiler_0.db": ""}, NOTHING),
    "a database that is none": ({**INFO, f"{OUTPUT}/ascend_pytorch_profiler_0.db": "SQLite format 3"}, NOTHING),
    "a trace beside the output": ({**INFO, "trace_view.json": TRACE}, NOTHING),
    "raw files of no bytes": ({**INFO, f"{RAW}/ts_track.bin": ""}, NOTHING),
    "raw data that was not analysed": ({**INFO, f"{RAW}/ts_track.bin": "raw"}, RAW_ONLY),
    "raw data and a trace that was cut off": (
        {**INFO, f"{RAW}/ts_track.bin": "raw", f"{OUTPUT}/trace_view.json": TRACE[:9]}, RAW_ONLY,
    ),
}  # fmt: skip
GOOD_PROFILES: dict[str, Files] = {
    "a trace": {**INFO, f"{OUTPUT}/trace_view.json": TRACE},
    "a trace with an empty line behind it": {**INFO, f"{OUTPUT}/trace_view.json": TRACE + "\n\n"},
    "a trace as an object": {**INFO, f"{OUTPUT}/trace_view.json": '{"traceEvents": []}'},
    "a database": {**INFO, f"{OUTPUT}/ascend_pytorch_profiler_0.db": DATABASE},
    "a database and raw data": {f"{OUTPUT}/ascend_pytorch_profiler.db": DATABASE, f"{RAW}/ts_track.bin": "raw"},
    "a trace and tables": {f"{OUTPUT}/trace_view.json": TRACE, f"{OUTPUT}/kernel_details.csv": "Name\n"},
    "two ranks": {f"{OUTPUT}/trace_view.json": TRACE,
                  f"other_3_4_ascend_pt/{OUTPUT.split('/')[1]}/trace_view.json": TRACE},
    "a trace of no events": {f"{OUTPUT}/trace_view.json": "[]"},
}  # fmt: skip


def step(number: int, process: str = "proc7", **files: str) -> dict[str, str]:
    """The files of a step as msprobe leaves them; `files` replace some, "-" leaves one out."""
    whole = {"dump": '{"data": {"a": {}}}', "stack": "{}", "construct": "{}"} | files
    return {f"step{number}/{process}/{name}.json": text for name, text in whole.items() if text != "-"}


BAD_DUMPS: dict[str, Files] = {
    "nothing": {},
    "a step without its list of calls": step(1, dump="-"),
    "a second step without its list of calls": {**step(1), **step(2, dump="-")},
    "a list that was cut off": step(1, dump='{"data": {"Functional.li'),
    "a list of no bytes": step(1, dump=""),
    "stacks that were cut off": step(1, stack='{"0": [["a"'),
    "a structure that was cut off": step(1, construct='{"a": nul'),
    "a rank without its list of calls": {**step(1, "rank0"), **step(1, "rank1", dump="-")},
    "a rank whose list was cut off": {**step(1, "rank0"), **step(1, "rank1", dump='{"da')},
    "tensors alone": {"step1/proc7/dump_tensor_data/a.pt": "tensor"},
}
GOOD_DUMPS: dict[str, Files] = {
    "one step": step(1),
    "three steps": {**step(1), **step(2), **step(3)},
    "two ranks": {**step(1, "rank0"), **step(1, "rank1")},
    "a folder that is called rank": step(0, "rank"),
    "tensors beside the list": {**step(1), "step1/proc7/dump_tensor_data/a.pt": "tensor"},
    "no structure": step(1, construct="-"),
    "a list with an empty line behind it": step(1, dump='{"data": {}}\n'),
    "a step from a thousand on": step(1234),
}
VERDICT = "capture"
CASES = (
    *(VerdictCase(name=f"NPU profile: {name}", verdict=VERDICT, observe=partial(profile, files),
                  expected=Observation(state=rule, success=False)) for name, (files, rule) in BAD_PROFILES.items()),
    *(VerdictCase(name=f"NPU profile with {name}", verdict=VERDICT, observe=partial(profile, files), expected=DONE)
      for name, files in GOOD_PROFILES.items()),
    *(VerdictCase(name=f"dump: {name}", verdict=VERDICT, observe=partial(dump, files),
                  expected=Observation(state=HALF, success=False)) for name, files in BAD_DUMPS.items()),
    *(VerdictCase(name=f"dump with {name}", verdict=VERDICT, observe=partial(dump, files), expected=DONE)
      for name, files in GOOD_DUMPS.items()),
)  # fmt: skip
