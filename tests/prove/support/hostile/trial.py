"""One case: a place with hostile material, the command that meets it there, and what came of it."""

from __future__ import annotations

import ast
import hashlib
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio import processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

AUDIT = Path(__file__).with_name("audit.py")
OTHER = 65534
"""The user whom hostile material belongs to where this process may give it away."""
HUNG = b"\n*** hung ***\n"
CASE_VARIABLE = "AUDIT_CASE"
COUNTS = ("executed", "unpickled", "signalled", "written", "escapes", "broken")
SETTLE_SECONDS = 20.0
_ESCAPES = re.compile(rb"\x1b(?!\[(?:K|0?m))|\x07|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]")
"""What moves the cursor, sets a title or turns text around. Not the end of a line, which `watch` clears, nor plain
text, which a library asks for."""
STRACE = ("strace", "-f", "-qq", "-s", "4096", "-e", "trace=execve,kill,tgkill,pidfd_send_signal,openat", "-o")
_TRACED_PROGRAM = re.compile(r'execve\("([^"]*)"')
_TRACED_WRITE = re.compile(r'openat\([^"]*"(/[^"]*)", [A-Z_|]*O_(?:WRONLY|RDWR|CREAT)')
_TRACED_SIGNAL = re.compile(r"t?g?kill\((-?\d+), (?:\d+, )?(\w+)")
_NEW_RUN = re.compile(r".*/\.ascend-studio(/\.gitignore|/runs(/\.?20\d{6}-\d{6}-\d{3}-.*)?)?")
_SIGNALS = ("TERM", "INT", "HUP", "USR1", "USR2", "QUIT", "CONT")


@dataclass(frozen=True, kw_only=True)
class Trap:
    """`words`: of the command. `naive`: a command that touches the material without care, which shows that the trap
    works. `allowed`: patterns of paths that the command is asked to write. `program`: that it is asked to run, whose
    first words these are."""

    words: tuple[str, ...]
    cwd: Path
    naive: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    program: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    seconds: float = 60.0


@dataclass(frozen=True, kw_only=True)
class Case:
    """`page`: of the window, "" for a command."""

    command: str
    material: str
    build: Callable[[Place], Trap]

    @property
    def name(self) -> str:
        return f"{self.command} · {self.material}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a case did that it must not. `is_armed`: whether the naive command fired; None where there is none."""

    command: str = ""
    material: str = ""
    executed: tuple[str, ...] = ()
    unpickled: tuple[str, ...] = ()
    signalled: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    escapes: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    """What hung or ended with a traceback."""
    is_armed: bool | None = None
    output: str = ""

    @property
    def is_clean(self) -> bool:
        return not any(getattr(self, name) for name in COUNTS)


