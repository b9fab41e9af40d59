"""Runs a command for a run, and leaves nothing of it behind when it ends or is stopped.

The child is started behind a shim that waits until it has been written down, and that leaves its exit code in the
run's folder: whoever takes over from a killed worker is not its parent and could not ask.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from studio import environment, files, paths, processes
from studio.errors import Stopped, StudioError, from_os, print_traceback
from studio.events import Ended
from studio.faults.folder_watch import FolderWatch
from studio.processes import FOLDER_DESCRIPTOR
from studio.run import exit_code

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studio.command import Command
    from studio.processes import Mark, Process
    from studio.run import Run

# Gate: nothing starts unless the worker has written training.json; it dies unseen with a worker killed before that.
# The traps keep the shim alive on a signal to the group; a handled signal is reset in the child it starts.
# Through the open folder the code follows a run that is moved. A full disk takes no file, but nearly always a link; the
# shim of a killed worker is the only one that knows the code, so it tries both for ten minutes.
_SHIM = (
    f'trap : TERM INT HUP; read -r go || exit 125; exec {FOLDER_DESCRIPTOR}<"$1"; '
    f"folder=/proc/self/fd/{FOLDER_DESCRIPTOR}; file=$folder/$2; shift 2; "
    f'(exec "$@" </dev/null {FOLDER_DESCRIPTOR}<&-); code=$?; tries=0; '
    'exec 2>/dev/null; until echo $code >"$file.tmp" && mv "$file.tmp" "$file" || ln -s $code "$file"; do '
    "[ -e $folder/run.json ] && [ $((tries += 1)) -lt 600 ] || break; sleep 1; done; "
    'rm -f "$file.tmp"; exit $code'
)
LEFTOVER_GRACE = 5.0
LOST = 1


class Stop:
    """Signals to the worker: the first asks it to finish within the grace, the second ends the run at once."""

    def __init__(self) -> None:
        self.stop_requests = 0

    def listen(self) -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def _on_signal(self, _number: int, _frame: object) -> None:
        self.stop_requests += 1


STOP = Stop()


def is_stop_requested() -> bool:
    return bool(STOP.stop_requests)


def raise_if_stopped() -> None:
    """Raise Stopped after a stop. Long work of the worker itself calls this now and then."""
    if STOP.stop_requests:
        raise Stopped


def child_environment(run: Run, attempt: int, added: dict[str, str]) -> dict[str, str]:
    """Return the environment of the child: a clean one, CANN, the guest on PYTHONPATH, then what the command adds. The
    command's folders for programs and modules come before those that are there.
    """
    env = environment.with_cann(environment.cleaned(os.environ))
    search_paths = {name: (added.get(name, ""), env.get(name, "")) for name in ("PATH", "PYTHONPATH")}
    env |= added
    env["PATH"] = _joined(*search_paths["PATH"])
    env["PYTHONPATH"] = _joined(str(paths.GUEST), *search_paths["PYTHONPATH"])
    env[processes.RUN_VARIABLE] = os.path.realpath(run.folder)
    env[processes.ATTEMPT_VARIABLE] = str(attempt)
    return env


def _joined(*paths: str) -> str:
    return os.pathsep.join(path for path in paths if path)


def _start(command: Command, run: Run, attempt: int) -> Process:
    """Start the child; return its shim. Raises StudioError where the folder or the shell refuses."""
    shim = ("/bin/sh", "-c", _SHIM, "sh", str(run.folder), f"exit.a{attempt}", *command.argv)
    try:
        with os.fdopen(files.open_append(run.log), "ab") as log:
            child = subprocess.Popen(
                shim, cwd=command.cwd, env=child_environment(run, attempt, command.env), stdin=subprocess.PIPE,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        _let_go(child, run, attempt)
    except OSError as error:
        raise from_os(error, error.filename or run.folder) from error
    except ValueError as error:  # a NUL in an argument or the environment
        raise StudioError("error.file", path=str(run.folder), reason=str(error)) from error
    process = processes.process(child.pid)
    assert process is not None, "a child stays a zombie until it is reaped"
    child.returncode = 0  # the supervisor reaps; Popen must not warn about a child that it thinks still runs
    return process


def _let_go(child: subprocess.Popen[bytes], run: Run, attempt: int) -> None:
    """Write down the shim, then let it start the program. Raises OSError; nothing was started then."""
    assert child.stdin is not None
    try:
        processes.write_mark(run.folder / "training.json", child.pid, attempt)
        child.stdin.write(b"go\n")
        child.stdin.close()
    except OSError:
        child.kill()
        child.wait()
        raise


class _Training:
    """The processes of one attempt, started here or recovered. `linger`: seconds that processes may live on by
    themselves after a program that ended well.
    """

    def __init__(self, folder: Path, shim: Process | None, attempt: int, linger: float) -> None:
        self._folder = folder
        self._marked_folder = (shim and processes.run_folder_of(shim)) or folder  # before somebody moved it
        self._shim = shim
        self._attempt = attempt
        self._linger = linger
        self._ended: float | None = None
        self._reaped_code = ""
        self._left_pids: set[int] = set()
        self.left_code = 0
        """Of the first process that failed after the program had ended well."""

    def members(self) -> list[Process]:
        """Return all living processes of the attempt: the descendants of this worker, those that carry the run's mark,
        and their descendants.
        """
        marked = processes.marked(self._marked_folder)
        below = processes.descendants([os.getpid(), *(process.pid for process in marked)])
        everyone = {one.pid: one for one in (*marked, *below) if one.state != "Z"}
        return [one for one in everyone.values() if one.pid != os.getpid()]

    def main(self) -> Process | None:
        """Return the program itself: the child of the shim."""
        if self._shim is None or not processes.is_same(self._shim):
            return None
        return next(
            (process for process in processes.everyone() if process.parent == self._shim.pid and process.state != "Z"),
            None,
        )

    def wait(self, seconds: float) -> bool:
        """Return whether the attempt ended within this time."""
        self._reap()
        if self._shim is not None and processes.is_same(self._shim) and not processes.wait_end(self._shim, seconds):
            return False
        if not self._goes_on():
            self._reap()  # the last of them may have ended since
            return True
        if self.is_alone:
            time.sleep(seconds)
        self._ended = self._ended or time.monotonic()
        return False

    @property
    def is_alone(self) -> bool:
        """Return whether the program itself has ended while processes that it started still live."""
        return self._ended is not None

    def _goes_on(self) -> bool:
        """Return whether there is something to wait for without the program: what one that ended well may have left, or
        the processes of one whose shim was killed before this worker came.
        """
        code = self.code
        lasted = 0.0 if self._ended is None else time.monotonic() - self._ended
        waits = lasted < self._linger if code == "0" else not code and self._shim is None
        members = self.members() if waits else []
        self._left_pids |= {member.pid for member in members}
        return bool(members)

    def _reap(self) -> None:
        """Collect orphans, which are this worker's children: their exit codes are known, except to a second worker of
        the run.
        """
        for pid, code in processes.reap().items():
            if self._shim is not None and pid == self._shim.pid and code >= 0:
                self._reaped_code = str(code)
            if pid in self._left_pids:
                self.left_code = self.left_code or (code if code >= 0 else 128 - code)

    @property
    def code(self) -> str:
        """The exit code of the program, "" while it is unknown: what the shim left or, where the disk took nothing of
        it, with what this worker saw the shim exit. A shim that was killed says nothing of the program.
        """
        return exit_code(self._folder, self._attempt) or self._reaped_code

    def end_all(self, grace: float) -> None:
        """Send TERM to all processes, then KILL until none is left."""
        for member in self.members():
            if member != self._shim:
                processes.send(member, signal.SIGTERM)
        end = time.monotonic() + grace
        while time.monotonic() < end and STOP.stop_requests < 2 and self._left():
            time.sleep(0.02)
        while self._left():
            processes.kill_all(self.members())
            time.sleep(0.02)

    def _left(self) -> bool:
        self._reap()
        return bool(self.members())


class TooMuch(Exception):
    """Raised by a tick: the program must end at once. `reason`: of the run's end."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def supervise(
    command: Command, run: Run, grace: float, tick: Callable[[], None] | None = None, linger: float = 0,
    leftovers: set[int] | None = None,
) -> Ended:  # fmt: skip
    """Run a command to its end, or continue with an attempt whose worker was killed; return how it ended.

    `grace`: seconds that a stopped child has to finish its step, from the first signal on. `tick` is called about twice
    a second while it runs, and once when all its processes are gone; it may raise TooMuch. `linger`: seconds that
    processes may live on by themselves after a program that ended well; the run fails where one of them does.
    `leftovers` gets the pids of those that were ended here, since they lived on.

    A program whose run folder somebody moves or deletes goes on to its own end: what it works for, its weights and
    tables, may lie anywhere, and a folder in the way is no reason to throw hours of computing away. A moved folder gets
    the end of its run where it is then; of a deleted one nothing is written any more, so nothing is waited for either.
    """
    processes.become_subreaper()
    mark = processes.read_mark(run.folder / "training.json")
    if mark is None:
        attempt = 1
        training = _Training(run.folder, _start(command, run, attempt), attempt, linger)
    else:
        attempt = mark.attempt
        training = _Training(run.folder, _living_shim(run.folder, mark), attempt, linger)
    tick_timer = _Tick(tick)
    folder_watch = FolderWatch(run.folder, attempt)
    try:
        left = _watch(training, grace, tick_timer, folder_watch)
    except TooMuch as error:
        training.end_all(0)
        folder_watch.finish()
        tick_timer.last()
        return Ended(code=128 + signal.SIGKILL, reason=error.reason)
    left_code = training.left_code
    if leftovers is not None:
        leftovers.update(member.pid for member in training.members())
    training.end_all(LEFTOVER_GRACE if left is None else left)
    folder_watch.finish()
    tick_timer.last()
    if left is None and left_code:
        return Ended(code=left_code)
    return _verdict(training.code, left is not None)


