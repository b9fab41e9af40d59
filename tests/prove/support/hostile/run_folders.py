"""Run folders as somebody else would write them."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
import unittest.mock
from typing import TYPE_CHECKING, Any

from backends import features
from studio import processes, schema
from studio.feature import action_of
from studio.security import ledger
from tests.prove.support.hostile.trial import Trap

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.prove.support.hostile.trial import Place

_LOCK = threading.Lock()
DEAD = 2**22 - 1
NAME = "20260101-000000-000-script-beef"
SECOND = "SECOND"
SECOND_NAME = f"{NAME}-b"
LINES = ("script", "rehearse", "certify", "determinism")
"""The commands whose request holds a line."""
WRITTEN = (
    "artifacts", "output.log", "worker.log", "worker.lock", "worker.json", "training.json", "exit.a1", "exit.a1.tmp",
    "code.json", "code.patch", "options.json", "capture.json", "events.a1.r0.p1.jsonl",
)  # fmt: skip
"""Names that a worker, a shim, a guest or a capture writes."""
ESCAPES = "\x1b]0;title\x07\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\u202e"


def request(command: str, values: dict[str, Any], **changed: Any) -> dict[str, Any]:
    return {"format": 1, "command": command, "values": values, "time": time.time_ns(), "studio": "9", **changed}


def line_values(command: str, line: tuple[str, ...], folder: Path) -> dict[str, Any]:
    """Return the values of a request of `command` that runs `line` in `folder`."""
    action = action_of(features(), command)
    assert action is not None
    spec = action.spec()
    for name, value in {"line": line, "workdir": folder, "original": folder, "migrated": folder}.items():
        if any(field.name == name for field in schema.fields(action.spec)):
            spec = schema.with_value(spec, name, value)
    return dict(schema.to_json(spec))


def run_folder(place: Place, command: str = "script", name: str = NAME, runs: str = ".ascend-studio/runs") -> Path:
    """Make a run in the hostile project, or elsewhere below its folder, whose command leaves a canary."""
    folder = place.hostile / runs / name
    (folder / "artifacts").mkdir(parents=True)
    write(folder / "run.json", request(command, line_values(command, place.shell(name), place.hostile)))
    return folder


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def mark(path: Path, pid: int) -> None:
    write(path, processes.mark_of(pid))


# Each makes something of a run folder that it gets.


def never_started(_place: Place, _folder: Path) -> None:
    pass


def dead_worker(_place: Place, folder: Path) -> None:
    mark(folder / "worker.json", DEAD)


def dead_worker_and_code(place: Place, folder: Path) -> None:
    dead_worker(place, folder)
    mark(folder / "training.json", DEAD)
    (folder / "exit.a1").write_text("0\n", encoding="ascii")


def living_worker(place: Place, folder: Path) -> None:
    mark(folder / "worker.json", place.bystander())


def first_process(_place: Place, folder: Path) -> None:
    mark(folder / "worker.json", 1)
    mark(folder / "training.json", 1)


def own_process(place: Place, folder: Path) -> None:
    mark(folder / "worker.json", place.bystander(is_other=False))


def living_training(place: Place, folder: Path) -> None:
    dead_worker(place, folder)
    mark(folder / "training.json", place.bystander())


def training_is_first_process(place: Place, folder: Path) -> None:
    dead_worker(place, folder)
    mark(folder / "training.json", 1)


def marked_foreigner(place: Place, folder: Path) -> None:
    """Somebody's process says that it is of the run."""
    dead_worker(place, folder)
    mark(folder / "training.json", place.bystander(f"{processes.RUN_VARIABLE}={os.path.realpath(folder)}"))
    (folder / "exit.a1").write_text("0\n", encoding="ascii")


def ended_by_file(place: Place, folder: Path) -> None:
    living_training(place, folder)
    (folder / "exit.a1").write_text("9" * 5000, encoding="ascii")


def huge_numbers(_place: Place, folder: Path) -> None:
    text = (folder / "run.json").read_text(encoding="utf-8")
    (folder / "run.json").write_text(text.replace('"grace": 60.0', '"grace": 1e308'), encoding="utf-8")
    huge = {"pid": 10**30, "start": 10**30, "place": vars(processes.current_host()), "attempt": 10**30}
    write(folder / "worker.json", huge)
    write(folder / "training.json", {**huge, "pid": -1})
    values = {"loss": 10**300, "n": -(10**400), "e": "NaN"}
    event(folder, {"type": "metric", "time": 10**30, "step": 10**30, "values": values})
    event(folder, {"type": "progress", "time": -1, "done": 2**63, "total": 0, "phase": "x" * 10**5})


