"""A check and the training that came after it with the same choices: what was predicted beside what came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.common.summary import summary_of
from backends.launch.check.answer import answer_in
from backends.launch.check.figures import Estimate
from backends.launch.check.trial import CHECKPOINTS, octets_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.common.summary import Summary
    from backends.launch.check.answer import Answer
    from studio.run import Run

COMMAND = "check-first"
OWN_CARD = "check"


@dataclass(frozen=True, kw_only=True)
class Pair:
    """`what`: step, first, total (seconds), peak, card_peak or disk (octets)."""

    what: str
    predicted: Estimate
    measured: float

    @property
    def off(self) -> float:
        """The prediction's error in percent of what came."""
        return 100 * (self.predicted.value - self.measured) / self.measured


def last_check(newest_first: Iterable[Run], values: object) -> tuple[Run, Answer] | None:
    """The last one of exactly these choices, as run.json keeps them, that has an answer."""
    for run in newest_first:
        if run.asked.command == COMMAND and _choices(run) == values and (found := answer_in(run)):
            return run, found
    return None


def check_before(newest_first: Iterable[Run], run: Run) -> tuple[Run, Answer] | None:
    """The last one that was asked for before a run, of the run's own choices."""
    earlier = (one for one in newest_first if one.asked.time < run.asked.time)
    return last_check(earlier, run.asked.values)


def _choices(run: Run) -> dict[str, object]:
    return {card: values for card, values in run.asked.values.items() if card != OWN_CARD}


def pairs(found: Answer, run: Run) -> tuple[Pair, ...]:
    """What a finished run measured of what was predicted; empty where it did not come to its end, as in a stop."""
    summary = summary_of(run.folder)
    if summary is None or summary.steps < found.steps:
        return ()
    rows = _of_summary(found, summary)
    on_disk = octets_of(run.folder / CHECKPOINTS)
    rows.append(Pair(what="disk", predicted=Estimate(value=found.disk.all), measured=on_disk))
    return tuple(row for row in rows if row.measured > 0)


def _of_summary(found: Answer, summary: Summary) -> list[Pair]:
    rows = [
        Pair(what="step", predicted=found.step, measured=summary.step_seconds),
        Pair(what="first", predicted=found.first, measured=summary.first_seconds),
        Pair(what="total", predicted=found.total, measured=summary.run_seconds),
        Pair(what="peak", predicted=found.peak, measured=summary.peak_bytes),
    ]
    if found.card_peak is not None:
        rows.append(Pair(what="card_peak", predicted=found.card_peak, measured=summary.card_peak_bytes))
    return rows