class Place:
    """The folder of one case: `hostile` holds the material of somebody else, `outside` what nobody may touch, `home`
    the user's own folders."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.hostile, self.outside, self.home = root / "hostile", root / "outside", root / "home"
        self.canaries, self.log, self.signals = root / "canaries", root / "audit.log", root / "signals"
        self.trace = root / "trace"
        for folder in (self.hostile, self.outside, self.home, self.canaries, self.signals, root / "tmp"):
            folder.mkdir(parents=True)
        for folder in (self.canaries, self.signals):
            folder.chmod(0o1777)
        (self.outside / "profile").write_text("kept\n", encoding="utf-8")
        (self.outside / "folder").mkdir()
        (self.outside / "folder" / "file").write_text("kept\n", encoding="utf-8")
        self._bystanders: list[subprocess.Popen[bytes]] = []

    @property
    def env(self) -> dict[str, str]:
        homes = {f"XDG_{name.upper()}_HOME": str(self.home / name) for name in ("config", "state", "cache")}
        return homes | {"HOME": str(self.home), "TMPDIR": str(self.root / "tmp"), "LANGUAGE": "en"}

    def shell(self, name: str = "canary") -> tuple[str, ...]:
        """Return a command that leaves a canary."""
        return ("/bin/sh", "-c", f"id -u >> {self.canaries / name}")

    def script(self, path: Path, name: str = "") -> Path:
        """Write an executable file that leaves a canary."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\nid -u >> {self.canaries / (name or path.name)}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def python(self, name: str = "canary") -> str:
        """Return Python code that leaves a canary."""
        return f"open({str(self.canaries / name)!r}, 'a').write('run')\n"

    def bystander(self, variable: str = "", *, is_other: bool = True) -> int:
        """Start a process that records each signal, of somebody else or of the user; return its pid. `variable`: a
        setting in its environment."""
        path = self.signals / str(len(self._bystanders))
        traps = "".join(f"trap 'echo {name} >> {path}' {name}; " for name in _SIGNALS)
        line = ("/bin/sh", "-c", f"{traps} while :; do read -r _ || [ $? -gt 128 ] || exit; done")
        env = {"PATH": os.defpath} | dict([variable.split("=", 1)] if variable else ())
        identity: dict[str, Any] = {"user": OTHER, "group": OTHER} if is_other and os.geteuid() == 0 else {}
        child = subprocess.Popen(line, stdin=subprocess.PIPE, env=env, cwd="/", **identity)
        self._bystanders.append(child)
        return child.pid

    def hand_over(self, *kept: Path) -> None:
        """Give the material to another user, but for what lies in `kept`."""
        if os.geteuid() == 0:
            for path in (self.hostile, *_below(self.hostile)):
                if not any(path == own or own in path.parents for own in kept):
                    os.chown(path, OTHER, OTHER, follow_symlinks=False)

    @property
    def bystander_pids(self) -> tuple[int, ...]:
        return tuple(child.pid for child in self._bystanders)

    def signalled(self) -> tuple[str, ...]:
        gone = [f"{child.pid} is gone" for child in self._bystanders if child.poll() is not None]
        stopped = [f"{child.pid} is stopped" for child in self._bystanders if _state(child.pid) == "T"]
        recorded = [f"{path.name}: {line}" for path in self.signals.iterdir() for line in path.read_text().split()]
        return (*gone, *stopped, *recorded)

    def close(self) -> None:
        for child in self._bystanders:
            child.kill()
            child.wait()


def _state(pid: int) -> str:
    running = processes.process(pid)
    return running.state if running else ""


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, name) for name in (*folders, *files))


def run_case(case: Case, root: Path, code: Path, *, is_traced: bool = False) -> Outcome:
    """Build a place below `root`, run the case with the studio at `code`, and return what it did. `is_traced`: under
    strace as well, which sees what no audit hook does, such as the processes of children in C."""
    place = Place(root)
    try:
        trap = case.build(place)
        before = snapshot(place)
        output = run_studio(trap, place, code, (*STRACE, str(place.trace)) if is_traced else ())
        outcome = outcome_of(place, trap, code, before, output)
        return _with_control(replace(outcome, command=case.command, material=case.material), trap, place)
    finally:
        place.close()


def outcome_of(place: Place, trap: Trap, code: Path, before: Snapshot, output: bytes) -> Outcome:
    return Outcome(
        executed=(*_executed(place, trap, code, before), *_traced(place, trap, _TRACED_PROGRAM)),
        unpickled=_unpickled(place), signalled=(*place.signalled(), *_traced_signals(place)),
        written=(*changes(before, snapshot(place), trap), *_opened(place), *_traced(place, trap, _TRACED_WRITE)),
        escapes=tuple(sorted({ascii(match) for match in _ESCAPES.findall(output)})), broken=_broken(output),
        output=output.decode("utf-8", "replace")[-400:],
    )  # fmt: skip


