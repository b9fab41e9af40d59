"""Curves out of the log of a run: metrics that the worker writes where the training itself writes no loss."""

from __future__ import annotations

import math
import os
import re
import time
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from backends.common import log_patterns
from backends.common.nonfinite_losses import first_finding
from backends.launch.own.log_counts import LogCounts, stops_early
from backends.launch.own.log_lines import LogLines
from studio import processes
from studio import run as runs
from studio.events import Journal, Metric, Note, attempt_and_rank, decode, name_of
from studio.faults.held_folder import current_folder
from studio.tail import Tail, last_lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from backends.common.log_patterns import Pattern, Row
    from studio.events import Event, Number
    from studio.run import Run

    Point: TypeAlias = tuple[int, dict[str, float]]

NOTE = "launch.log_curves"
"""Says which pattern was taken. Event files that hold it are a worker's, not the training's."""
AUTO, OFF, OWN = "auto", "off", "own"
TICK = 0.15
"""Seconds that one tick may read, so that a stop is seen in time."""
FINISH = 10.0
END_BYTES = 1 << 16
MAX_FILES = 16
WORDS = re.compile(b"(?i)cost|objective|nll|elbo|bce|" + "损失".encode())  # what a loss is called otherwise
SAMPLE = 200

_BAR = re.compile(r"\b(\d{1,9})/\d{1,9} \[")
_LOSS = re.compile(rb'"type":"metric"[^\n]*"loss(?:\.\d+)?":')


class Steps:
    """Where on the axis a row belongs: its step, with those of the epochs before, or else its count."""

    def __init__(self) -> None:
        self._count = -1
        self._before = 0
        self._first: tuple[int, int] | None = None
        self._last = (0, 0)
        self._goes_on = False

    def of(self, places: dict[str, int]) -> int:
        step, epoch = places.get("step"), places.get("epoch", 0)
        if step is None:
            self._count += 1
            return self._count
        if self._first is None:
            self._first = (epoch, step)
        elif epoch > self._last[0] or (epoch == self._last[0] and step < self._last[1] and step <= self._first[1]):
            self._next_epoch(step, places.get("steps", 0))
        self._last = (epoch, step)
        if "epoch" in places and "steps" in places and not self._goes_on:
            return max(0, epoch - min(self._first[0], 1)) * places["steps"] + step
        return self._before + step

    def _next_epoch(self, step: int, steps: int) -> None:
        """Its steps begin again, unless they are counted over all epochs. An untold length is the last step seen."""
        assert self._first is not None
        if step > self._last[1]:
            self._goes_on = True
        else:
            self._before += steps or self._last[1] + (self._first[1] == 0)


class _Training:
    """Whether the training writes losses of its own, read from its event files."""

    def __init__(self, folder: Path, ours: set[str]) -> None:
        self._folder = folder
        self._ours = ours
        self._tails: dict[str, Tail] = {}
        self._writes = False

    def writes_loss(self) -> bool:
        names = [] if self._writes else _event_files(self._folder)
        for name in sorted(set(names) - self._ours)[:MAX_FILES]:
            tail = self._tails.setdefault(name, Tail(current_folder(self._folder) / name))
            self._writes = self._writes or bool(_LOSS.search(tail.read()))
        return self._writes