def _living_shim(folder: Path, mark: Mark) -> Process | None:
    """Return the shim of a training that an earlier worker started; None where it is gone, or the mark names a process
    that is not of this run: training.json may have been written by anybody."""
    process = mark.process()
    return process if process and processes.is_of_run(process, folder) else None


class _Tick:
    """What is checked beside a training: an error of it ends the checking, not the training."""

    def __init__(self, tick: Callable[[], None] | None) -> None:
        self._tick = tick

    def __call__(self) -> None:
        try:
            if self._tick is not None:
                self._tick()
        except TooMuch:
            raise
        except OSError:  # a full disk, for a while
            pass
        except Exception:
            print_traceback()
            self._tick = None

    def last(self) -> None:
        with suppress(TooMuch):
            self()


def _watch(training: _Training, grace: float, tick: _Tick, folder_watch: FolderWatch) -> float | None:
    """Wait for the end and pass a stop on. Returns the rest of the grace of a stopped training, None otherwise."""
    end: float | None = None
    while not training.wait(0.1 if end else 0.5):
        folder_watch.look()
        tick()
        if STOP.stop_requests and end is None:
            end = time.monotonic() + grace
            if main := training.main():
                processes.send(main, signal.SIGTERM)
            else:
                training.end_all(grace)
        if end is not None and (STOP.stop_requests > 1 or time.monotonic() >= end):
            return 0
        if end is not None and training.is_alone:
            break
    return None if end is None else max(0.0, end - time.monotonic())


def _verdict(code: str, stopped: bool) -> Ended:
    if stopped:
        return Ended(code=int(code) if code.isdigit() else 128 + signal.SIGKILL, reason="stopped")
    if not code.isdigit():
        return Ended(code=LOST, reason="lost")
    return Ended(code=int(code))
