"""The worker with real children: an 'interpreter' that is a shell script stands in for a training."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from studio import processes, worker
from studio import run as runs
from studio.errors import StudioError
from studio.events import Ended, Finding, Metric
from tests.runs import ended, events_of, launch, prepare, wait_for
from tests.studio.stubborn_training import EVIL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Make = Callable[[str], Path]


def worker_of(run: runs.Run) -> processes.Mark | None:
    return processes.read_mark(run.folder / "worker.json")


def worker_pid(run: runs.Run) -> int:
    mark = wait_for(lambda: worker_of(run), what="worker.json")
    return int(mark.pid)


def test_that_a_finished_training_is_recorded_with_its_code_and_its_output(tmp_path: Path, interpreter: Make) -> None:
    run = launch(tmp_path / "runs", interpreter("echo hello; echo oops >&2; exit 7"))
    glance = ended(run)
    assert (glance.code, glance.reason) == (7, "")
    assert run.log.read_text() == "hello\noops\n"


def test_that_a_training_killed_by_a_signal_ends_with_128_and_its_number(tmp_path: Path, interpreter: Make) -> None:
    assert ended(launch(tmp_path / "runs", interpreter("kill -SEGV $$"))).code == 128 + signal.SIGSEGV


def test_that_the_training_sees_the_run_and_not_the_studios_own_variables(
    tmp_path: Path, interpreter: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QT_SCALE_FACTOR", "2")
    monkeypatch.setenv("PYTHONPATH", "/theirs")
    run = launch(tmp_path / "runs", interpreter("env; exit 0"), env=(("KEPT", "a b=c"),))
    ended(run)
    seen = dict(line.partition("=")[::2] for line in run.log.read_text().splitlines())
    assert seen["ASCEND_STUDIO_RUN"] == os.path.realpath(run.folder)
    assert seen["KEPT"] == "a b=c"
    assert "QT_SCALE_FACTOR" not in seen
    assert seen["PYTHONPATH"].endswith(":/theirs")


def test_that_an_interpreter_that_is_not_there_ends_the_run_with_a_sentence(tmp_path: Path, interpreter: Make) -> None:
    python = interpreter("exit 0")
    run = prepare(tmp_path / "runs", python)
    python.unlink()
    worker.start(run)
    assert ended(run).code == 1
    (finding,) = [event for event in events_of(run) if isinstance(event, Finding)]
    assert finding.rule == "launch.rule.no_file"


def test_that_a_stop_lets_the_training_finish_within_its_grace(tmp_path: Path, interpreter: Make) -> None:
    python = interpreter("trap 'sleep 0.5; echo saved; exit 143' TERM; touch ready; while :; do sleep 0.1; done")
    run = launch(tmp_path / "runs", python, grace=20.0)
    wait_for((run.folder / "ready").exists)
    assert worker.stop(run)
    glance = ended(run)
    assert (glance.code, glance.reason) == (143, "stopped")
    assert "saved" in run.log.read_text()


def test_that_nothing_is_left_of_a_training_that_ignores_sigterm_forks_twice_and_calls_setsid(
    tmp_path: Path, interpreter: Make
) -> None:
    run = launch(tmp_path / "runs", interpreter(EVIL), grace=1.0)
    wait_for((run.folder / "ready").exists)
    wait_for(lambda: len(processes.descendants([worker_pid(run)])) >= 5)
    family = processes.descendants([worker_pid(run)])
    worker.stop(run)
    assert ended(run).reason == "stopped"
    assert not [one for one in family if processes.is_same(one)]


def test_that_a_second_stop_ends_it_at_once(tmp_path: Path, interpreter: Make) -> None:
    run = launch(tmp_path / "runs", interpreter("trap '' TERM; touch ready; while :; do sleep 0.1; done"), grace=600.0)
    wait_for((run.folder / "ready").exists)
    worker.stop(run)
    time.sleep(0.5)
    assert runs.glance(run).state == "running"
    worker.stop(run)
    assert ended(run).reason == "stopped"


def test_that_children_left_behind_by_a_finished_training_are_ended(tmp_path: Path, interpreter: Make) -> None:
    run = launch(tmp_path / "runs", interpreter("setsid sleep 1000 & echo $! > left; exit 0"))
    assert ended(run).code == 0
    assert processes.process(int((run.folder / "left").read_text())) is None


def test_that_a_training_survives_its_killed_worker_and_is_taken_over(tmp_path: Path, interpreter: Make) -> None:
    run = launch(tmp_path / "runs", interpreter("touch ready; while [ ! -e go ]; do sleep 0.05; done; exit 5"))
    wait_for((run.folder / "ready").exists)
    os.kill(worker_pid(run), signal.SIGKILL)
    wait_for(lambda: worker.reap_started() or runs.glance(run).state == "unattended")
    worker.start(run)
    wait_for(lambda: runs.glance(run).state == "running")
    (run.folder / "go").touch()
    assert ended(run).code == 5
    assert sum(isinstance(event, Ended) for event in events_of(run)) == 1


def test_that_a_training_taken_over_can_still_be_stopped_with_all_it_started(tmp_path: Path, interpreter: Make) -> None:
    loop = "while :; do sleep 0.1; done"
    script = f"trap '' TERM; setsid bash -c 'trap \"\" TERM; {loop}' & touch ready; {loop}"
    run = launch(tmp_path / "runs", interpreter(script), grace=0.5)
    wait_for((run.folder / "ready").exists)
    family = processes.descendants([worker_pid(run)])
    os.kill(worker_pid(run), signal.SIGKILL)
    wait_for(lambda: worker.reap_started() or runs.glance(run).state == "unattended")
    worker.start(run)
    wait_for(lambda: runs.glance(run).state == "running")
    worker.stop(run)
    assert ended(run).reason == "stopped"
    assert not [one for one in family if processes.is_same(one)]


def test_that_a_training_that_ended_while_nobody_looked_is_ended_with_its_own_code(
    tmp_path: Path, interpreter: Make
) -> None:
    run = launch(tmp_path / "runs", interpreter("touch ready; while [ ! -e go ]; do sleep 0.05; done; exit 9"))
    wait_for((run.folder / "ready").exists)
    os.kill(worker_pid(run), signal.SIGKILL)
    (run.folder / "go").touch()
    wait_for((run.folder / "exit.a1").exists)
    wait_for(lambda: worker.reap_started() or runs.glance(run).state == "unattended")
    worker.start(run)
    assert ended(run).code == 9


def test_that_a_run_is_lost_when_worker_and_training_are_both_killed(tmp_path: Path, interpreter: Make) -> None:
    run = launch(tmp_path / "runs", interpreter("touch ready; exec sleep 1000"))
    wait_for((run.folder / "ready").exists)
    pid = worker_pid(run)
    family = processes.descendants([pid])
    os.kill(pid, signal.SIGSTOP)
    processes.kill_all(family)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: worker.reap_started() or runs.glance(run).state == "lost")
    worker.start(run)
    assert ended(run).reason == "lost"


def test_that_two_workers_never_work_on_one_run(tmp_path: Path, interpreter: Make) -> None:
    run = prepare(tmp_path / "runs", interpreter("echo once >> ../count; sleep 0.5; exit 0"))
    for _ in range(6):
        worker.start(run)
    assert ended(run).code == 0
    assert (tmp_path / "runs" / "count").read_text() == "once\n"


def test_that_a_run_that_has_ended_is_not_run_again(tmp_path: Path, interpreter: Make) -> None:
    run = launch(tmp_path / "runs", interpreter("echo once >> ../count; exit 0"))
    ended(run)
    worker.start(run)
    wait_for(lambda: worker.reap_started() or not worker._started)
    assert (tmp_path / "runs" / "count").read_text() == "once\n"


def test_that_workers_killed_at_random_moments_leave_one_training_and_one_end(
    tmp_path: Path, interpreter: Make
) -> None:
    """The short version of `prove worker`."""
    from tests.prove.support.kills import kill_workers

    figures = kill_workers(
        tmp_path / "runs",
        interpreter("echo begun >> begun; for i in $(seq 60); do sleep 0.05; done; exit 4"),
        rounds=6,
    )
    assert (figures["begun"], figures["ends"], figures["code"]) == (1, 1, 4)


def test_that_a_launch_whose_worker_is_killed_in_its_first_second_ends_with_one_training(tmp_path: Path) -> None:
    """The short version of `prove worker`'s second part."""
    from tests.prove.support.kills import kill_first_worker

    assert {kill_first_worker(tmp_path / str(seed), seed) for seed in range(4)} <= {"right", "sentence"}


