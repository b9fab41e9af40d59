"""`ascend-studio timeline PATH`: reads a profile into the cache and reports its contents. The window starts
this too."""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.errors import StudioError
from studio.output.terminal import printable
from studio.texts import t

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from backends.timeline.profile_reader import Opened
    from backends.timeline.spec import TimelineSpec
    from backends.timeline.tables.summary import Summary

    Print = Callable[[str], None]

PROGRESS = "ASCEND_STUDIO_PROGRESS"  # "json": a line of JSON on stderr for each step, for a window
SAMPLE = 0.05  # seconds


def timeline(spec: TimelineSpec, print_line: Print) -> tuple[int, dict[str, Any]]:
    # numpy starts a thread per core for linear algebra otherwise, which nothing here needs: 0.2 s of CPU.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from backends.timeline.profile_reader import read_profile

    private = _Private()
    for_window = os.environ.get(PROGRESS) == "json"
    progress = _ProgressLines(print_line=print_line, for_window=for_window)
    try:
        with _ends_cleanly(), private.sampled():
            opened = read_profile(
                spec.profile.profile_path.absolute(), progress.report, progress.show if for_window else None
            )
    except StudioError as error:
        print_line(str(error))
        return 1, {}
    answer = _answer(opened, private.peak)
    for line in answer["notes"]:
        print_line(line)
    if for_window:
        return 0, answer
    return _report(opened, answer, print_line)


def _report(opened: Opened, answer: dict[str, Any], print_line: Print) -> tuple[int, dict[str, Any]]:
    """Print where the time went, and add it to the answer. Ends with 3 where a part of the profile is in no figure."""
    from backends.timeline.tables.summary import step_summary
    from backends.timeline.tables.summary_sentence import coverage_texts, texts

    summary = step_summary(opened.trace)
    is_whole = opened.is_whole and summary.is_whole
    # Before the figures: who reads the first of them must know that they are of a part.
    sentences = [
        *(() if is_whole else (t("timeline.said.incomplete"),)),
        *texts(summary),
        *coverage_texts(opened.coverage),
    ]
    for line in (_summary_line(answer), *sentences):
        print_line(printable(line))
    state = "whole" if is_whole else "incomplete"
    return 0 if is_whole else 3, answer | {"state": state, "sentences": sentences, "step": _step(summary)}


def _step(summary: Summary) -> dict[str, Any] | None:
    """Return the figures of the sentence: means over the steps of `basis`, in ns. None where no device was traced."""
    if not summary.basis:
        return None
    return {
        "time_ns": summary.whole,
        **{f"{name}_share": round(summary.share(name), 6) for name in ("computing", "exposed", "free")},
        "causes_ns": {cause.key.rpartition(".")[2]: cause.ns for cause in summary.causes},
        "basis": [{"rank": step.rank, "device": step.label, "step": step.number} for step in summary.basis],
    }


def _answer(opened: Opened, private: int) -> dict[str, Any]:
    meta, times = opened.trace.meta, os.times()
    return {
        "slices": meta.slices,
        "flows": meta.flows,
        "counters": meta.counters,
        "lanes": len(meta.lanes),
        "set_aside": sum(meta.set_aside.values()),
        "first_ns": meta.origin_ns,
        "last_ns": meta.last_ns,
        "cpu_seconds": round(sum(times[:4]), 3),
        "private_mb": round(private / 1e6, 1),
        "cache": str(opened.cache),
        "arrows": meta.arrows,
        "instants": meta.instants,
        "flow_ends": meta.flow_ends,
        "dangling": meta.dangling,
        "metadata": meta.metadata,
        "steps": list(opened.coverage.steps),
        "steps_known": opened.coverage.is_announced,
        "events": meta.events,
        "sources": [
            {"path": source.path, "kind": source.kind, "rank": source.rank, "truncated": source.truncated}
            for source in meta.sources
        ],
        "reasons": meta.set_aside,
        "fresh": opened.fresh,
        "notes": [printable(t(note.key, **note.args)) for note in opened.notes],
    }


def _summary_line(answer: dict[str, Any]) -> str:
    key = "timeline.said.read" if answer["fresh"] else "timeline.said.cached"
    seconds = (answer["last_ns"] - answer["first_ns"]) / 1e9
    return t(key, slices=answer["slices"], lanes=answer["lanes"], seconds=f"{seconds:.3f}", cpu=answer["cpu_seconds"])


@dataclass
class _ProgressLines:
    """Progress: at most 20 lines a second for a window, one for a person."""

    print_line: Print
    for_window: bool
    last: float = 0.0

    def report(self, done: int, total: int) -> None:
        now = time.monotonic()
        self.last = self.last or now - (1.0 if self.for_window else 0.0)
        if now - self.last < (0.05 if self.for_window else 1.0):
            return
        self.last = now
        if self.for_window:
            self.print_line(json.dumps({"done": done, "total": total}))
        else:
            self.print_line(t("timeline.said.progress", share=100 * done // max(1, total)))

    def show(self, folder: Path) -> None:
        self.print_line(json.dumps({"partial": str(folder)}))


@dataclass
class _Private:
    """The peak of this process's private memory in bytes: RssAnon of /proc, sampled by a timer. The kernel records no
    peak of it, and its peak of all memory includes mapped files, which it can reclaim at any time."""

    peak: int = 0

    @contextmanager
    def sampled(self) -> Iterator[None]:
        before = signal.signal(signal.SIGALRM, self._sample)
        signal.setitimer(signal.ITIMER_REAL, SAMPLE, SAMPLE)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            self._sample(0, None)

    def _sample(self, _number: int, _frame: FrameType | None) -> None:
        for line in Path("/proc/self/status").read_text("utf-8").splitlines():
            if line.startswith("RssAnon:"):
                self.peak = max(self.peak, int(line.split()[1]) * 1024)


@contextmanager
def _ends_cleanly() -> Iterator[None]:
    """Make SIGTERM and Ctrl+C leave through every `finally`, so that nothing half-written remains."""
    before = {number: signal.signal(number, _leave) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave(number: int, _frame: FrameType | None) -> None:
    """Exit, and ignore a second signal, which must not disturb the clean-up."""
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    raise SystemExit(128 + number)
