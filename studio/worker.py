"""The process behind a run: one at a time, detached from the window, alive until the training is over."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from studio import files, processes, schema
from studio import run as runs
from studio.errors import StudioError, from_os, print_traceback
from studio.events import Ended, Finding, Journal
from studio.faults import lost_records
from studio.faults.held_folder import current_folder, hold, is_deleted
from studio.feature import action_of
from studio.paths import MAIN
from studio.run import WITHOUT_WORKER, Run, ended_of, open_run, refuse_links, state_of
from studio.security import ledger, secret_words
from studio.supervisor import STOP
from studio.texts import t

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from studio.feature import Feature


CONTINUE = "--continue"
"""The argument of a worker that takes a training over and never starts one."""
RETRY_SECONDS = 2
"""At the earliest so long after its last worker a run gets another one by itself."""
PATIENCE = 600
"""Seconds, and tries, until a full disk has room."""


def start(run: Run) -> int:
    """Start a detached worker for a run because the user asked for it, and record that; return its pid. It also takes
    over a training whose worker was killed: a worker that finds another at work exits at once. Raises StudioError.
    """
    return _spawn(run)


def take_over(run: Run) -> int:
    """Start a worker that goes on with the training of a run whose worker was killed, because the user asked for it;
    return its pid. It never starts a command. Raises StudioError.
    """
    return _spawn(run, CONTINUE)


def revive(run: Run) -> bool:
    """Start a worker again for a run whose worker was killed, without being asked; return whether the run has a worker
    now or gets one after RETRY_SECONDS.

    That is done only for runs which this user started, in folders that nobody else writes to. A training that goes on
    is taken over. A command that has not begun is started again, `ledger.MOST_WORKERS` workers in all. Raises
    StudioError.
    """
    with ledger.locked():
        state, entry = state_of(run.folder), ledger.entry_of(run.folder)
        if entry is None or not ledger.is_own(run.folder):
            return False
        if ended_of(run.folder) or state not in WITHOUT_WORKER or not ledger.is_last_worker_gone(run.folder):
            return True
        if state == "interrupted" and not ledger.may_restart(run.folder):
            return False
        if abs(time.time_ns() - entry.time) > RETRY_SECONDS * 10**9:
            _spawn(run, *(() if state == "interrupted" else (CONTINUE,)))
    return True


def _spawn(run: Run, *arguments: str) -> int:
    line = [sys.executable, "-I", str(MAIN), "work", str(run.folder), *arguments]
    try:
        refuse_links(run.folder)
        log = os.fdopen(files.open_append(run.folder / "worker.log"), "ab")
        with log:
            child = subprocess.Popen(
                line, cwd=run.folder, env=_own_environment(run), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, start_new_session=True,
            )  # fmt: skip
    except OSError as error:
        raise from_os(error, run.folder) from error
    _started.append(child)
    with suppress(OSError):  # without an entry it works the same, but another worker needs a click
        ledger.record(run.folder, child.pid)
    return child.pid


_started: list[subprocess.Popen[bytes]] = []


def reap_started() -> None:
    """Collect the exit codes of workers that this process started, so that no zombies stay."""
    _started[:] = [child for child in _started if child.poll() is None]


def _own_environment(run: Run) -> dict[str, str]:
    """Return the environment without the variables of a run: the worker belongs to no training, and a studio inside a
    training starts runs of its own.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ASCEND_STUDIO_")}
    environment[processes.WORKER_VARIABLE] = os.path.realpath(run.folder)
    if run.secrets:
        environment[secret_words.VARIABLE] = json.dumps(run.secrets)
    return environment


def stop(run: Run) -> bool:
    """Ask the worker to stop; a second call ends it at once. Returns False where no worker of this run and this user
    lives on this host.
    """
    mark = processes.read_mark(run.folder / "worker.json")
    worker = mark.process() if mark else None
    if worker is None or not processes.is_worker_of(worker, run.folder):
        return False
    processes.send(worker, signal.SIGTERM)
    return True


def stop_refusal(run: Run) -> StudioError:
    """Return why `stop` asked no process, as a sentence."""
    mark = processes.read_mark(run.folder / "worker.json")
    if mark is not None and mark.process() is not None:
        return StudioError("run.not_own_worker", run=run.name, pid=mark.pid)
    glance = runs.glance(run)
    if glance.state == "unattended":
        return StudioError("run.stop_unattended", run=run.name)
    return StudioError("run.not_here", run=run.name, state=t(f"state.{runs.outcome_of(glance)}"))


@contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Yield whether this process may work on the run. Where the file system has no locks, it may only where nobody
    began.
    """
    file = os.open(folder / "worker.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:
            yield state_of(folder) == "queued"
            return
        yield True
    finally:
        os.close(file)


def work(folder: Path, features: tuple[Feature, ...], *, may_start: bool = True) -> int:
    """Do the work of a run, from the start or from where a killed worker left it. Returns the run's exit code, or 0
    where there is nothing to do: it has ended, another worker has it, or a newer studio wrote it.

    `may_start`: False for a worker that only takes over; nothing is done where no training was started.
    """
    STOP.listen()
    run = open_run(folder)
    refuse_links(folder)
    with _lock(folder) as held:
        if not held or run.is_newer or ended_of(folder) or state_of(folder) == "elsewhere":
            return 0
        hold(folder)
        mark = processes.read_mark(folder / "training.json")
        if mark is None and not may_start:
            return 0
        is_begun = (folder / "worker.json").exists()
        journal = Journal(folder, mark.attempt if mark else 1)
        if _sign_in(folder, journal, tries=1 if mark is None else PATIENCE) or mark is not None:
            ended = _outcome(run, features, journal, is_begun=is_begun)
        else:
            ended = Ended(code=1, reason="failed_to_start")
        if _write_end(folder, journal, ended):
            ledger.forget(current_folder(folder))
        return ended.code


def _sign_in(folder: Path, journal: Journal, tries: int) -> bool:
    """Write down who works on the run, trying once a second. Return whether that could be done: what nobody could see
    at work must not be begun, but a training that was begun before the disk was full needs its worker all the same.
    """
    for left in reversed(range(tries)):
        try:
            processes.write_mark(folder / "worker.json", os.getpid())
            return True
        except OSError as error:
            refusal = from_os(error, folder)
        time.sleep(1 if left else 0)
    _tell(journal, refusal)
    return False


def _tell(journal: Journal, error: StudioError) -> None:
    """Make an error a finding, so that every page has a reason to show; on a full disk, once that can be written."""
    journal.write_or_keep(Finding(rule=error.key, severity="error", args=error.values))


def _outcome(run: Run, features: tuple[Feature, ...], journal: Journal, *, is_begun: bool) -> Ended:
    """Return how the work ended; its errors become findings, so that every page has a reason to show. `is_begun`: a
    worker that was killed has checked the request, and may have made what is in the way by now.
    """
    try:
        action = action_of(features, run.request.command)
        if action is None:
            raise StudioError("run.unknown_command", command=run.request.command)
        spec, wrong = schema.from_json(action.spec, _values(run))
        if problems := wrong or (() if is_begun else schema.problems(spec)):
            raise StudioError(problems[0].rule, **problems[0].args)
        return action.load()(spec, run)
    except StudioError as error:
        _tell(journal, error)
        return Ended(code=1, reason="failed_to_start")
    except OSError as error:
        _tell(journal, from_os(error, error.filename or run.folder))
        return Ended(code=1, reason="failed_to_start")
    except Exception as error:
        print_traceback()
        _tell(journal, StudioError("run.our_error", reason=f"{type(error).__name__}: {error}"))
        return Ended(code=1, reason="failed_to_start")


def _values(run: Run) -> dict[str, Any]:
    """Return the values of the request with their secrets; a training that has begun does without. Raises
    StudioError.
    """
    try:
        return secret_words.restore(run.request.values)
    except StudioError:
        if (run.folder / "training.json").exists():
            return run.request.values
        raise


def _write_end(folder: Path, journal: Journal, ended: Ended) -> bool:
    """Write the end of a run, and before it what its processes could not record. On a full disk, try until it can be
    written: everybody waits for it. Nobody waits for that of a folder that was deleted. Return whether nothing is left
    to be done for the run.
    """
    for _ in range(PATIENCE):
        if is_deleted(folder):
            return True
        try:
            lost_records.collect(current_folder(folder), journal)
            journal.write(ended)
            return True
        except OSError:
            if STOP.stop_requests > 2:
                break
            time.sleep(1)
    return False