def all_processes(_place: Place, folder: Path) -> None:
    """A signal to pid -1 goes to everybody, one to 0 to the own group."""
    mark(folder / "worker.json", DEAD)
    write(folder / "worker.json", {**processes.mark_of(os.getpid()), "pid": -1})
    write(folder / "training.json", {**processes.mark_of(os.getpid()), "pid": 0})


def newer_format(place: Place, folder: Path) -> None:
    dead_worker(place, folder)
    write(folder / "run.json", json.loads((folder / "run.json").read_text()) | {"format": 99})


def deep_request(place: Place, folder: Path) -> None:
    dead_worker(place, folder)
    deep = "[" * 100_000 + "]" * 100_000
    text = json.dumps(request("script", {"program": {"line": "DEEP"}}))
    (folder / "run.json").write_text(text.replace('"DEEP"', deep), encoding="utf-8")
    (folder / "worker.json").write_text(deep, encoding="utf-8")


def event(folder: Path, value: dict[str, Any]) -> None:
    with (folder / "events.a1.r0.p1.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(value) + "\n")


def escapes(place: Place, folder: Path) -> None:
    dead_worker(place, folder)
    mark(folder / "training.json", DEAD)
    now = time.time_ns()
    (folder / "output.log").write_text(f"{ESCAPES}log\r{ESCAPES}\n<b>html</b>\n=1+1\n", encoding="utf-8")
    values = {f"loss{ESCAPES}": 1, "=cmd|' /C calc'!A0": 2, "<img src=x onerror=1>": 3}
    event(folder, {"type": "metric", "time": now, "step": 1, "values": values})
    event(folder, {"type": "note", "time": now, "key": f"{ESCAPES}.key", "args": {ESCAPES: ESCAPES}})
    args = {"reason": ESCAPES, "text": ESCAPES, "<a href='file:///'>": "<script>"}
    event(folder, {"type": "finding", "time": now, "rule": "run.our_error", "severity": "error", "args": args})
    event(folder, {"type": "artifact", "time": now, "kind": ESCAPES, "path": "../../../../outside/profile"})
    event(folder, {"type": "ended", "time": now, "code": 10**6, "reason": ESCAPES})


def long_lines(place: Place, folder: Path) -> None:
    dead_worker(place, folder)
    mark(folder / "training.json", DEAD)
    with (folder / "events.a1.r0.p1.jsonl").open("wb") as file:
        file.write(b'{"type":"note","time":1,"key":"' + b"x" * 10_000_000 + b'","args":{}}\n')
        file.write(b'{"type":"note","time":1,"key":"k","args":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}\n")
    (folder / "output.log").write_bytes(b"y" * 10_000_000 + b"\x1b]0;t\x07")


def link_at(name: str) -> Callable[[Place, Path], None]:
    def make(place: Place, folder: Path) -> None:
        if name != "worker.json":
            dead_worker(place, folder)
        if name not in ("training.json", "worker.json", "worker.log", "worker.lock"):
            mark(folder / "training.json", DEAD)
            (folder / "exit.a1").write_text("0\n", encoding="ascii")
        path, target = folder / name, place.outside / ("folder" if name == "artifacts" else "profile")
        if path.is_dir():
            path.rmdir()
        path.unlink(missing_ok=True)
        path.symlink_to(target)

    return make


def dangling_links(place: Place, folder: Path) -> None:
    """All names lead to files that are not there yet."""
    for name in WRITTEN:
        if name not in ("artifacts", "worker.json"):
            (folder / name).symlink_to(place.outside / f"new-{name}")
    dead_worker(place, folder)


def linked_folder(place: Place, folder: Path) -> None:
    dead_worker(place, folder)
    real = place.outside / "run"
    folder.rename(real)
    folder.symlink_to(real)


def broken_files(_place: Place, folder: Path) -> None:
    """Folders and pipes where files are expected: opening a pipe waits for ever."""
    mark(folder / "worker.json", DEAD)
    mark(folder / "training.json", DEAD)
    for name in ("output.log", "exit.a1", "events.a1.r0.p1.jsonl", "worker.log", "capture.json", "code.json"):
        os.mkfifo(folder / name)


def pipe_request(_place: Place, folder: Path) -> None:
    (folder / "run.json").unlink()
    os.mkfifo(folder / "run.json")


FOREIGN: dict[str, Callable[[Place, Path], None]] = {
    "never started": never_started,
    "dead worker": dead_worker,
    "dead worker and exit code": dead_worker_and_code,
    "worker is a living process": living_worker,
    "worker is the first process": first_process,
    "worker is a process of the user": own_process,
    "worker is everybody": all_processes,
    "training is a living process": living_training,
    "training is the first process": training_is_first_process,
    "training is marked, of another user": marked_foreigner,
    "exit file of many digits": ended_by_file,
    "huge numbers": huge_numbers,
    "newer format": newer_format,
    "deep request": deep_request,
    "escapes": escapes,
    "long lines": long_lines,
    "links to nothing yet": dangling_links,
    "folder is a link": linked_folder,
    "pipes instead of files": broken_files,
    "run.json is a pipe": pipe_request,
    **{f"link at {name}": link_at(name) for name in WRITTEN},
}


# Runs that this user started, and that somebody changed


def own_run(place: Place, runs: str) -> Path:
    """Make a run of this user whose first worker is gone, with its entry in the ledger."""
    folder = run_folder(place, runs=runs)
    folder.chmod(0o700)
    dead_worker(place, folder)
    with _LOCK, unittest.mock.patch.dict(os.environ, place.env):
        ledger.record(folder, DEAD)
    for entry in (place.home / "state").rglob("*.json"):  # old enough for another worker
        write(entry, {**json.loads(entry.read_text()), "time": 0})
    return folder


def copied(_place: Place, folder: Path) -> Path:
    copy = folder.with_name("20260101-000000-001-script-cafe")
    shutil.copytree(folder, copy)
    shutil.rmtree(folder)
    return copy


def rewritten(place: Place, folder: Path) -> Path:
    write(folder / "run.json", request("script", line_values("script", place.shell("other"), place.hostile)))
    return folder


def replaced(place: Place, folder: Path) -> Path:
    """Another folder at the path, with the same run.json."""
    text = (folder / "run.json").read_bytes()
    folder.rename(place.root / "moved")
    folder.mkdir()
    (folder / "run.json").write_bytes(text)
    dead_worker(place, folder)
    return folder


def shared(_place: Place, folder: Path) -> Path:
    folder.chmod(0o770)
    return folder


def given_away(_place: Place, folder: Path) -> Path:
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
    else:
        folder.chmod(0o777)
    return folder


OWN: dict[str, Callable[[Place, Path], Path]] = {
    "own, copied": copied,
    "own, run.json rewritten": rewritten,
    "own, another folder at its path": replaced,
    "own, writable by the group": shared,
    "own, given to somebody": given_away,
    "own, in a restricted project": lambda _place, folder: folder,
}


def foreign_case(words: tuple[str, ...], kind: str, command: str = "script") -> Callable[[Place], Trap]:
    """Return what builds a run folder of somebody else; RUN in `words` stands for its path, SECOND for that of another
    one of its kind."""

    def build(place: Place) -> Trap:
        folder = run_folder(place, command)
        FOREIGN[kind](place, folder)
        if SECOND in words:
            FOREIGN[kind](place, run_folder(place, command, SECOND_NAME))
        place.hand_over()
        naive = place.shell(NAME) if kind.startswith(("never", "dead worker")) else ()
        return trap_of(place, words, folder, naive)

    return build


def own_case(words: tuple[str, ...], kind: str) -> Callable[[Place], Trap]:
    def build(place: Place) -> Trap:
        is_restricted = kind == "own, in a restricted project"
        folder = OWN[kind](place, own_run(place, ".ascend-studio/runs" if is_restricted else "runs"))
        place.hand_over(folder)
        return trap_of(place, words, folder, place.shell(NAME))

    return build


def trap_of(place: Place, words: tuple[str, ...], folder: Path, naive: tuple[str, ...]) -> Trap:
    paths = {"RUN": str(folder), SECOND: str(folder.with_name(SECOND_NAME))}
    filled = tuple(paths.get(word, word) for word in words)
    return Trap(words=("--project", str(place.hostile), *filled), cwd=place.hostile, naive=naive, seconds=6)


def asked_case(words: tuple[str, ...], kind: str) -> Callable[[Place], Trap]:
    """A take-over that the user asks for: it may write in the run's folder, and starts nothing."""

    def build(place: Place) -> Trap:
        folder = run_folder(place)
        FOREIGN[kind](place, folder)
        place.hand_over()
        trap = trap_of(place, words, folder, ())
        return Trap(**{**vars(trap), "allowed": (f"hostile/.ascend-studio/runs/{folder.name}/*",)})

    return build