class LogCurves:
    """Reads on in output.log and writes what it finds as metrics. For the worker: `tick()` while the training runs,
    `finish()` after its end. What is read is written one tick later: by then the training has said whether it writes
    losses itself.

    `choice`: auto (the pattern that fits, only while the training writes no loss), off, own, or the id of a pattern;
    `own`: the expressions of the own pattern. Raises StudioError where that is wrong.
    """

    def __init__(self, run: Run, choice: str = AUTO, own: str = "") -> None:
        earlier = _earlier(run.folder)
        attempt = _attempt(run.folder)
        self._folder, self._attempt = run.folder, attempt
        self._auto, self._off = choice == AUTO, choice == OFF
        self._pattern: Pattern | None = log_patterns.own(own) if choice == OWN else log_patterns.by_id(choice)
        self._log = run.log
        self._lines = LogLines(run.log)
        self._training = _Training(run.folder, {*earlier, name_of(attempt, 0, os.getpid())})
        self._journal = Journal(run.folder, attempt)
        self._written_to = max(earlier.values(), default=None)
        self._last: int | None = None
        self._noted = bool(earlier)
        self._has_progress = False
        self._has_reported = bool(earlier)
        self._steps = Steps()
        self._bar = -1
        self._unplaced: Row | None = None
        self._held: list[Point] = []
        self._counts = LogCounts()
        self._has_read = bool(earlier)

    @property
    def unread_pattern(self) -> str:
        """The id of the pattern that was chosen and that no line of the log fits; "" where there is none of that."""
        pattern = None if self._auto or self._has_read else self._pattern
        return "" if pattern is None else pattern.id

    @property
    def pattern(self) -> Pattern | None:
        """The one in use; None while nothing was found."""
        return self._pattern

    def tick(self) -> None:
        """Reads at most TICK seconds. Never raises for what a log or a disk does."""
        if runs.exit_code(self._folder, self._attempt):
            self.finish()
        elif not self._is_off():
            self._take(self._read(TICK))

    def finish(self) -> None:
        """What is left, also a line without an end. May be called again."""
        if self._is_off():
            self._count_end()
            return
        points = self._read(FINISH)
        points += self._points(self._lines.last())
        if self._unplaced is not None:
            points.append((self._bar + 1, self._unplaced.values))
            self._unplaced = None
        self._take(points)
        self._take([])
        for point in self._held:  # the disk is full: the worker waits for room before it ends
            self._write(*point, self._journal.write_or_keep)
        self._held = []
        self._write_progress()

    def _count_end(self) -> None:
        """Read how far the training came from the end of its log, where its curves are its own."""
        if self._auto and not self._has_progress:
            for line in last_lines(self._log, END_BYTES):
                if self._may_count(line):
                    self._counts.read(log_patterns.plain(line))
            self._write_progress()

    def _write_progress(self) -> None:
        """Write how far the training came by what it printed: "step 8/20" in its last line."""
        if self._has_progress or (progress := self._counts.progress()) is None:
            return
        self._has_progress = True
        if stops_early(b"\n".join(last_lines(self._log, END_BYTES))):
            progress = msgspec.structs.replace(progress, phase="finish")
        self._journal.write_or_keep(progress)

    def _is_off(self) -> bool:
        self._off = self._off or (self._auto and self._training.writes_loss())
        return self._off

    def _read(self, seconds: float) -> list[Point]:
        end = time.monotonic() + seconds
        points = self._points(self._lines.read())
        while self._lines.more and time.monotonic() < end:
            points += self._points(self._lines.read())
        return points

    def _points(self, lines: list[bytes]) -> list[Point]:
        if self._auto and (self._pattern is None or self._pattern.last):
            self._choose(self._texts(lines))
        pattern = self._pattern
        return [] if pattern is None else [point for text in self._texts(lines) for point in self._point(text, pattern)]

    def _choose(self, texts: list[str]) -> None:
        """Choose a pattern by the first lines that any of them reads: trying all on all lines would cost too much."""
        for begin in range(0, len(texts), SAMPLE):
            if pattern := log_patterns.best(texts[begin : begin + SAMPLE]):
                self._pattern = pattern if log_patterns.is_better(pattern, self._pattern) else self._pattern
                return

    def _texts(self, lines: list[bytes]) -> list[str]:
        return [log_patterns.plain(line) for line in lines if self._may_count(line)]

    def _may_count(self, line: bytes) -> bool:
        """Most lines of most logs say nothing about a loss."""
        pattern = self._pattern
        is_any = pattern is not None and (pattern.id == OWN or pattern.bar)
        return is_any or b"oss" in line or b"OSS" in line or bool(WORDS.search(line))

    def _point(self, text: str, pattern: Pattern) -> list[Point]:
        row = log_patterns.read(text, pattern)
        if row:
            self._counts.read(text)
        if pattern.bar:
            return self._figures_after_bar(row, text)
        return [(self._steps.of(row.places), _with_epoch(row))] if row else []

    def _figures_after_bar(self, row: Row | None, text: str) -> list[Point]:
        """tqdm prints a line above its bar and draws the bar anew: the bar that follows tells the step."""
        waiting, bar = self._unplaced, _BAR.search(text)
        if row is not None:
            self._unplaced = row
            return [] if waiting is None else [(self._counted(), waiting.values)]
        if bar is None or waiting is None:
            return []
        self._unplaced, step = None, int(bar[1])
        if step <= self._bar:
            return [(self._counted(), waiting.values)]
        self._bar = step
        return [(step, waiting.values)]

    def _counted(self) -> int:
        self._bar += 1
        return self._bar

    def _take(self, fresh: list[Point]) -> None:
        """Writes what was held and holds what is new; of several rows of a step, the last values count."""
        self._has_read = self._has_read or bool(fresh)
        held, points = len(self._held), list(self._held)
        for step, values in fresh:
            if points and points[-1][0] == step:
                points[-1] = (step, points[-1][1] | values)
            else:
                points.append((step, values))
        try:
            written = 0
            for point in points[:held]:
                self._write(*point)
                written += 1
        except OSError:  # a full disk: the next tick tries again
            held = written
        self._held = points[held:]

    def _write(self, step: int, values: dict[str, float], write: Callable[[Event], None] | None = None) -> None:
        write = write or self._journal.write
        is_repeated = step == self._last or (self._written_to is not None and step <= self._written_to)
        if is_repeated or abs(step) >= 2**63:
            return
        if not self._noted and self._pattern is not None:
            write(Note(key=NOTE, args={"pattern": self._pattern.id, "title": self._pattern.title}))
            self._noted = True
        numbers = {name: _json(value) for name, value in values.items()}
        write(Metric(step=step, values=numbers))
        if not self._has_reported and (finding := first_finding(step, numbers)):
            self._has_reported = True
            write(finding)
        self._last = step


def _with_epoch(row: Row) -> dict[str, float]:
    """Return the values of a line; where it has an epoch and no step, lines are counted and the epoch is a value."""
    if "epoch" in row.places and "step" not in row.places:
        return {"epoch": float(row.places["epoch"]), **row.values}
    return row.values


def _json(value: float) -> Number:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _attempt(folder: Path) -> int:
    mark = processes.read_mark(folder / "training.json")
    return mark.attempt if mark else 1


def _event_files(folder: Path) -> list[str]:
    try:
        return [name for name in os.listdir(current_folder(folder)) if attempt_and_rank(name)]
    except OSError:
        return []


def _earlier(folder: Path) -> dict[str, int]:
    """Event files of a worker that was killed, and the last step that each of them has from the log."""
    sizes: dict[str, int] = {}
    for name in _event_files(folder):
        events, _ = decode(b"\n".join(last_lines(folder / name, 1 << 24)))
        if any(isinstance(event, Note) and event.key == NOTE for event in events):
            sizes[name] = max((event.step for event in events if isinstance(event, Metric)), default=-1)
    return sizes
