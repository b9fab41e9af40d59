"""The summary of a finished training, from the end of its events: what it learned and where its time went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from studio.events import Note
from studio.run import last_events

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TRUTH = {"weight": 2.0, "bias": 3.0}
"""What the recipe `linear` draws its samples from: y = 2x + 3."""

NOTE = "launch.summary"
_END = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Evaluations:
    """Seconds of the first, the last and of all; `every`: steps from one to the next."""

    count: int = 0
    first: float = 0.0
    last: float = 0.0
    all: float = 0.0
    every: int = 0


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Times in seconds. `compile_seconds` is 0 in PyNative mode; `step_seconds` is the median without the first;
    `first_seconds`: the first step; `run_seconds`: from the start of the process on; `peak_bytes`: resident,
    `card_peak_bytes`: on the card, 0 without one."""

    recipe: str = ""
    mode: str = ""
    device: str = ""
    steps: int = 0
    compile_seconds: float = 0.0
    train_seconds: float = 0.0
    step_seconds: float = 0.0
    samples_per_second: float = 0.0
    first_seconds: float = 0.0
    run_seconds: float = 0.0
    peak_bytes: int = 0
    card_peak_bytes: int = 0
    evaluations: Evaluations = field(default_factory=Evaluations)
    metrics: dict[str, float] = field(default_factory=dict)

    def learned(self) -> list[tuple[str, float, float]]:
        """(name, learned, true) of the values whose truth is known: an own recipe may watch a weight, too."""
        if self.recipe not in ("", "linear"):
            return []
        return [(name, self.metrics[name], true) for name, true in TRUTH.items() if name in self.metrics]


def from_note(args: dict[str, Any]) -> Summary:
    """Return a summary. Whatever is missing or of another type stays at its default: the file may be newer or
    damaged."""
    recorded, steps = args.get("metrics"), args.get("steps")
    metrics = {str(name): as_number(value) for name, value in recorded.items()} if isinstance(recorded, dict) else {}
    return Summary(
        recipe=_text(args, "recipe"), mode=_text(args, "mode"), device=_text(args, "device"),
        steps=steps if isinstance(steps, int) else 0, compile_seconds=as_number(args.get("compile_seconds")) or 0.0,
        train_seconds=as_number(args.get("train_seconds")) or 0.0,
        step_seconds=as_number(args.get("step_seconds")) or 0.0,
        samples_per_second=as_number(args.get("samples_per_second")) or 0.0,
        first_seconds=as_number(args.get("first_seconds")) or 0.0,
        run_seconds=as_number(args.get("run_seconds")) or 0.0,
        peak_bytes=_whole(args.get("peak_bytes")), card_peak_bytes=_whole(args.get("card_peak_bytes")),
        evaluations=_evaluations(args.get("evaluations")),
        metrics={name: value for name, value in metrics.items() if value is not None},
    )  # fmt: skip


def _evaluations(value: object) -> Evaluations:
    args = value if isinstance(value, dict) else {}
    seconds = {name: as_number(args.get(name)) or 0.0 for name in ("first", "last", "all")}
    return Evaluations(count=_whole(args.get("count")), every=_whole(args.get("every")), **seconds)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _text(args: dict[str, Any], name: str) -> str:
    value = args.get(name)
    return value if isinstance(value, str) else ""


def as_number(value: object) -> float | None:
    """Return a number of a note, also from the strings that JSON needs for NaN and the infinities."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str) and value not in ("NaN", "Infinity", "-Infinity"):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def of_notes(notes: Iterable[Note]) -> Summary | None:
    latest = None
    for note in notes:
        if note.key == NOTE:
            latest = from_note(note.args)
    return latest


def summary_of(folder: Path) -> Summary | None:
    """Return the summary of a run, or None. It reads at most 64 kB of each of the event files of rank 0."""
    return of_notes(event for event in last_events(folder, _END) if isinstance(event, Note))
