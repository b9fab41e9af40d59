"""A run whose folder somebody moves or deletes while it works or is watched."""

from __future__ import annotations

import shutil
import threading
from typing import TYPE_CHECKING

import pytest

from studio import paths, processes, worker
from studio import run as runs
from studio.errors import StudioError
from studio.events import Ended, Finding, Journal, Metric, Note
from studio.faults.held_folder import HeldFolder
from studio.follow import follow
from tests.runs import ended, events_of, launch, wait_for, worker_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Make = Callable[[str], Path]

WAIT = "touch ready; while [ ! -e {go} ]; do sleep 0.02; done; exit 5"


@pytest.fixture
def run(tmp_path: Path, interpreter: Make) -> runs.Run:
    """A run that works until there is a file `go` beside the runs, and ends with 5."""
    run = launch(tmp_path / "runs", interpreter(WAIT.format(go=tmp_path / "go")), grace=1.0)
    wait_for((run.folder / "ready").exists)
    return run


def moved(run: runs.Run, folder: Path) -> runs.Run:
    run.folder.rename(folder)
    return runs.open_run(folder)


def findings_of(run: runs.Run) -> dict[str, dict[str, object]]:
    return {event.rule: event.args for event in events_of(run) if isinstance(event, Finding)}


def test_that_a_moved_run_gets_its_end_where_it_is(tmp_path: Path, run: runs.Run) -> None:
    there = moved(run, tmp_path / "there")
    told = wait_for(lambda: findings_of(there).get("run.moved"), "the move is noticed")
    assert told == {"to": str(there.folder)}
    assert runs.glance(there).state == "running"
    (tmp_path / "go").touch()
    assert ended(there).code == 5
    assert not run.folder.exists()
    assert runs.exit_code(there.folder, 1) == "5"


def test_that_a_training_that_fails_in_a_moved_folder_is_explained(tmp_path: Path, interpreter: Make) -> None:
    script = (
        f"echo OSError: No space left on device; touch ready; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; exit 1"
    )
    run = launch(tmp_path / "runs", interpreter(script))
    wait_for((run.folder / "ready").exists)
    there = moved(run, tmp_path / "there")
    (tmp_path / "go").touch()
    ended(there)
    assert any(rule.startswith("explain.") for rule in findings_of(there))


def test_that_points_of_a_moved_run_go_on(tmp_path: Path, interpreter: Make) -> None:
    script = (
        "python3 - <<'EOF'\nimport ascend_studio, os, time\nascend_studio.metric(0, loss=1.0)\nopen('ready', 'w')\n"
        f"while not os.path.exists('{tmp_path}/go'): time.sleep(0.01)\nascend_studio.metric(1, loss=1.0)\nEOF"
    )
    run = launch(tmp_path / "runs", interpreter(script))
    wait_for((run.folder / "ready").exists)
    there = moved(run, tmp_path / "there")
    (tmp_path / "go").touch()
    assert ended(there).code == 0
    assert [event.step for event in events_of(there) if isinstance(event, Metric)] == [0, 1]


def test_that_a_moved_run_is_taken_over_and_stopped_with_all_it_started(tmp_path: Path, interpreter: Make) -> None:
    loop = "trap '' TERM; while :; do sleep 0.1; done"
    run = launch(tmp_path / "runs", interpreter(f'bash -c "{loop}" & touch ready; {loop}'), grace=0.5)
    wait_for((run.folder / "ready").exists)
    first = worker_of(run)
    family = processes.descendants([first.pid])
    there = moved(run, tmp_path / "there")
    processes.kill_all([first])
    wait_for(lambda: worker.reap_started() or runs.glance(there).state == "unattended")
    worker.start(there)
    wait_for(lambda: runs.glance(there).state == "running")
    worker.stop(there)
    assert ended(there).reason == "stopped"
    assert not [process for process in family if processes.is_same(process)]


def test_that_a_deleted_run_goes_on_to_its_end_and_leaves_nothing(tmp_path: Path, interpreter: Make) -> None:
    """The training's own outputs may lie anywhere; only its record is gone. Nobody waits to write that."""
    go = tmp_path / "go"
    run = launch(
        tmp_path / "runs", interpreter(f"touch ready; while [ ! -e {go} ]; do sleep 0.02; done; touch {go}.ne")
    )
    wait_for((run.folder / "ready").exists)
    process = worker_of(run)
    shutil.rmtree(run.folder)
    assert runs.glance(run).state == "gone"
    go.touch()
    wait_for((tmp_path / "go.ne").exists, "the program comes to its end")
    wait_for(lambda: worker.reap_started() or not processes.is_same(process), "the worker ends", seconds=30)
    assert list((tmp_path / "runs").iterdir()) == []
    assert list((paths.state_home() / "starts").glob("*.json")) == []


@pytest.mark.parametrize("fault", ["moved_away", "deleted"])
def test_that_whoever_follows_a_run_is_told_that_its_folder_is_not_there(
    tmp_path: Path, run: runs.Run, fault: str
) -> None:
    errors: list[StudioError] = []
    printed: list[str] = []
    Journal(run.folder, 1).write(Note(key="launch.stopped", args={"step": 2}))
    follower = threading.Thread(target=_follow, args=(run, printed, errors))
    follower.start()
    wait_for(lambda: printed, "the run is followed")
    if fault == "deleted":
        shutil.rmtree(run.folder)
    else:
        run.folder.rename(tmp_path / "there")
    follower.join(60)
    assert [error.key for error in errors] == [f"run.{fault}"]
    assert fault == "deleted" or str(tmp_path / "there") in str(errors[0])
    (tmp_path / "go").touch()


def _follow(run: runs.Run, printed: list[str], errors: list[StudioError]) -> None:
    try:
        follow(run, printed.append, may_revive=False)
    except StudioError as error:
        errors.append(error)


def test_that_a_run_whose_folder_is_not_there_is_not_running(tmp_path: Path, run: runs.Run) -> None:
    run.folder.rename(tmp_path / "there")
    assert runs.glance(run).state == "gone"
    (tmp_path / "there").rename(run.folder)
    assert runs.glance(run).state == "running"
    (tmp_path / "go").touch()
    assert ended(run).code == 5
    assert sum(isinstance(event, Ended) for event in events_of(run)) == 1


def test_that_another_folder_at_the_place_of_a_moved_one_is_not_taken_for_it(tmp_path: Path) -> None:
    folder = runs.create(tmp_path, "launch", {}).folder
    held = HeldFolder(folder)
    folder.rename(tmp_path / "there")
    folder.mkdir()
    assert not held.is_in_place()
    assert not held.is_deleted()
    assert held.path() == tmp_path / "there"
    shutil.rmtree(tmp_path / "there")
    assert held.is_deleted()
    held.close()
