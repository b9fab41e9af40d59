"""The small files by which a capture is asked for and tells how far it is; `captures.py` of the guest writes them."""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from backends.launch.capture.spec import Kind, capture_of, ranks_of, targets_of
from studio import files
from studio.events import Finding

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.capture.spec import Capture, Planned

REQUEST_FILE = "capture.json"
FOLDER = "artifacts/captures"
PLANNED_FILE = "planned.json"
MB = 1_000_000
_FORMER_KEYS = {"octets": "byte_count"}
"""What earlier versions called a field of a rank's file, and what it is called now."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """`start`: the first step, -1 for the next one; a dump from 0 or 1 begins with the first forward of the training.
    `targets`: parts of the names of what is dumped, all where it is empty; `casts`: also what msprobe leaves out, such
    as casts and views; `optimizer_state`: also that of the optimizer. `need` and `margin`: bytes expected, and to stay
    free."""

    id: str
    kind: Kind
    start: int = -1
    steps: int = 1
    ranks: tuple[int, ...] = ()
    task: str = "statistics"
    level: str = "L1"
    stacks: bool = False
    targets: tuple[str, ...] = ()
    direction: str = "both"
    casts: bool = False
    optimizer_state: bool = False
    need: int = 0
    margin: int = 0


@dataclass(frozen=True, kw_only=True)
class PlannedParts:
    """What a training was started with. `request`: of its capture, None where none was planned."""

    request: Request | None = None
    config_pack: bool = False


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A rank that can be asked. `tensors` and `parameters`: what its optimizer trains, 0 where unknown."""

    rank: int = 0
    pid: int = 0
    framework: str = ""
    tensors: int = 0
    parameters: int = 0


@dataclass(frozen=True, kw_only=True)
class Rank:
    """One rank's part of a capture. `state`: armed, begun, done, failed, withdrawn. `seconds`: of the first captured
    step, `usual` of a step before it, 0 where unknown; `byte_count`: on the disk so far."""

    state: str
    kind: str
    start: int = -1
    steps: int = 1
    done: int = 0
    seconds: float = 0.0
    usual: float = 0.0
    byte_count: int = 0
    path: str = ""
    rule: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    task: str = "statistics"
    level: str = "L1"
    stacks: bool = False
    targets: tuple[str, ...] = ()
    direction: str = "both"
    casts: bool = False
    shim: bool = False
    pid: int = 0

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed", "withdrawn")

    @property
    def finding(self) -> Finding | None:
        return Finding(rule=self.rule, severity="error", args=self.args) if self.state == "failed" else None


def request_of(chosen: Capture, need: int = 0) -> Request:
    """A new one, under an id of its own. A structure is one of modules: msprobe takes "mix" for "L1" there."""
    stamp = time.strftime("%H%M%S", time.localtime())
    level = "mix" if (chosen.task, chosen.level) == ("structure", "L1") else chosen.level
    return Request(
        id=f"{stamp}-{chosen.kind}-{secrets.token_hex(2)}", kind=chosen.kind, steps=chosen.steps,
        start=-1 if chosen.at is None else chosen.at, ranks=ranks_of(chosen), task=chosen.task, level=level,
        stacks=chosen.stacks, targets=targets_of(chosen.targets), direction=chosen.direction, casts=chosen.casts,
        optimizer_state=chosen.optimizer_state, need=need, margin=chosen.keep_free * MB,
    )  # fmt: skip


def write_request(folder: Path, request: Request) -> None:
    """Asks. In a run that has not begun, its training finds it at its first step. Raises OSError."""
    files.write_json(folder / REQUEST_FILE, request)


def request_planned(folder: Path, planned: Planned) -> None:
    """Asks for what was planned, if anything, and keeps that for the end of the training. Raises OSError."""
    chosen = capture_of(planned)
    request = None if chosen is None else request_of(chosen)
    if request is not None:
        write_request(folder, request)
    if request is not None or planned.config_pack:
        files.write_json(folder / PLANNED_FILE, PlannedParts(request=request, config_pack=planned.config_pack))


def read_planned(folder: Path) -> PlannedParts | None:
    """What a training was started with, None where nothing was planned for it."""
    planned: PlannedParts | None = _read(folder / PLANNED_FILE, PlannedParts)
    return planned


def withdraw(folder: Path, request: Request) -> None:
    """A capture that has begun ends by itself."""
    newest = files.read_json(folder / REQUEST_FILE)
    if isinstance(newest, dict) and newest.get("id") == request.id:
        with suppress(OSError):
            (folder / REQUEST_FILE).unlink()


def with_current_keys(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a rank's file under the names of this version. Raises TypeError for what is no object."""
    return {_FORMER_KEYS.get(key, key): value for key, value in {**content}.items()}


def ready(folder: Path) -> tuple[Ready, ...]:
    """The ranks that can be asked; none in a run without hooks, and before the first step."""
    ranks_in_files = (_read(path, Ready, rank=_number(path.stem)) for path in folder.glob("capture.r*.json"))
    return tuple(sorted((entry for entry in ranks_in_files if entry is not None), key=lambda entry: entry.rank))


def newest_request(folder: Path) -> Request | None:
    """The newest request, whether it is still open or not."""
    request: Request | None = _read(folder / REQUEST_FILE, Request)
    return request


def ranks(folder: Path, id: str) -> dict[int, Rank]:
    """How far each rank is that has taken a request up."""
    states = {_number(path.stem): _read(path, Rank) for path in (folder / FOLDER / id).glob("rank*.json")}
    return {rank: state for rank, state in sorted(states.items()) if state is not None}


def done_before(folder: Path) -> tuple[Rank, ...]:
    """What earlier captures of a run came to, the newest last."""
    paths = sorted((folder / FOLDER).glob("*/rank*.json"), key=_written)
    states = (_read(path, Rank) for path in paths)
    return tuple(state for state in states if state is not None and state.state == "done")


def requested_ranks(folder: Path, request: Request) -> frozenset[int]:
    """The ranks that a request is for."""
    return frozenset(request.ranks or [rank.rank for rank in ready(folder)] or (0,))


def is_over(folder: Path, request: Request) -> bool:
    """Whether nothing more comes of a request, also since the process that had taken it up is another one now."""
    states, now = ranks(folder, request.id), {entry.rank: entry.pid for entry in ready(folder)}
    return all(
        rank in states and (states[rank].is_over or states[rank].pid != now.get(rank, states[rank].pid))
        for rank in requested_ranks(folder, request)
    )


def _written(path: Path) -> int:
    """When, in ns; 0 for a file that is gone by now."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _number(stem: str) -> int:
    digits = "".join(letter for letter in stem if letter.isdigit())
    return int(digits or 0)


def _read(path: Path, kind: Any, **more: Any) -> Any:
    """None where the file is missing, half made, or of another studio."""
    try:
        return msgspec.convert({**with_current_keys(files.read_json(path)), **more}, kind)
    except (msgspec.ValidationError, TypeError):
        return None
