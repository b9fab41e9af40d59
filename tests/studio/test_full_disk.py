"""A disk that is full when a run begins, works or ends. `prove disk` is the long version."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from studio import processes, worker
from studio import run as runs
from studio.errors import print_traceback
from studio.events import Ended, Finding
from studio.tail import RunTail
from tests.command_line import last_json, studio
from tests.full_disk import limited_files
from tests.prove.support.full_disk import (
    CODE,
    WAIT,
    SmallDisk,
    end_at_each_byte,
    faults_of,
    record_through,
    small_disk,
    start_with_pages,
)
from tests.runs import ended, events_of, launch, wait_for, worker_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Make = Callable[[str], Path]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """A file system of a few megabytes; skipped where mounting is not allowed."""
    with small_disk(tmp_path) as disk:
        if disk is None:
            pytest.skip("mounting needs root")
        yield disk


def kill_worker(run: runs.Run) -> None:
    process = worker_of(run)
    processes.kill_all([process])
    wait_for(lambda: worker.reap_started() or not processes.is_same(process))


def test_that_an_exit_code_for_which_there_is_no_file_is_left_as_a_link(tmp_path: Path, interpreter: Make) -> None:
    run = launch(tmp_path / "runs", interpreter("mkdir exit.a1.tmp; exit 5"))
    assert ended(run).code == 5
    assert (run.folder / "exit.a1").readlink() == Path("5")


@pytest.mark.parametrize("code", [0, 5])
def test_that_a_worker_knows_the_exit_code_of_a_program_whose_folder_took_nothing(
    tmp_path: Path, interpreter: Make, code: int
) -> None:
    run = launch(tmp_path / "runs", interpreter(f"mkdir exit.a1.tmp exit.a1; exit {code}"))
    glance = ended(run)
    assert (glance.code, glance.reason) == (code, "")


def test_that_a_shim_that_was_killed_says_nothing_of_its_program(tmp_path: Path, interpreter: Make) -> None:
    run = launch(tmp_path / "runs", interpreter("kill -KILL $PPID; exit 0"))
    assert ended(run).reason == "lost"


def test_that_the_shim_of_a_killed_worker_tries_until_it_can_leave_the_code(tmp_path: Path, interpreter: Make) -> None:
    script = "mkdir exit.a1.tmp; ln -s nowhere exit.a1; touch ready; while [ ! -e go ]; do sleep 0.02; done; exit 5"
    run = launch(tmp_path / "runs", interpreter(script))
    wait_for((run.folder / "ready").exists)
    kill_worker(run)
    (run.folder / "go").touch()
    mark = processes.read_mark(run.folder / "training.json")
    shim = mark and mark.process()
    assert shim
    wait_for(lambda: not [one for one in processes.descendants([shim.pid]) if "sleep" not in command_of(one)])
    (run.folder / "exit.a1").unlink()
    (run.folder / "exit.a1.tmp").rmdir()
    wait_for(lambda: not processes.is_same(shim))
    worker.start(run)
    assert ended(run).code == 5


def command_of(process: processes.Process) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process.pid}/cmdline").read_text()
    return "sleep"


def test_that_an_end_of_which_only_a_part_fits_is_written_whole_later(tmp_path: Path, interpreter: Make) -> None:
    """The short version of `prove disk`, for any user: the worker's files may not grow beyond so many bytes."""
    script = "touch ready; while [ ! -e ../go ]; do sleep 0.02; done; exit 5"
    sizes = (0, 1, 10, 62, 63, 64, 65, 66, 100)
    begun = [launch(tmp_path / "runs", interpreter(script)) for _ in sizes]
    with ExitStack() as limits:
        for run, size in zip(begun, sizes, strict=True):
            wait_for((run.folder / "ready").exists)
            limits.enter_context(limited_files(size, worker_of(run).pid))
        (tmp_path / "runs" / "go").touch()
        for run in begun:
            wait_for(lambda run=run: runs.exit_code(run.folder, 1))  # type: ignore[misc]
            wait_for(lambda run=run: list(run.folder.glob("events*")))  # type: ignore[misc]
    for run in begun:
        assert ended(run).code == 5
        tail = RunTail(run.folder)
        events = [event for _, _, batch in tail.read() for event in batch]
        assert (sum(isinstance(event, Ended) for event in events), tail.damaged) == (1, 0)


