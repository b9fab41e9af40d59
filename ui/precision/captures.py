"""The dumps that can be compared: those of the project's runs, and folders from elsewhere. They are read off the UI
thread."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backends.common import program_line
from backends.common.run_values import text_value
from backends.launch.capture.state import FOLDER
from backends.precision.config.pack import read_pack
from backends.precision.config.pack_discovery import PACK_FOLDER
from backends.precision.dump.layout import find_dumps, refuse_several_captures
from studio import files
from studio.errors import StudioError
from studio.output.terminal import printable_line
from studio.run import line_of
from studio.texts import t
from studio.units import size
from ui.services.run_titles import title_of, when

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.precision.dump.dump import DumpLocation
    from studio.run import Run

HEADER_BYTES = 400
MAX_ARGUMENTS = 20
_HEADER_FIELD = re.compile(rb'"(task|level|framework)"\s*:\s*"(\w+)"')


@dataclass(frozen=True, kw_only=True)
class Capture:
    """A folder of dumps.

    `path` is what a comparison is given; `run` is None for a folder from elsewhere; `size_bytes` is the size of its
    files; `written_at` is the time of its newest dump, s since the epoch. `task`, `level` and `framework` are those of
    its first dump, '' where it does not say; `device` is what its run computed on, '' where that is not known."""

    path: Path
    dumps: tuple[DumpLocation, ...]
    run: Run | None = None
    size_bytes: int = 0
    written_at: float = 0.0
    task: str = ""
    level: str = ""
    framework: str = ""
    device: str = ""

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(sorted({dump.step for dump in self.dumps if dump.step is not None}))

    @property
    def ranks(self) -> tuple[int, ...]:
        return tuple(sorted({dump.rank for dump in self.dumps if dump.rank is not None}))


def read_capture(path: Path, run: Run | None = None) -> Capture | StudioError:
    """Read all dumps below a folder, or the one that a file is; the error says what is missing."""
    try:
        dumps = find_dumps(path)
        refuse_several_captures(dumps)
    except StudioError as error:
        return error
    header = _read_header(_file(dumps[0]))
    return Capture(
        path=path,
        dumps=dumps,
        run=run,
        size_bytes=sum(_folder_bytes(dump.folder) for dump in dumps),
        written_at=newest_write_time(map(_file, dumps)),
        device=_device(run) if run else "",
        **header,
    )


def read_captures(runs: Iterable[Run]) -> tuple[Capture, ...]:
    """Return the captures of runs, the newest of each run first; folders that hold no dump are skipped."""
    captures = (read_capture(folder, run) for run in runs for folder in _folders(run))
    return tuple(capture for capture in captures if isinstance(capture, Capture))


def _folders(run: Run) -> list[Path]:
    """Return the captures of a run, newest first by file time: their names only begin with the time of day."""
    try:
        names = os.listdir(run.folder / FOLDER)
    except OSError:
        return []
    folders = [run.folder / FOLDER / name for name in names]
    return sorted((folder for folder in folders if folder.is_dir()), key=_time, reverse=True)


def _time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _file(dump: DumpLocation) -> Path:
    return dump.folder / dump.file


def newest_write_time(files: Iterable[Path]) -> float:
    """Return when the newest of some files was written, s since the epoch; 0 where none exists."""
    return max(map(_time, files), default=0.0)


def _read_header(path: Path) -> dict[str, str]:
    """Read the fields that msprobe writes at the head of a dump."""
    try:
        with files.open_regular(path) as file:
            return {name.decode(): value.decode() for name, value in _HEADER_FIELD.findall(file.read(HEADER_BYTES))}
    except OSError:
        return {}


def _folder_bytes(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.stat(os.path.join(root, name)).st_size  # noqa: PTH116, PTH118 - thousands of tensors
    return total


def capture_name(capture: Capture) -> str:
    """Return 'train.py --cast 1 · 10:12:05', or the folder's own name."""
    return run_name(capture.run) if capture.run else capture.path.name


def run_name(run: Run) -> str:
    """Return what was run, with its arguments and the time to the second: the two sides of a comparison look much
    alike."""
    card = run.request.values.get("program")
    line = tuple(map(str, card.get("line") or ())) if isinstance(card, dict) else ()
    words = " ".join(program_line.parse_program_line(line).arguments) if line else ""
    arguments = words if len(words) <= MAX_ARGUMENTS else f"{words[: MAX_ARGUMENTS - 1]}…"
    return f"{title_of(run)} {arguments}".strip() + f" · {when(run, with_seconds=True)}"


def describe_capture(capture: Capture) -> str:
    """Return 'step 0–1 · 2 ranks · statistics · L1 · torch · 12 MB'."""
    steps, ranks = capture.steps, capture.ranks
    parts = [
        t("precision.start.steps", steps=format_numbers(steps)) if len(steps) > 1 else "",
        t("precision.start.step", step=steps[0]) if len(steps) == 1 else "",
        t("precision.start.ranks", count=len(ranks)) if len(ranks) > 1 else "",
        task_text(capture.task),
        capture.level,
        capture.framework,
        size(capture.size_bytes),
    ]
    return " · ".join(filter(None, parts))


def _device(run: Run) -> str:
    """Return the devices that the configuration of the run names, else the one that was asked for."""
    packs = sorted((run.folder / PACK_FOLDER).glob("*.zip"))[:1]
    with suppress(StudioError):
        own = read_pack(packs[0]).own if packs else None
        if own is not None and own.devices:
            return ", ".join(dict.fromkeys(own.devices))
    device = text_value(run, "how", "device")
    return t("launch.choice.device.virtual_npu") if device == "virtual_npu" else DEVICES.get(device, "")


def describe_origin(capture: Capture, side: str = "") -> str:
    """Return 'project · python train.py --lr 0.1 · golden side · Ascend910B1 · folder'. `side`: 'target' or 'golden',
    where the capture is chosen for one."""
    run = capture.run
    parts = [
        Path(run.request.project).name if run is not None else "",
        printable_line(line_of(run.request)) if run is not None else "",
        t(SIDES[side]) if side else "",
        capture.device,
        str(capture.path),
    ]
    return " · ".join(filter(None, parts))


DEVICES = {"cpu": "CPU", "ascend": "NPU"}
SIDES = {"target": "precision.start.as_target", "golden": "precision.start.as_golden"}


def task_text(task: str) -> str:
    return t(TASKS[task]) if task in TASKS else task


TASKS = {
    "statistics": "precision.start.task_statistics", "tensor": "precision.start.task_tensor",
    "md5": "precision.start.task_md5", "structure": "precision.start.task_structure",
}  # fmt: skip


def format_numbers(numbers: tuple[int, ...]) -> str:
    """Return '0–3', '0, 2, 5' or '7'."""
    if len(numbers) > 1 and numbers == tuple(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}–{numbers[-1]}"
    return ", ".join(map(str, numbers))
