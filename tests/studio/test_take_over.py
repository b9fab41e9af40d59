"""Who may have a run worked on: only runs that this user started, in folders that nobody else writes to."""

from __future__ import annotations

import os
import shutil
import signal
from typing import TYPE_CHECKING

import pytest

from studio import run as runs
from studio import worker
from studio.project import Project, make_runs_folder
from studio.security import ledger, trust
from tests.command_line import studio
from tests.runs import ended, events_of, launch, prepare, wait_for
from tests.runs_without_worker import WAITS, age_ledger, crafted, kill_worker

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Make = Callable[[str], Path]


def test_that_a_run_of_somebody_else_is_neither_started_nor_taken_over(tmp_path: Path, interpreter: Make) -> None:
    run = crafted(tmp_path / "runs", interpreter(f"touch {tmp_path}/canary"))
    assert runs.state_of(run.folder) == "interrupted"
    assert not worker.revive(run)
    watched = studio("watch", str(run.folder), cwd=tmp_path)
    assert watched.returncode == 2
    assert f"{tmp_path}/python-of-a-test" in watched.stderr or "launch" in watched.stderr
    assert studio("stop", str(run.folder), cwd=tmp_path).returncode == 2
    assert not (tmp_path / "canary").exists()


def test_that_a_worker_that_takes_over_never_starts_a_command(tmp_path: Path, interpreter: Make) -> None:
    run = crafted(tmp_path / "runs", interpreter(f"touch {tmp_path}/canary"))
    worker.take_over(run)
    wait_for(lambda: worker.reap_started() or not worker._started)
    assert not (tmp_path / "canary").exists()
    assert runs.state_of(run.folder) == "interrupted"


def test_that_the_flag_start_starts_it_and_says_what_runs(tmp_path: Path, interpreter: Make) -> None:
    run = crafted(tmp_path / "runs", interpreter("touch canary; exit 0"))
    done = studio("watch", "--start", str(run.folder), cwd=tmp_path)
    assert (done.returncode, (run.folder / "canary").exists()) == (0, True)
    assert "ascend-studio launch" in done.stderr


def test_that_an_own_training_is_taken_over_by_itself(tmp_path: Path, interpreter: Make) -> None:
    run = launch(tmp_path / "runs", interpreter(WAITS))
    wait_for((run.folder / "ready").exists)
    kill_worker(run)
    age_ledger()
    assert worker.revive(run)
    wait_for(lambda: runs.glance(run).state == "running")
    (run.folder / "go").touch()
    assert ended(run).code == 5
    wait_for(lambda: ledger.entry_of(run.folder) is None, "the ledger forgets a run that has ended")


def test_that_a_worker_killed_before_anything_began_is_started_again_twice_and_then_told(
    tmp_path: Path, interpreter: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "MAIN", tmp_path / "no-worker.py")
    run = prepare(tmp_path / "runs", interpreter("exit 7"))
    worker.start(run)
    for _ in range(2):
        wait_for(lambda: worker.reap_started() or runs.state_of(run.folder) == "interrupted")
        age_ledger()
        assert worker.revive(run)
    wait_for(lambda: worker.reap_started() or runs.state_of(run.folder) == "interrupted")
    age_ledger()
    assert not worker.revive(run)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "home" / "state"))
    assert "3 times" in studio("watch", str(run.folder), cwd=tmp_path).stderr


def test_that_a_launch_whose_worker_is_killed_at_once_ends_with_the_programs_own_code(
    tmp_path: Path, interpreter: Make
) -> None:
    run = prepare(tmp_path / "runs", interpreter("echo once >> count; exit 7"))
    os.kill(worker.start(run), signal.SIGKILL)
    wait_for(lambda: worker.reap_started() or runs.state_of(run.folder) == "interrupted")
    done = studio("watch", str(run.folder), cwd=tmp_path)
    assert ended(run).code == 7, done.stderr
    assert (run.folder / "count").read_text() == "once\n"