def test_that_a_full_log_of_the_worker_does_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with suppress(OSError), Path("/dev/full").open("w", buffering=1) as full:
        monkeypatch.setattr(sys, "stderr", full)
        try:
            raise ValueError("a fault of ours")
        except ValueError:
            print_traceback()


def test_that_runs_that_end_on_a_full_disk_end_with_their_own_code(disk: SmallDisk) -> None:
    assert end_at_each_byte(disk, (0, 1, 64, 65, 130, 250)) == []


@pytest.mark.parametrize("pages", [0, 1, 2, 4])
def test_that_a_run_begun_on_a_nearly_full_disk_ends_with_its_code_or_a_sentence(disk: SmallDisk, pages: int) -> None:
    assert start_with_pages(disk, pages) == []


def test_that_points_of_a_full_disk_are_kept_or_told(disk: SmallDisk) -> None:
    faults, points = record_through(disk, 25_000)
    assert faults == []
    assert points["lost"] > 0


def test_that_a_disk_without_room_for_another_file_costs_no_exit_code(disk: SmallDisk) -> None:
    """A link needs no bytes, but it needs an inode: where there is none, the shim waits for one."""
    run = launch(disk.runs, disk.python(WAIT))
    wait_for(lambda: disk.begun(run))
    with suppress(OSError):
        for number in range(10_000):
            (disk.folder / f"inode-{number}").touch()
    kill_worker(run)
    disk.go()
    mark = processes.read_mark(run.folder / "training.json")
    wait_for(lambda: mark and (shim := mark.process()) and "sleep" in "".join(below(shim)))
    for path in disk.folder.glob("inode-*"):
        path.unlink()
    wait_for(lambda: runs.exit_code(run.folder, 1) == str(CODE))
    worker.start(run)
    assert faults_of(disk, run) == []


def below(shim: processes.Process) -> list[str]:
    return [command_of(process) for process in processes.descendants([shim.pid])]


def test_that_a_take_over_on_a_full_disk_does_not_give_up_a_living_training(disk: SmallDisk) -> None:
    run = launch(disk.runs, disk.python(WAIT))
    wait_for(lambda: disk.begun(run))
    kill_worker(run)
    disk.fill()
    worker.start(run)
    time.sleep(1)  # it has tried to sign in by then; earlier it would find more room, not less
    disk.go()
    wait_for(lambda: runs.exit_code(run.folder, 1))
    disk.free()
    assert faults_of(disk, run) == []


def test_that_a_reason_that_a_full_disk_refused_is_written_before_the_end(disk: SmallDisk) -> None:
    script = "echo RuntimeError: No space left on device; touch {outside}/ready; "
    run = launch(disk.runs, disk.python(script + "while [ ! -e {outside}/go ]; do sleep 0.02; done; exit 9"))
    wait_for((disk.outside / "ready").exists)
    disk.fill()
    disk.go()
    wait_for(lambda: runs.exit_code(run.folder, 1))
    disk.free()
    assert ended(run).code == 9
    events = events_of(run)
    assert isinstance(events[-1], Ended)
    assert "explain.disk_full.cause" in [event.rule for event in events if isinstance(event, Finding)]


def test_that_whoever_launches_is_told_of_missing_points_where_the_end_is_shown(
    tmp_path: Path, interpreter: Make
) -> None:
    script = """python3 - <<'EOF'
import ascend_studio, resource
ascend_studio.metric(0, loss=1.0)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
for step in range(1, 112):
    ascend_studio.metric(step, loss=1.0)
EOF"""
    words = ("launch", "--recipe", "linear", "--python", str(interpreter(script)), "--json")
    done = studio(*words, cwd=tmp_path)
    assert done.returncode == 0
    assert (last_json(done)["lost_points"], last_json(done)["lost_records"]) == (111, 0)
    assert "111 points between step 1 and 111 could not be written: File too large." in done.stderr.splitlines()
    watched = studio("--language", "zh", "watch", last_json(done)["run"], cwd=tmp_path)
    assert "第 1 到第 111 步之间有 111 个点没能写入" in watched.stderr