def _with_control(outcome: Outcome, trap: Trap, place: Place) -> Outcome:
    if not trap.naive:
        return outcome
    for canary in place.canaries.iterdir():
        canary.unlink()
    env = {**os.environ, **place.env}
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(trap.naive, cwd=trap.cwd, env=env, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    return replace(outcome, is_armed=any(place.canaries.iterdir()))


def environment(place: Place, code: Path, added: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ASCEND_STUDIO_"))}
    audit = {"AUDIT_CODE": str(code), "AUDIT_LOG": str(place.log), CASE_VARIABLE: str(place.root)}
    return {**kept, **place.env, **audit, "PYTHONDONTWRITEBYTECODE": "1", **added}


def run_studio(trap: Trap, place: Place, code: Path, tracer: tuple[str, ...] = ()) -> bytes:
    """Run the command on a terminal of its own until all that it started has ended; return what it printed."""
    line = (*tracer, sys.executable, "-I", str(AUDIT), *trap.words)
    terminal, side = pty.openpty()
    printed = bytearray()
    reader = threading.Thread(target=_read, args=(terminal, printed))
    child = subprocess.Popen(
        line, cwd=trap.cwd, env=environment(place, code, trap.env), stdin=subprocess.DEVNULL, stdout=side, stderr=side,
        start_new_session=True,
    )  # fmt: skip
    os.close(side)
    reader.start()
    _wait(child, trap, printed)
    _settle(place)
    reader.join(5)
    os.close(terminal)
    return bytes(printed)


def _wait(child: subprocess.Popen[bytes], trap: Trap, printed: bytearray) -> None:
    """Wait for the command; one that follows is interrupted, one that does not end is killed."""
    try:
        child.wait(trap.seconds)
    except subprocess.TimeoutExpired:
        if "watch" not in trap.words:
            printed.extend(HUNG)
        os.kill(_command_pid(child), signal.SIGINT)
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            printed.extend(HUNG)
            child.kill()
            child.wait()


def _command_pid(child: subprocess.Popen[bytes]) -> int:
    """Return the process of the command: where it runs under strace, which blocks the signal, that is a child of it."""
    if Path(f"/proc/{child.pid}/comm").read_text("utf-8") != "strace\n":
        return child.pid
    below = [process.pid for process in processes.descendants([child.pid]) if process.parent == child.pid]
    return below[0] if below else child.pid


def _broken(output: bytes) -> tuple[str, ...]:
    hung = ("hung",) if HUNG in output else ()
    at = output.find(b"Traceback (most recent call last)")
    return hung if at < 0 else (*hung, output[at:].decode("utf-8", "replace").strip().splitlines()[-1][:200])


def _read(terminal: int, printed: bytearray) -> None:
    with suppress(OSError):
        while data := os.read(terminal, 1 << 16):
            printed.extend(data)


def _settle(place: Place) -> None:
    """Wait for workers and what they run; end what does not."""
    end = time.monotonic() + SETTLE_SECONDS
    setting = os.fsencode(f"{CASE_VARIABLE}={place.root}")
    while left := [process for process in processes.everyone() if processes._carries(process.pid, setting)]:
        if time.monotonic() > end:
            processes.kill_all(left)
        time.sleep(0.05)


Snapshot = dict[str, tuple[Any, ...]]


def snapshot(place: Place) -> Snapshot:
    paths = (path for folder in (place.hostile, place.outside) for path in _below(folder))
    return {str(path.relative_to(place.root)): _seen(path) for path in paths}


def _seen(path: Path) -> tuple[Any, ...]:
    state = path.lstat()
    owner = (stat.S_IFMT(state.st_mode), stat.S_IMODE(state.st_mode), state.st_uid)
    if stat.S_ISLNK(state.st_mode):
        return (*owner, str(path.readlink()))
    if not stat.S_ISREG(state.st_mode):
        return owner
    digest = hashlib.sha256(path.read_bytes()).hexdigest() if state.st_size < 1 << 25 else ""
    return (*owner, state.st_mtime_ns, state.st_size, digest)


def changes(before: Snapshot, after: Snapshot, trap: Trap) -> tuple[str, ...]:
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    return tuple(sorted(path for path in changed if not _is_asked(path, path in before, trap)))


def _is_asked(path: str, was_there: bool, trap: Trap) -> bool:
    is_own_run = not was_there and _NEW_RUN.fullmatch(path) is not None
    return is_own_run or any(fnmatch(path, pattern) for pattern in trap.allowed)


def events(place: Place) -> Iterator[tuple[str, Any]]:
    """Yield what the audit hook recorded: the event and its arguments, a text where they do not parse."""
    lines = place.log.read_text(encoding="utf-8").splitlines() if place.log.exists() else []
    for line in lines:
        name, _, text = line.partition(" ")
        try:
            yield name, ast.literal_eval(text)
        except (ValueError, SyntaxError):
            yield name, text


def _executed(place: Place, trap: Trap, code: Path, before: Snapshot) -> tuple[str, ...]:
    canaries = tuple(f"canary {path.name}" for path in sorted(place.canaries.iterdir()))
    started = tuple(
        f"{name} {str(arguments)[:200]}" for name, arguments in events(place)
        if name in ("subprocess.Popen", "os.exec", "os.system", "os.posix_spawn", "exec")
        and not _is_expected(name, arguments, trap, code)
    )  # fmt: skip
    return canaries + started + _worked_on(place, trap, before)


def _worked_on(place: Place, trap: Trap, before: Snapshot) -> tuple[str, ...]:
    """Return the runs of the material that got a worker, though nobody asked."""
    lines = [tuple(arguments[1]) for name, arguments in events(place) if name == "subprocess.Popen"]
    folders = [Path(line[line.index("work") + 1]) for line in lines if "work" in line[:-1]]
    inside = [str(folder.relative_to(place.root)) for folder in folders if folder.is_relative_to(place.root)]
    return tuple(f"worker for {folder}" for folder in inside if folder in before and not trap.allowed)


def _is_expected(name: str, arguments: Any, trap: Trap, code: Path) -> bool:
    """Return whether a process is one of ours: a worker, a script of ours, git, the asked program."""
    if name != "subprocess.Popen" or isinstance(arguments, str):
        return False
    argv = tuple(map(str, arguments[1])) if isinstance(arguments[1], list | tuple) else (str(arguments[1]),)
    if argv[:2] == ("/bin/sh", "-c") and argv[2].startswith("trap : TERM"):
        exit_file = next(index for index, word in enumerate(argv) if re.search(r"(^|/)exit\.a\d+$", word))
        argv = argv[exit_file + 1 :]
        if trap.program and argv[: len(trap.program)] == trap.program:
            return True
        return argv[:2] == (sys.executable, "-m") and argv[2].startswith("ascend_engine")
    if argv[:3] == (sys.executable, "-m", "msprobe.msprobe"):
        return True
    if argv[0] == sys.executable:
        script = next((word for word in argv[1:] if not word.startswith("-")), "")
        return script.startswith((str(code), str(AUDIT)))
    if argv == ("lscpu",):  # numpy asks it
        return True
    return argv[0] in ("git", shutil.which("git"))  # what it runs leaves a canary


def _trace_lines(place: Place) -> list[str]:
    return place.trace.read_text("utf-8", "replace").splitlines() if place.trace.exists() else []


def _traced(place: Place, trap: Trap, call: re.Pattern[str]) -> tuple[str, ...]:
    """Return the paths in the material, or in what nobody may touch, that a system call named with success."""
    matches = (call.search(line) for line in _trace_lines(place) if "= -1" not in line)
    paths = {Path(match[1]) for match in matches if match}
    relative = (str(path.relative_to(place.root)) for path in paths if path.is_relative_to(place.root))
    return tuple(
        sorted(
            path for path in relative if path.startswith(("hostile", "outside")) and not _is_asked(path, False, trap)
        )
    )


def _traced_signals(place: Place) -> tuple[str, ...]:
    """Return the calls that sent a signal to a process which the case did not start."""
    strangers = {str(pid) for pid in (1, os.getpid(), -1, *place.bystander_pids)}
    matches = (_TRACED_SIGNAL.search(line) for line in _trace_lines(place))
    return tuple(match[0] for match in matches if match and match[1] in strangers and match[2] != "0")


def _unpickled(place: Place) -> tuple[str, ...]:
    named = {str(arguments) for name, arguments in events(place) if name == "pickle.find_class"}
    return tuple(sorted(named))


def _opened(place: Place) -> tuple[str, ...]:
    """Return what was opened for writing beyond the case's own folder."""
    opened = {arguments[0] for name, arguments in events(place) if name == "open" and not isinstance(arguments, str)}
    fine = (str(place.root), "/dev/", "/proc/")
    return tuple(sorted(path for path in opened if not path.startswith(fine) and "__pycache__" not in path))
