"""The dumps that can be compared: those of the project's runs, and folders from elsewhere. Read off the UI thread."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.launch.capture.state import FOLDER
from backends.launch.own import program
from backends.precision.dump.layout import one_root, places
from studio.errors import StudioError
from studio.texts import t
from studio.units import size
from ui.curves.names import title_of, when

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backends.precision.dump.dump import Place
    from studio.run import Run

HEAD = 400
LONGEST = 20
_SAID = re.compile(rb'"(task|level|framework)"\s*:\s*"(\w+)"')


@dataclass(frozen=True, kw_only=True)
class Capture:
    """`path`: what a comparison is given. `run`: None for one from elsewhere. `octets`: of its files; `written`: when
    its newest dump was, s since the epoch. `task`, `level`, `framework`: as its first dump says, '' where it does
    not."""

    path: Path
    places: tuple[Place, ...]
    run: Run | None = None
    octets: int = 0
    written: float = 0.0
    task: str = ""
    level: str = ""
    framework: str = ""

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(sorted({place.step for place in self.places if place.step is not None}))

    @property
    def ranks(self) -> tuple[int, ...]:
        return tuple(sorted({place.rank for place in self.places if place.rank is not None}))


def read_capture(path: Path, run: Run | None = None) -> Capture | StudioError:
    """All dumps below a folder, or the one that a file is; the error says what is missing."""
    try:
        found = places(path)
        one_root(found)
    except StudioError as error:
        return error
    said = _said(_file(found[0]))
    return Capture(
        path=path, places=found, run=run, octets=sum(_octets(place.folder) for place in found),
        written=written(map(_file, found)), **said,
    )  # fmt: skip


def captures_of(runs: Iterable[Run]) -> tuple[Capture, ...]:
    """Of runs, the newest first; of a run its newest capture first. What holds no dump is passed over."""
    found = (read_capture(folder, run) for run in runs for folder in _folders(run))
    return tuple(one for one in found if isinstance(one, Capture))


def _folders(run: Run) -> list[Path]:
    """The captures of a run: their names begin with the time of day, so that their own times order them."""
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


def _file(place: Place) -> Path:
    return place.folder / place.file


def written(files: Iterable[Path]) -> float:
    """When the newest of some files was written, s since the epoch; 0 where none is there."""
    return max(map(_time, files), default=0.0)


def _said(path: Path) -> dict[str, str]:
    """What msprobe writes at the head of a dump."""
    try:
        with path.open("rb") as file:
            return {name.decode(): value.decode() for name, value in _SAID.findall(file.read(HEAD))}
    except OSError:
        return {}


def _octets(folder: Path) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.stat(os.path.join(root, name)).st_size  # noqa: PTH116, PTH118 - thousands of tensors
    return total


# In words


def name_of(capture: Capture) -> str:
    """'train.py --cast 1 · 10:12:05', or the folder's own name."""
    return run_name(capture.run) if capture.run else capture.path.name


def run_name(run: Run) -> str:
    """What was run, with its arguments, and when to the second: the sides of a comparison are much alike."""
    card = run.asked.values.get("program")
    line = tuple(map(str, card.get("line") or ())) if isinstance(card, dict) else ()
    words = " ".join(program.read(line).arguments) if line else ""
    said = words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
    return f"{title_of(run)} {said}".strip() + f" · {when(run, with_seconds=True)}"


def words_of(capture: Capture) -> str:
    """'step 0–1 · 2 ranks · statistics · L1 · torch · 12 MB'"""
    steps, ranks = capture.steps, capture.ranks
    parts = [
        t("precision.start.steps", steps=span(steps)) if len(steps) > 1 else "",
        t("precision.start.step", step=steps[0]) if len(steps) == 1 else "",
        t("precision.start.ranks", count=len(ranks)) if len(ranks) > 1 else "",
        task_name(capture.task), capture.level, capture.framework, size(capture.octets),
    ]  # fmt: skip
    return " · ".join(filter(None, parts))


def task_name(task: str) -> str:
    return t(TASKS[task]) if task in TASKS else task


TASKS = {
    "statistics": "precision.start.task_statistics", "tensor": "precision.start.task_tensor",
    "md5": "precision.start.task_md5", "structure": "precision.start.task_structure",
}  # fmt: skip


def span(numbers: tuple[int, ...]) -> str:
    """'0–3', '0, 2, 5', '7'"""
    if len(numbers) > 1 and numbers == tuple(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]}–{numbers[-1]}"
    return ", ".join(map(str, numbers))