@pytest.mark.parametrize("change", ["copied", "writable", "rewritten"])
def test_that_a_folder_that_others_could_have_changed_is_not_worked_on(
    tmp_path: Path, interpreter: Make, change: str
) -> None:
    run = launch(tmp_path / "runs", interpreter(WAITS))
    wait_for((run.folder / "ready").exists)
    assert ledger.is_own(run.folder)
    folder = run.folder
    if change == "copied":
        folder = tmp_path / "runs" / "copy"
        shutil.copytree(run.folder, folder)
    elif change == "writable":
        folder.chmod(0o770)
    else:
        (folder / "run.json").write_bytes((folder / "run.json").read_bytes() + b"\n")
    assert not ledger.is_own(folder)
    (run.folder / "go").touch()
    ended(run)


def test_that_a_run_in_a_restricted_project_is_shown_and_not_worked_on(tmp_path: Path, interpreter: Make) -> None:
    project = Project(folder=tmp_path / "project")
    run = launch(make_runs_folder(project), interpreter(WAITS))
    wait_for((run.folder / "ready").exists)
    kill_worker(run)
    age_ledger()
    watched = studio("--project", str(project.folder), "watch", run.name, cwd=tmp_path)
    assert (watched.returncode, "--take-over" in watched.stderr) == (2, True)
    assert runs.state_of(run.folder) == "unattended"
    trust.set_trust(project.folder, True)
    (run.folder / "go").touch()
    assert studio("--project", str(project.folder), "watch", run.name, cwd=tmp_path).returncode in (1, 5)
    assert ended(run).code == 5


def test_that_stop_signals_no_process_but_this_runs_worker(
    tmp_path: Path, interpreter: Make, bystander: subprocess.Popen[bytes]
) -> None:
    run = crafted(tmp_path / "runs", interpreter("exit 0"), worker=bystander.pid)
    done = studio("stop", str(run.folder), cwd=tmp_path)
    assert (done.returncode, bystander.poll()) == (2, None)
    assert not worker.stop(run)


def test_that_a_training_mark_that_names_a_foreign_process_is_neither_waited_for_nor_ended(
    tmp_path: Path, interpreter: Make, bystander: subprocess.Popen[bytes]
) -> None:
    run = crafted(tmp_path / "runs", interpreter("exit 0"), training=bystander.pid)
    assert studio("stop", "--take-over", str(run.folder), cwd=tmp_path).returncode in (0, 1)
    assert ended(run).reason == "lost"
    assert bystander.poll() is None


@pytest.mark.parametrize("name", ["artifacts", "output.log", "worker.lock", "worker.log", "training.json"])
def test_that_nothing_is_written_through_a_link_in_a_run_folder(tmp_path: Path, interpreter: Make, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside if name == "artifacts" else outside / "file"
    if target != outside:
        target.write_text("kept")
    run = prepare(tmp_path / "runs", interpreter("echo written; exit 0"))
    if name == "artifacts":
        (run.folder / name).rmdir()
    (run.folder / name).symlink_to(target)
    done = studio("watch", "--start", str(run.folder), cwd=tmp_path)
    assert (done.returncode, str(run.folder / name) in done.stderr) == (2, True), done.stderr
    assert [path.read_text() for path in outside.iterdir()] == ([] if name == "artifacts" else ["kept"])


def test_that_what_a_run_keeps_is_for_its_owner_alone(tmp_path: Path, interpreter: Make) -> None:
    run = launch(tmp_path / "runs", interpreter('python3 -c "import ascend_studio; ascend_studio.metric(1, loss=1)"'))
    ended(run)
    assert len(events_of(run)) > 1
    modes = {path.name: path.stat().st_mode & 0o777 for path in run.folder.iterdir() if path.is_file()}
    readable = {name for name, mode in modes.items() if mode & 0o077}
    assert (run.folder.stat().st_mode & 0o777, readable & {"run.json", "output.log", "worker.log"}) == (0o700, set())
    assert not {name for name in readable if name.startswith("events.")}
