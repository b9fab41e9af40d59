"""A run is a folder: `run.json` holds what was asked for, `events*.jsonl` what happened.

run.json        the request; never rewritten
worker.json     who works on it: pid, start time, host
training.json   the child that was started: pid, start time, attempt
exit.a<n>       the exit code of attempt n, written by the shim around the child; a link on a full disk, see exit_code
lost.a<n>.r<rank>.p<pid>  a link that says what a process could not record, see lost_records
saves.a<n>      which checkpoints a program wrote, and when each was done
code.json       commit and packages; code.patch: the dirty tree
output.log      everything the child printed
events.a<attempt>.r<rank>.p<pid>.jsonl
artifacts/
"""

from __future__ import annotations

import math
import os
import re
import secrets
import shlex
import shutil
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

import studio
from studio import files, processes
from studio.errors import StudioError, from_os
from studio.events import Ended, Event, Metric, Progress, attempt_and_rank, decode, last_of
from studio.faults.held_folder import current_folder
from studio.rank_losses import losses_of
from studio.security import ledger, secret_words, trust
from studio.tail import last_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMAT = 1
LARGEST_REQUEST = 1 << 24
"""Bytes of run.json: a request has a few kilobytes."""
OVER = ("ended", "lost", "gone")
"""States of a run of which nothing more will come."""
WITHOUT_WORKER = ("unattended", "interrupted")
"""States of a run on this host whose worker was killed."""
NONFINITE = "nonfinite"
"""The reason of an end that was well, of a training whose losses were NaN or infinite."""
_CODE = re.compile(r"[0-9]{1,3}")
"""An exit code as the shim writes it."""
_EXIT_CODE = re.compile(r"exit\.a\d{1,9}")
_WRITTEN = re.compile(r"\.|artifacts$|output\.log|worker\.|events\.|exit\.a|.*\.(json|patch)$")
"""Names that workers, shims and guests write in a run's folder."""


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The content of run.json. `values` is the spec as `schema.to_json` gives it; `time` in ns since the epoch; paths
    are absolute.
    """

    format: int = FORMAT
    command: str
    values: dict[str, Any]
    time: int
    studio: str = studio.__version__
    project: str = ""


@dataclass(frozen=True, kw_only=True)
class Run:
    """`secrets`: what placeholders in the request stand for, known only to the process that made the run."""

    folder: Path
    request: RunRequest
    secrets: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def log(self) -> Path:
        return self.folder / "output.log"

    @property
    def is_newer(self) -> bool:
        """Return whether a studio with another format wrote it: it is shown, not worked on."""
        return self.request.format > FORMAT


def line_of(request: RunRequest) -> str:
    """Return the program of a request as a shell reads it, or the studio's command where it names no program."""
    sections = [section for section in request.values.values() if isinstance(section, dict)]
    lines = [value for section in sections for value in section.values() if isinstance(value, list) and value]
    return shlex.join(map(str, lines[0])) if lines else request.command


def create(runs: Path, command: str, values: dict[str, Any], project: Path | None = None) -> Run:
    """Create a run under `runs`, whole or not at all; run.json has placeholders for secrets in command lines. Raises
    StudioError (full disk, no permission).
    """
    now = time.time_ns()
    masked, kept = secret_words.mask(values)
    request = RunRequest(command=command, values=masked, time=now, project=str(project or ""))
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now // 10**9))
    name = f"{stamp}-{now // 10**6 % 1000:03d}-{command}-{secrets.token_hex(2)}"
    making = runs / f".{name}.making"
    try:
        making.mkdir(mode=0o700, parents=True)
        making.chmod(0o700)
        if project is not None and trust.is_shared(project):
            _open_to_group(making, project)
        (making / "artifacts").mkdir()
        files.write_json(making / "run.json", request, files.mode_in(making))
        making.rename(runs / name)
    except OSError as error:
        shutil.rmtree(making, ignore_errors=True)
        raise from_os(error, runs) from error
    except UnicodeEncodeError as error:
        shutil.rmtree(making, ignore_errors=True)
        raise StudioError("error.not_utf8", path=ascii(str(project or runs))) from error
    return Run(folder=runs / name, request=request, secrets=kept)


def _open_to_group(folder: Path, project: Path) -> None:
    """Let the group of a project read a folder and what is made in it; it stays private where the user is not in that
    group: the user's own group may be everybody. Raises OSError."""
    try:
        os.chown(folder, -1, project.stat().st_gid)
    except PermissionError:
        return
    folder.chmod(0o2750)