def test_that_a_full_disk_ends_the_start_with_a_sentence_and_leaves_no_half_run(small_disk: Path) -> None:
    subprocess.run(["dd", "if=/dev/zero", "of=filler", "bs=4096"], cwd=small_disk, capture_output=True)
    with pytest.raises(StudioError) as caught:
        prepare(small_disk)
    assert caught.value.key == "error.disk_full"
    assert sorted(path.name for path in small_disk.iterdir()) == ["filler"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte; skipped where mounting is not allowed."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]).returncode:
        pytest.skip("mounting needs root")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_that_the_run_of_a_metric_survives_the_disk_filling_up_meanwhile(small_disk: Path, interpreter: Make) -> None:
    python = interpreter("dd if=/dev/zero of=filler bs=4096 2>/dev/null; touch full; sleep 1; rm filler; exit 3")
    run = launch(small_disk, python)
    assert ended(run).code in (1, 3), "the exit code itself may have been lost to the full disk, the end never is"


def test_that_projects_with_modules_named_like_ours_run_nothing_in_our_processes(
    tmp_path: Path, interpreter: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "项目 with spaces 🚀\nand a newline"
    for name in (
        "studio/__init__.py",
        "ui/__init__.py",
        "backends/__init__.py",
        "json.py",
        "sitecustomize.py",
        "msgspec.py",
    ):
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})")
    monkeypatch.chdir(project)
    run = launch(project / ".ascend-studio" / "runs", interpreter("exit 0"))
    assert ended(run).code == 0
    assert not (tmp_path / "ran").exists()


def test_that_metrics_of_a_training_arrive_as_it_wrote_them(tmp_path: Path, interpreter: Make) -> None:
    script = 'python3 -c "import ascend_studio; [ascend_studio.metric(i, loss=1/(i+1)) for i in range(100)]"'
    run = launch(tmp_path / "runs", interpreter(script))
    ended(run)
    metrics = [event for event in events_of(run) if isinstance(event, Metric)]
    assert [metric.step for metric in metrics] == list(range(100))
    assert metrics[3].values == {"loss": 0.25}
