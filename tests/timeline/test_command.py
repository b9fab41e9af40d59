"""`ascend-studio timeline`: its answer, its progress, and that it leaves the data alone."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from backends.timeline.build import cache
from studio.paths import ROOT
from tests.timeline.command_runs import LINE, run_timeline
from tests.timeline.other_traces import kineto
from tests.timeline.profile_folders import ranks
from tests.timeline.torch_npu_trace import torch_npu, write_array, write_object

if TYPE_CHECKING:
    from pathlib import Path

FIRST = (
    "slices",
    "flows",
    "counters",
    "lanes",
    "set_aside",
    "first_ns",
    "last_ns",
    "cpu_seconds",
    "private_mb",
    "cache",
)
SLOW = """
import sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from backends.timeline.command import timeline
from backends.timeline.spec import Profile, TimelineSpec
def say(line):
    print(line, flush=True)
    time.sleep(60)
timeline(TimelineSpec(profile=Profile(profile_path=Path(sys.argv[2]))), say)
"""


def state(folder: Path) -> dict[str, tuple[int, str]]:
    """Time and content of all files and folders."""
    return {
        str(path): (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest())
        for path in sorted([folder, *folder.rglob("*")])
    }


def test_that_the_answer_begins_as_agreed(tmp_path: Path) -> None:
    answer = run_timeline(ranks(tmp_path / "data")).answer
    assert tuple(answer)[: len(FIRST)] == FIRST
    assert answer["events"] == sum(
        answer[part] for part in ("slices", "instants", "flow_ends", "counters", "metadata", "set_aside")
    )
    assert answer["first_ns"] < answer["last_ns"]
    assert 0 < answer["private_mb"] < 300
    assert answer["cache"].startswith(os.environ["XDG_CACHE_HOME"])


def test_that_nothing_is_written_into_the_data(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "data")
    before = state(folder)
    for _ in range(2):
        assert run_timeline(folder).code == 0
    assert state(folder) == before


def test_that_data_that_cannot_be_written_opens(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "data")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert run_timeline(folder).answer["slices"] > 0


def test_that_a_window_reads_progress_as_json(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "data")
    run = run_timeline(folder, ASCEND_STUDIO_PROGRESS="json")
    lines = [json.loads(line) for line in run.error.splitlines()]
    assert lines
    assert all(0 <= line["done"] <= line["total"] for line in lines)


def test_that_a_person_reads_sentences(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    write_array(path, torch_npu())
    assert "read in" in run_timeline(path).error
    assert "loaded from the cache" in run_timeline(path).error


def test_that_what_is_no_profile_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    run = run_timeline(path)
    assert (run.code, run.answer) == (1, {})
    assert run.error.startswith(str(path))
    assert run_timeline(tmp_path / "nowhere").code == 2


def test_that_a_json_file_without_events_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"a": 1}')
    run = run_timeline(tmp_path / "config.json")
    assert (run.code, run.answer) == (1, {})
    assert "contains no events" in run.error


@pytest.mark.parametrize("data", ["[1, 2, 3]", '[{"ph": "?", "name": "a", "pid": 1, "ts": 1}]'])
def test_that_a_trace_of_which_all_is_set_aside_is_refused(tmp_path: Path, data: str) -> None:
    (tmp_path / "a.json").write_text(data)
    run = run_timeline(tmp_path / "a.json")
    assert (run.code, run.answer) == (1, {})
    assert "contains no events that can be shown" in run.error
    assert "Set aside: " in run.error


def test_that_a_cache_that_cannot_be_made_is_not_blamed_on_the_profile(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    write_array(tmp_path / "trace_view.json", torch_npu(steps=1))
    run = run_timeline(tmp_path / "trace_view.json", XDG_CACHE_HOME=str(tmp_path / "file"))
    assert run.code == 1
    assert "XDG_CACHE_HOME" in run.error
    assert "Check the path" not in run.error


def test_that_what_has_no_pid_and_no_tid_has_a_name_to_read(tmp_path: Path) -> None:
    write_object(tmp_path / "a.json", kineto())
    meta = run_timeline(tmp_path / "a.json").trace.meta
    assert '(pid "")' in {process.name for process in meta.processes}
    assert '(tid "")' in {lane.name for lane in meta.lanes}


def test_that_one_of_several_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "data")
    (next(folder.glob("*0_ascend_pt")) / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").write_text('{"traceEvents": []}')
    answer = run_timeline(folder).answer
    assert answer["slices"] > 0
    assert "contains no events" in answer["notes"][0]


def test_that_ending_it_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    write_array(path, torch_npu())
    child = subprocess.Popen(
        (sys.executable, "-c", SLOW, str(ROOT), str(path)), stdout=subprocess.PIPE,
        env={**os.environ, "ASCEND_STUDIO_PROGRESS": "json"},
    )  # fmt: skip
    assert child.stdout is not None
    with child.stdout:
        assert json.loads(child.stdout.readline())["total"] == path.stat().st_size
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=300) == 128 + signal.SIGTERM
    assert [name for name in os.listdir(cache.home()) if not name.endswith((".lock", ".use"))] == []


def test_that_a_project_s_own_modules_are_not_run(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    write_array(path, torch_npu())
    for name in ("json.py", "numpy.py", "msgspec.py"):
        (tmp_path / name).write_text("raise SystemExit(99)")
    done = subprocess.run(
        (*LINE, str(path)), cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, check=False
    )
    assert done.returncode == 0


def test_that_the_command_says_where_a_step_goes_and_of_what_its_figures_are(tmp_path: Path) -> None:
    run = run_timeline(ranks(tmp_path / "data", 2, steps=3))
    assert (run.code, run.answer["state"]) == (0, "whole")
    assert "(mean of 3 steps on each of 2 devices)" in run.error
    assert run.answer["sentences"][0] in run.error
    step = run.answer["step"]
    assert len(step["basis"]) == 6
    assert abs(sum(step[f"{name}_share"] for name in ("computing", "exposed", "free")) - 1) < 1e-5
    assert all(ns <= step["free_share"] * step["time_ns"] + 1 for ns in step["causes_ns"].values())


def test_that_a_figure_of_a_part_is_incomplete_and_does_not_end_with_0(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "data", 2)
    path = next(folder.glob("*1_ascend_pt")) / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    os.truncate(path, path.stat().st_size // 2)
    run = run_timeline(folder)
    assert (run.code, run.answer["state"]) == (3, "incomplete")
    assert "Incomplete" in run.error


def test_that_the_folder_of_a_rank_that_was_not_parsed_is_named(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "data", 2)
    shutil.rmtree(next(folder.glob("*1_ascend_pt")) / "ASCEND_PROFILER_OUTPUT")
    run = run_timeline(folder)
    assert (run.code, run.answer["state"]) == (3, "incomplete")
    assert "was not parsed" in run.error


def test_that_damaged_events_are_counted_and_no_success(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    events = torch_npu()
    events[-1]["ts"] = "soon"
    write_array(path, events)
    run = run_timeline(path)
    assert (run.code, run.answer["state"]) == (3, "incomplete")
    assert "At least 1 event is damaged" in run.error


def test_that_incomplete_stands_before_the_figures_of_a_part(tmp_path: Path) -> None:
    path = write_array(tmp_path / "trace_view.json", torch_npu())
    os.truncate(path, int(path.stat().st_size * 0.9))
    run = run_timeline(path)
    assert run.code == 3
    assert [sentence.startswith("Incomplete") for sentence in run.answer["sentences"]][:2] == [True, False]
    assert run.error.index("Incomplete") < run.error.index(run.answer["sentences"][1])