def open_run(folder: Path) -> Run:
    """Return the run in a folder. Raises StudioError where run.json is missing or damaged."""
    try:
        request = msgspec.json.decode(files.read_bytes(folder / "run.json", LARGEST_REQUEST), type=RunRequest)
    except OSError as error:
        raise from_os(error, folder / "run.json") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StudioError("run.damaged", path=str(folder / "run.json"), reason=str(error)[:200]) from error
    return Run(folder=folder, request=request)


def refuse_links(folder: Path) -> None:
    """Raise StudioError where a file or folder that a worker writes to is a symbolic link: it may lead anywhere. An
    exit code on a full disk is a link that leads nowhere and is never written again.
    """
    entries = [entry for entry in os.scandir(folder) if entry.is_symlink() and _WRITTEN.match(entry.name)]
    links = sorted(entry.name for entry in entries if not _EXIT_CODE.fullmatch(entry.name) or not _is_code(entry.path))
    if links:
        raise StudioError("run.link", path=str(folder / links[0]))


def _is_code(path: str) -> bool:
    return bool(_CODE.fullmatch(os.readlink(path)))  # noqa: PTH115


def located(run: Run) -> Run:
    """Return the run where its folder is now, for who works on it and has let time pass."""
    return replace(run, folder=current_folder(run.folder))


def runs_in(folder: Path) -> tuple[Run, ...]:
    """Return all readable runs under a folder, newest first."""
    return tuple(run for name in run_names(folder) if (run := _readable(folder / name)) is not None)


def run_names(folder: Path) -> list[str]:
    """Return the names of the run folders, newest first: they begin with their time."""
    try:
        return sorted((name for name in os.listdir(folder) if not name.startswith(".")), reverse=True)
    except OSError:
        return []


def damaged_runs(folder: Path, readable: Iterable[Run]) -> tuple[str, ...]:
    """Return the names of the folders under a folder of runs that are none of its readable runs, newest first."""
    names = {run.name for run in readable}
    return tuple(name for name in run_names(folder) if name not in names and (folder / name).is_dir())


def _readable(folder: Path) -> Run | None:
    try:
        return open_run(folder)
    except StudioError:
        return None


def find_run(runs: Path, text: str) -> Run:
    """Return a run by its path, its name, or the beginning or end of its name. Raises StudioError."""
    if files.is_file(Path(text) / "run.json"):
        return open_run(Path(text).absolute())
    names = [name for name in run_names(runs) if name.startswith(text) or name.endswith(text)]
    if text in names:
        names = [text]
    if len(names) == 1:
        return open_run(runs / names[0])
    raise StudioError("run.several" if names else "run.unknown", run=text, runs=str(runs))


@dataclass(frozen=True, kw_only=True)
class Glance:
    """What a list shows of a run, from the ends of its files. `state`: queued; running; unattended (the worker was
    killed, the training goes on or left its exit code); interrupted (the worker was killed before anything was
    started); ended; lost; elsewhere (the worker is on another host); gone (the folder was moved or deleted). Times in
    ns since the epoch, 0 where unknown. `values`: of rank 0, but `loss` is the mean over the ranks where `is_mean`.
    `ranks`: how many have a loss, 0 where one alone is known; `mean_losses`: the last means over them, NaN where one
    is no number, nothing where there is none; `mean_step`: the step of the last of them.
    """

    state: str
    code: int | None = None
    reason: str = ""
    begun: int = 0
    ended: int = 0
    values: dict[str, float]
    progress: Progress | None = None
    ranks: int = 0
    mean_losses: tuple[float, ...] = ()
    mean_step: int = 0

    @property
    def is_mean(self) -> bool:
        return bool(self.mean_losses)


def glance(run: Run) -> Glance:
    """Return the glance of a run. It reads a few kilobytes and takes well under a millisecond."""
    events = last_events(run.folder)
    ended: Ended | None = last_of(events, Ended)
    newest = max((event.time for event in events), default=0)
    state = "ended" if ended else state_of(run.folder)
    losses = losses_of(run.folder)
    # One NaN for all: another one would be another glance each time.
    mean_of_step = losses.means()
    means = tuple(mean if math.isfinite(mean) else math.nan for _, mean in mean_of_step)
    values = _last_values(events) | ({"loss": means[-1]} if means else {})
    return Glance(
        state=state, code=ended.code if ended else None, reason=ended.reason if ended else "",
        begun=run.request.time, ended=ended.time if ended else newest, values=values,
        progress=last_of(events, Progress), ranks=losses.ranks(), mean_losses=means,
        mean_step=mean_of_step[-1][0] if mean_of_step else 0,
    )  # fmt: skip


