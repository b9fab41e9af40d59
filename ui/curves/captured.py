"""What a capture came to, in words, and the page of one that a command line asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from backends.launch.capture import state
from backends.launch.capture.work import ANSWER
from studio import files
from studio.sentences import sentence_of
from studio.texts import t
from studio.units import duration, size
from ui.curves.answers import AnswerCard
from ui.widgets import Sentence

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.capture.state import Rank
    from studio.run import Run


def first_step(one: Rank) -> str:
    if not one.seconds:
        return ""
    times = {"seconds": duration(one.seconds), "usual": duration(one.usual) if one.usual else "–"}
    return t("capture.first_step", octets=size(one.octets), **times) if one.octets else t("capture.times", **times)


def ends(found: dict[int, Rank], count: int) -> list[str]:
    """What each rank came to; the same sentence once, and whose it is where not all of `count` say it."""
    by: dict[str, list[int]] = {}
    for rank, one in found.items():
        by.setdefault(_end(one), []).append(rank)
    return [_whose(ranks, count, said_so) for said_so, ranks in by.items() if said_so]


def _whose(some: list[int], count: int, said_so: str) -> str:
    return said_so if len(some) == count else t("capture.of_ranks", ranks=", ".join(map(str, some)), said=said_so)


def _end(one: Rank) -> str:
    if one.finding:
        return sentence_of(one.finding)
    if one.state == "withdrawn":
        return t("capture.withdrawn")
    if one.state != "done":
        return ""
    first, last = one.start, one.start + one.done - 1
    key = "capture.finished" if last > first else "capture.finished_one"
    times = t("capture.times", seconds=duration(one.seconds), usual=duration(one.usual)) if one.usual else ""
    ended = t("curves.joined", first=t(key, first=first, last=last, octets=size(one.octets)), then=times).strip()
    return "\n".join((ended, t("capture.shim"))) if one.shim else ended


class CaptureAnswer(AnswerCard):
    """The page of a capture that a command line asked for."""

    def __init__(self) -> None:
        super().__init__("capture.result")
        self.setObjectName("curves_captured")
        self.text = Sentence()
        self.body.addWidget(self.text)
        self.hide()

    def show_run(self, run: Run) -> None:
        found = captured(run.folder)
        self.setVisible(bool(found))
        self.text.setText("\n".join(ends(found, len(found))))
        self.verdict = t("capture.verdict")


def captured(folder: Path) -> dict[int, Rank]:
    listed = files.read_json(folder / ANSWER)
    try:
        return {one["rank"]: msgspec.convert(one, state.Rank) for one in listed or []}
    except (msgspec.ValidationError, TypeError, KeyError):
        return {}
