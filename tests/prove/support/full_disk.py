"""Runs on a small disk that is filled and emptied again, to the byte where the last records are written."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from studio import processes, worker
from studio import run as runs
from studio.errors import StudioError
from studio.events import Ended, Finding, Metric, name_of
from studio.faults.lost_records import lost_of
from studio.tail import RunTail
from tests.runs import ended, launch, prepare, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from studio.events import Event
    from studio.run import Run

PAGE = 4096  # a small tmpfs gives its files whole pages
CODE = 7
BEGIN = 'echo begun >> "{outside}/begun-${{PWD##*/}}"\n'
WAIT = BEGIN + 'while [ ! -e "{outside}/go" ]; do sleep 0.02; done; exit 7\n'


@dataclass(frozen=True)
class SmallDisk:
    """`folder`: the disk; `outside`: a folder that is not on it."""

    folder: Path
    outside: Path

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    def fill(self, free_pages: int = 0) -> None:
        """Leave so many pages free; what other files have free in their last pages stays theirs."""
        path = self.folder / "filler"
        with path.open("ab", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(PAGE))
        os.truncate(path, max(0, path.stat().st_size // PAGE - free_pages) * PAGE)

    def free(self) -> None:
        (self.folder / "filler").unlink(missing_ok=True)

    def python(self, script: str) -> Path:
        """Return an 'interpreter' that is a shell script; `{outside}` in it stands for that folder."""
        path = self.outside / "python"
        path.write_text("#!/bin/bash\n" + script.format(outside=self.outside))
        path.chmod(0o755)
        return path

    def begun(self, run: Run) -> int:
        """Return how often the program of a run was started."""
        path = self.outside / f"begun-{run.name}"
        return path.read_text().count("begun") if path.exists() else 0

    def go(self) -> None:
        (self.outside / "go").touch()


def can_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder, small_disk(Path(folder), "64k") as disk:
        return disk is not None


@contextmanager
def small_disk(folder: Path, size: str = "4m") -> Iterator[SmallDisk | None]:
    """Yield a disk of a few megabytes under a folder, or None where mounting is not allowed."""
    disk = SmallDisk(folder / "disk", folder / "outside")
    disk.folder.mkdir()
    disk.outside.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size},nr_inodes=4000", "tmpfs", str(disk.folder)]
    if os.geteuid() or subprocess.run(["mount", *options], capture_output=True).returncode:
        yield None
        return
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk.folder], check=True)


def faults_of(disk: SmallDisk, run: Run, may_fail: bool = False) -> list[str]:
    """Return what is wrong with a run that has ended: it has one training with one end and its own code. `may_fail`: or
    none at all, and a sentence that says why.
    """
    glance, tail = ended(run), RunTail(run.folder)
    events: list[Event] = [event for _, _, batch in tail.read(1 << 24) for event in batch]
    reasons = [event.rule for event in events if isinstance(event, Finding) and event.severity == "error"]
    outcome = (disk.begun(run), glance.code, glance.reason)
    faults = [f"{run.name}: {tail.damaged} damaged lines"] if tail.damaged else []
    if sum(isinstance(event, Ended) for event in events) != 1:
        faults.append(f"{run.name}: not one end")
    is_refused = may_fail and outcome == (0, 1, "failed_to_start") and "error.disk_full" in reasons
    if outcome != (1, CODE, "") and not is_refused:
        faults.append(f"{run.name}: begun, code, reason {outcome} {reasons}")
    return faults


def end_at_each_byte(disk: SmallDisk, free_bytes: Iterable[int]) -> list[str]:
    """End one training for each number of bytes that the worker's event file has free on a disk that is full; half of
    them with their worker killed, so that another one has to find out.
    """
    begun = [(launch(disk.runs, disk.python(WAIT)), free) for free in free_bytes]
    for run, free in begun:
        wait_for(lambda run=run: disk.begun(run), "the program begins")  # type: ignore[misc]
        _leave_free(run, free)
    disk.fill()
    for run, free in begun:
        if free % 2:
            _kill_worker(run)
    disk.go()
    for run, _ in begun:
        wait_for(lambda run=run: runs.exit_code(run.folder, 1), f"{run.folder} has its code")  # type: ignore[misc]
    disk.free()
    for run, free in begun:
        if free % 2:
            worker.start(run)
    return [fault for run, _ in begun for fault in faults_of(disk, run)]


def _leave_free(run: Run, free: int) -> None:
    """Write a record into the file that the run's worker writes its end into, so that its last page has room left for
    `free` bytes.
    """
    mark = processes.read_mark(run.folder / "worker.json")
    assert mark is not None
    path = run.folder / name_of(1, 0, mark.pid)
    size = path.stat().st_size if path.exists() else 0
    record = {"type": "note", "time": 1, "key": "test.padding", "args": {"text": ""}}
    length = -(size + free) % PAGE
    length += PAGE if length < 200 else 0
    record["args"] = {"text": "x" * (length - len(json.dumps(record)) - 1)}
    with path.open("ab", buffering=0) as file:
        file.write(json.dumps(record).encode() + b"\n")


def _kill_worker(run: Run) -> None:
    mark = processes.read_mark(run.folder / "worker.json")
    process = mark and mark.process()
    assert process, "the worker works"
    processes.kill_all([process])
    wait_for(lambda: worker.reap_started() or not processes.is_same(process))


def start_with_pages(disk: SmallDisk, free_pages: int) -> list[str]:
    """Start a run on a disk with so many pages free, and free it while the run tries."""
    disk.fill(free_pages)
    disk.go()
    try:
        run = prepare(disk.runs, disk.python(WAIT))
    except StudioError as error:
        disk.free()
        left = [path.name for path in disk.runs.iterdir()] if disk.runs.exists() else []
        return [] if error.key == "error.disk_full" and not left else [f"{error} {left}"]
    worker.start(run)
    with suppress(AssertionError):
        wait_for(lambda: disk.begun(run) or runs.glance(run).state == "ended", seconds=2)
    disk.free()
    return faults_of(disk, run, may_fail=True)


RECORDING = BEGIN + (
    "python3 - <<'EOF'\nimport ascend_studio, os, time\n"
    "for step in range({steps}):\n"
    "    if step == 60: open('{outside}/fill', 'w').close()\n"
    "    while step == 60 and not os.path.exists('{outside}/full'): time.sleep(0.01)\n"
    "    if step == {steps} - 100: open('{outside}/freed', 'w').close()\n"
    "    while step == {steps} - 100 and not os.path.exists('{outside}/go'): time.sleep(0.01)\n"
    "    ascend_studio.metric(step, loss=1 / (step + 1))\n"
    "EOF\nexit 7\n"
)


def record_through(disk: SmallDisk, steps: int, *, is_freed_before_end: bool = True) -> tuple[list[str], Counter[str]]:
    """Fill the disk from step 60 to the last hundred steps of a training, or beyond its end. Return what is wrong, and
    how many points there were, are `kept` and are told as `lost`.
    """
    run = launch(disk.runs, disk.python(RECORDING.replace("{steps}", str(steps))))
    wait_for((disk.outside / "fill").exists, "step 60")
    disk.fill()
    time.sleep(1.5)  # a worker looks twice a second whether the disk is full
    (disk.outside / "full").touch()
    wait_for((disk.outside / "freed").exists, "the last hundred steps")
    if is_freed_before_end:
        disk.free()
    disk.go()
    wait_for(lambda: runs.exit_code(run.folder, 1), "the program ends")
    disk.free()
    faults = faults_of(disk, run)
    tail = RunTail(run.folder)
    events = [event for _, _, batch in tail.read(1 << 26) for event in batch]
    kept = [event.step for event in events if isinstance(event, Metric)]
    lost = lost_of(run.folder)
    if kept != sorted(set(kept)) or len(kept) + lost.points != steps:
        faults.append(f"{run.name}: {len(kept)} points and {lost} of {steps}")
    if not any(isinstance(event, Finding) and event.rule.startswith("run.log_lines_lost") for event in events):
        faults.append(f"{run.name}: nothing tells of the log")
    return faults, Counter(points=steps, kept=len(kept), lost=lost.points)
