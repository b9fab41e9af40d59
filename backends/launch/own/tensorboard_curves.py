"""Curves out of the TensorBoard files that a script writes where it runs: read on while it runs, like its log."""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING

from backends.common.nonfinite_losses import first_finding
from backends.common.tensorboard_events import scalars
from studio import files
from studio.events import Journal, Metric, Note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from backends.common.tensorboard_events import Scalar
    from studio.events import Event, Number

NOTE = "launch.tensorboard_curves"
PATTERN = "events.out.tfevents."
LOOK_SECONDS = 2.0
"""Between two looks for new files."""
DEPTH = 4
MAX_FOLDERS = 2000
MAX_FILES = 32
CHUNK = 1 << 20
RESERVED = ("loss", "lr", "grad_norm", "step_time", "throughput", "loss_scale", "skipped")
"""Names that the studio's own curves have: a tag of that name is told apart, as it may count its steps otherwise."""


class TensorBoardCurves:
    """Looks below `folder` for files that were written since `begun` (seconds since the epoch), and writes what they
    hold as metrics. For the worker: `tick()` while the training runs, `finish()` after its end."""

    def __init__(self, folder: Path, begun: float, journal: Journal) -> None:
        self._folder, self._begun, self._journal = folder, begun, journal
        self._offsets: dict[Path, int] = {}
        self._due = 0.0
        self._noted = self._has_reported = False

    @property
    def has_files(self) -> bool:
        return bool(self._offsets)

    def tick(self) -> None:
        """Raises OSError where a metric cannot be written; what was not is read again by the next tick."""
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + LOOK_SECONDS
            self._look()
        for path in list(self._offsets):
            self._read(path, self._journal.write)

    def finish(self) -> None:
        self._look()
        for path in list(self._offsets):
            while self._read(path, self._journal.write_or_keep):
                pass

    def _look(self) -> None:
        for path in _event_files(self._folder, self._begun):
            if len(self._offsets) < MAX_FILES:
                self._offsets.setdefault(path, 0)

    def _read(self, path: Path, write: Callable[..., None]) -> bool:
        """Read on in a file; return whether there was something."""
        offset = self._offsets[path]
        if offset < 0:
            return False
        try:
            with files.open_regular(path) as file:
                file.seek(offset)
                data = file.read(CHUNK)
            points, size = scalars(data)
        except (OSError, ValueError):
            self._offsets[path] = -1  # it is gone, or no such file
            return False
        self._write(points, write)
        self._offsets[path] = offset + size if size or len(data) < CHUNK else -1
        return bool(size)

    def _write(self, points: list[Scalar], write: Callable[..., None]) -> None:
        steps: dict[int, dict[str, Number]] = {}
        for point in points:
            steps.setdefault(point.step, {})[_name(point.tag)] = _json(point.value)
        events: list[Event] = [Metric(step=step, values=values) for step, values in steps.items()]
        if events and not self._noted:
            self._noted = True
            events.insert(0, Note(key=NOTE, args={"folder": str(self._folder)}))
        for event in events:
            write(event)
            if isinstance(event, Metric) and not self._has_reported:
                self._report(event, write)

    def _report(self, metric: Metric, write: Callable[..., None]) -> None:
        if finding := first_finding(metric.step, metric.values):
            self._has_reported = True
            write(finding)


def _name(tag: str) -> str:
    return f"tensorboard/{tag}" if tag in RESERVED else tag


def _json(value: float) -> Number:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _event_files(folder: Path, begun: float) -> Iterator[Path]:
    """Yield the event files below a folder that were written since then. Hidden folders, and the studio's, are left
    out."""
    pending, looked = [(folder, 0)], 0
    while pending and looked < MAX_FOLDERS:
        parent, depth = pending.pop()
        looked += 1
        try:
            entries = list(os.scandir(parent))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if depth < DEPTH and not entry.name.startswith("."):
                    pending.append((parent / entry.name, depth + 1))
            elif entry.name.startswith(PATTERN) and _is_newer(entry, begun):
                yield parent / entry.name


def _is_newer(entry: os.DirEntry[str], begun: float) -> bool:
    try:
        return entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime >= begun - 1
    except OSError:
        return False
