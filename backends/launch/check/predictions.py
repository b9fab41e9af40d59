"""A check and the training that came after it with the same choices: what was predicted beside what came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.common.summary import summary_of
from backends.launch.check.answer import answer_in
from backends.launch.check.figures import Estimate
from backends.launch.check.trial import CHECKPOINTS, folder_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.common.summary import Summary
    from backends.launch.check.answer import Answer
    from studio.run import Run

COMMAND = "check-first"
OWN_CARD = "check"


@dataclass(frozen=True, kw_only=True)
class Pair:
    """`what`: step, first, total (seconds), peak, card_peak or disk (bytes)."""

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
        if run.request.command == COMMAND and _choices(run) == values and (answer := answer_in(run)):
            return run, answer
    return None


def check_before(newest_first: Iterable[Run], run: Run) -> tuple[Run, Answer] | None:
    """The last one that was asked for before a run, of the run's own choices."""
    earlier = (earlier_run for earlier_run in newest_first if earlier_run.request.time < run.request.time)
    return last_check(earlier, run.request.values)


def _choices(run: Run) -> dict[str, object]:
    return {card: values for card, values in run.request.values.items() if card != OWN_CARD}


def prediction_pairs(answer: Answer, run: Run) -> tuple[Pair, ...]:
    """What a finished run measured of what was predicted; empty where it did not come to its end, as in a stop."""
    summary = summary_of(run.folder)
    if summary is None or summary.steps < answer.steps:
        return ()
    rows = _of_summary(answer, summary)
    on_disk = folder_bytes(run.folder / CHECKPOINTS)
    rows.append(Pair(what="disk", predicted=Estimate(value=answer.disk.all, error=answer.disk.error), measured=on_disk))
    return tuple(row for row in rows if row.measured > 0)


def _of_summary(answer: Answer, summary: Summary) -> list[Pair]:
    rows = [
        Pair(what="step", predicted=answer.step, measured=summary.step_seconds),
        Pair(what="first", predicted=answer.first, measured=summary.first_seconds),
        Pair(what="total", predicted=answer.total, measured=summary.run_seconds),
        Pair(what="peak", predicted=answer.peak, measured=summary.peak_bytes),
    ]
    if answer.card_peak is not None:
        rows.append(Pair(what="card_peak", predicted=answer.card_peak, measured=summary.card_peak_bytes))
    return rows