ANSWERED = ("done", "no", "incomplete")
"""Outcomes of work that was done, whatever the answer is."""


def outcome_of(glance: Glance) -> str:
    """Return one word for a list: the state, or for an ended run how it ended."""
    if glance.state != "ended":
        return glance.state
    if glance.reason in ("stopped", "lost", "no", "incomplete", NONFINITE):
        return glance.reason
    return "failed" if glance.code else "done"


def is_at_work(glance: Glance) -> bool:
    """Tell whether a run works, waits to, or goes on without a worker."""
    return glance.state in ("running", "queued", "unattended")


def is_running(glance: Glance) -> bool:
    """Tell whether a run works, with or without a worker, and does not wait for its turn."""
    return is_at_work(glance) and glance.state != "queued"


def last_events(folder: Path, max_bytes: int = 8192) -> list[Event]:
    """Return the events at the ends of the files of rank 0, by time; at most `max_bytes` bytes of each file are
    read."""
    try:
        names = [name for name in os.listdir(folder) if (attempt_and_rank(name) or (0, 1))[1] == 0]
    except OSError:
        return []
    events = [event for name in names for event in decode(b"\n".join(last_lines(folder / name, max_bytes)))[0]]
    return sorted(events, key=lambda event: event.time)


def _last_values(events: list[Event]) -> dict[str, float]:
    values: dict[str, float] = {}
    for event in events:
        if isinstance(event, Metric):
            values |= {name: float(value) for name, value in event.values.items()}
    return values


def ended_of(folder: Path) -> Ended | None:
    ended: Ended | None = last_of(last_events(folder), Ended)
    return ended


def state_of(folder: Path) -> str:
    """Return the state of a run that has no `ended`: see Glance."""
    if _is_gone(folder):
        return "gone"
    worker = processes.read_mark(folder / "worker.json")
    if worker is None:
        return "interrupted" if ledger.is_last_worker_gone(folder) else "queued"
    if worker.is_remote():
        return "elsewhere"
    process = worker.process()
    if process and processes.may_be_worker_of(process, folder):
        return "running"
    training = processes.read_mark(folder / "training.json")
    if not worker.is_local():
        return "lost"
    if training is None:
        return "interrupted"
    return "unattended" if _goes_on(folder, training) else "lost"


def _is_gone(folder: Path) -> bool:
    """Return whether there is no run in a folder any more. One that cannot be read just now may still be there."""
    try:
        (folder / "run.json").stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _goes_on(folder: Path, training: processes.Mark) -> bool:
    """Return whether a training without a worker still lives, or left an exit code that a worker has to record."""
    return bool(training.process() or exit_code(folder, training.attempt) or processes.marked(folder))


def exit_code(folder: Path, attempt: int) -> str:
    """Return what the shim wrote when the child of an attempt ended, "" while there is nothing. A full disk takes no
    file of one byte, but it takes a link: its target is then the code.
    """
    path = current_folder(folder) / f"exit.a{attempt}"
    try:
        code = str(path.readlink()) if path.is_symlink() else files.read_bytes(path).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return code if _CODE.fullmatch(code) else ""


def trash(run: Run) -> Path:
    """Move a run to the trash beside the runs. Raises StudioError; a run that still works is refused."""
    if glance(run).state in ("running", "unattended"):
        raise StudioError("run.still_works", run=run.name)
    bin_folder = _trash_folder(run.folder.parent)
    try:
        if bin_folder.is_symlink():
            raise StudioError("run.link", path=str(bin_folder))
        bin_folder.mkdir(exist_ok=True)
        return run.folder.rename(bin_folder / run.name)
    except OSError as error:
        raise from_os(error, run.folder) from error


def trashed(runs: Path) -> tuple[Run, ...]:
    return runs_in(_trash_folder(runs))


def _trash_folder(runs: Path) -> Path:
    return runs.parent / "trash"


def restore(run: Run, runs: Path) -> Run:
    """Move a run back from the trash. Raises StudioError."""
    try:
        return Run(folder=run.folder.rename(runs / run.name), request=run.request)
    except OSError as error:
        raise from_os(error, run.folder) from error


def empty_trash(runs: Path) -> int:
    """Delete what is in the trash for good; return how many runs that were."""
    folder = _trash_folder(runs)
    names = () if folder.is_symlink() else run_names(folder)
    for name in names:
        shutil.rmtree(folder / name, ignore_errors=True)
    return len(names)
