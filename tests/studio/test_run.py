"""Run folders: made whole or not at all, read whatever happened to them."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio import processes
from studio import run as runs
from studio.errors import StudioError
from studio.events import Ended, Journal, Metric, Note, Progress
from studio.tail import RunTail
from tests.runs import write_worker

if TYPE_CHECKING:
    from pathlib import Path


def small_run(folder: Path) -> runs.Run:
    folder.mkdir(parents=True, exist_ok=True)
    run = runs.create(folder, "launch", {"what": {"recipe": "linear"}})
    Journal(run.folder, 1).write(
        Progress(done=0, total=2, phase="train"),
        Metric(step=1, values={"loss": 0.5}),
        Metric(step=2, values={"loss": "NaN", "lr": 1e-3}),
        Note(key="launch.compiling"),
        Ended(code=0),
    )
    return run


def events_file(run: runs.Run) -> Path:
    (path,) = run.folder.glob("events*.jsonl")
    return path


def test_that_a_run_reads_back_as_it_was_made(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    again = runs.open_run(run.folder)
    assert again.request == run.request
    glance = runs.glance(again)
    assert (glance.state, glance.code, glance.values["lr"]) == ("ended", 0, 1e-3)


def test_that_run_json_damaged_at_any_byte_is_read_or_refused_with_a_sentence(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    path = run.folder / "run.json"
    whole = path.read_bytes()
    for place in range(len(whole)):
        for damage in (whole[:place], whole[:place] + b"\xff" + whole[place + 1 :]):
            path.write_bytes(damage)
            listed = runs.runs_in(tmp_path)
            if not listed:
                with pytest.raises(StudioError, match=r"run\.json"):
                    runs.open_run(run.folder)
            assert all(found.request.command for found in listed)


def test_that_events_damaged_at_any_byte_lose_only_the_damaged_line(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    path = events_file(run)
    whole = path.read_bytes()
    lines = whole.count(b"\n")
    written = [event for _, _, found in RunTail(run.folder).read() for event in found]
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + b"\xff" + whole[place + 1 :])
        tail = RunTail(run.folder)
        events = [event for _, _, found in tail.read() for event in found]
        merged = whole[place : place + 1] == b"\n"
        assert len(events) + tail.damaged >= lines - 1 - merged
        assert len(events) <= lines
        assert [event for event in events if event not in written] == []
        assert runs.glance(run) is not None


def test_that_a_run_cut_off_at_any_byte_shows_exactly_its_whole_lines(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    path = events_file(run)
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place])
        tail = RunTail(run.folder)
        events = [event for _, _, found in tail.read() for event in found]
        assert (len(events), tail.damaged) == (whole[:place].count(b"\n"), 0)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(junk=st.binary(max_size=400))
def test_that_any_bytes_instead_of_a_file_of_ours_are_survived(tmp_path: Path, junk: bytes) -> None:
    run = small_run(tmp_path)
    for name in ("worker.json", "training.json", "exit.a1", events_file(run).name):
        (run.folder / name).write_bytes(junk)
    assert runs.glance(run).state in ("queued", "running", "unattended", "interrupted", "ended", "elsewhere", "lost")
    assert processes.read_mark(run.folder / "worker.json") is None or junk


def test_that_a_run_of_a_newer_studio_is_shown_but_not_worked_on(tmp_path: Path) -> None:
    from backends import features
    from studio.worker import work

    run = small_run(tmp_path)
    asked = json.loads((run.folder / "run.json").read_text()) | {"format": 2, "novelty": [1]}
    (run.folder / "run.json").write_text(json.dumps(asked))
    events_file(run).unlink()
    assert runs.open_run(run.folder).is_newer
    assert work(run.folder, features()) == 0
    assert runs.glance(run).state == "queued"


def test_that_a_run_of_another_host_is_never_taken_over(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    events_file(run).unlink()
    place = {"host": "elsewhere", "boot": "x", "namespace": "y"}
    (run.folder / "worker.json").write_text(json.dumps({"pid": 1, "start": 1, "place": place, "attempt": 1}))
    assert runs.glance(run).state == "elsewhere"


def test_that_a_run_from_before_a_restart_of_the_host_is_lost(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    events_file(run).unlink()
    place = vars(processes.current_host()) | {"boot": "an earlier one"}
    (run.folder / "worker.json").write_text(json.dumps({"pid": 1, "start": 1, "place": place, "attempt": 1}))
    assert runs.glance(run).state == "lost"


def test_that_a_run_is_found_by_path_name_and_either_end_of_its_name(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    for text in (str(run.folder), run.name, run.name[:17], run.name[-4:]):
        assert runs.find_run(tmp_path, text).folder == run.folder
    with pytest.raises(StudioError, match="no run"):
        runs.find_run(tmp_path, "nothing")


def test_that_two_runs_that_fit_are_not_guessed_between(tmp_path: Path) -> None:
    small_run(tmp_path)
    small_run(tmp_path)
    with pytest.raises(StudioError, match="several"):
        runs.find_run(tmp_path, "20")


def test_that_a_deleted_run_waits_in_the_trash_until_that_is_emptied(tmp_path: Path) -> None:
    run = small_run(tmp_path / "runs")
    runs.trash(run)
    assert runs.runs_in(tmp_path / "runs") == ()
    (thrown,) = runs.trashed(tmp_path / "runs")
    assert runs.restore(thrown, tmp_path / "runs").folder == run.folder
    runs.trash(run)
    assert runs.empty_trash(tmp_path / "runs") == 1
    assert runs.trashed(tmp_path / "runs") == ()


def test_that_a_folder_that_cannot_be_written_is_refused_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StudioError) as caught:
        runs.create(tmp_path / "file", "launch", {})
    assert caught.value.key == "error.no_such_file"


def test_that_a_copy_of_a_live_run_is_not_running(tmp_path: Path) -> None:
    run = runs.create(tmp_path / "runs", "launch", {"what": {"recipe": "linear"}})
    write_worker(run.folder)
    processes.write_mark(run.folder / "training.json", os.getpid())
    assert runs.glance(run).state == "running"
    copy = shutil.copytree(run.folder, tmp_path / "runs" / "copy")
    assert runs.glance(runs.open_run(copy)).state == "lost"
    moved = run.folder.rename(tmp_path / "runs" / "moved")
    assert runs.glance(runs.open_run(moved)).state == "running"


def test_that_an_exit_code_is_a_number_that_a_process_can_end_with(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    for text, code in (("7", "7"), ("9" * 5000, ""), ("٣", ""), ("-1", "")):
        (run.folder / "exit.a1").write_text(text)
        assert runs.exit_code(run.folder, 1) == code


def test_that_a_process_that_is_no_worker_of_the_run_is_not_taken_for_one(tmp_path: Path) -> None:
    run = runs.create(tmp_path, "launch", {"what": {"recipe": "linear"}})
    processes.write_mark(run.folder / "worker.json", os.getpid())
    assert runs.glance(run).state == "interrupted"


def test_that_files_as_large_as_a_disk_are_not_read(tmp_path: Path) -> None:
    run = small_run(tmp_path)
    (run.folder / "worker.json").touch()
    for name in ("run.json", "worker.json"):
        os.truncate(run.folder / name, 1 << 40)
    assert processes.read_mark(run.folder / "worker.json") is None
    assert runs.runs_in(tmp_path) == ()
    assert runs.damaged_runs(tmp_path, ()) == (run.name,)
