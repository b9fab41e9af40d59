"""What a report opens with. It is a pass only where the comparison passed, where what it began from did, where the
dumps are those that were compared, all that there are and still there, where their trainings did not fail, and where
nothing is known against the losses of the trainings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backends.precision.compare.comparison import CHOSEN
from backends.precision.compare.spec import CompareSpec
from backends.precision.report import compared_dumps
from studio import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison, Outcome
    from backends.precision.report.compared_dumps import State
    from backends.precision.report.losses import ReportedLosses
    from studio.run import Run

TEXTS: dict[Outcome, str] = {
    "pass": "precision.report.outcome_pass_text", "differs": "precision.report.outcome_differs_text",
    "incomplete": "precision.report.outcome_incomplete_text",
}  # fmt: skip

OF_DUMPS = {"changed": "precision.report.outcome_changed_text", "gone": "precision.report.outcome_gone_text"}


@dataclass(frozen=True, kw_only=True)
class ReportOutcome:
    """`key` and `args`: the sentence that says why."""

    outcome: Outcome
    key: str
    args: dict[str, Any] = field(default_factory=dict)


def outcome_of(
    comparison: Comparison,
    run: Run,
    losses: ReportedLosses | None,
    origin: tuple[Comparison, Run] | None,
    state_of: Callable[[Path], State],
) -> ReportOutcome:
    """`losses`: what is said of those of the two trainings, None where they were not compared; `origin`: the comparison
    of the whole step that this one began from; `state_of`: see `compared_dumps.state_of`."""
    if comparison.outcome != "pass":
        return ReportOutcome(outcome=comparison.outcome, key=TEXTS[comparison.outcome])
    if origin is not None and origin[0].outcome != "pass":
        args = {"run": origin[1].name}
        return ReportOutcome(outcome=origin[0].outcome, key="precision.report.outcome_origin_text", args=args)
    if losses is not None and losses.differ:
        return ReportOutcome(outcome="differs", key=losses.key, args=losses.args)
    if _is_of_other_dumps(comparison, run):
        return ReportOutcome(outcome="incomplete", key="precision.report.outcome_other_text")
    for folder in _folders(comparison):
        if key := OF_DUMPS.get(state_of(folder)):
            return ReportOutcome(outcome="incomplete", key=key, args={"place": str(folder)})
        if training := compared_dumps.failed_run(folder):
            key = "precision.report.outcome_failed_text"
            return ReportOutcome(outcome="incomplete", key=key, args={"run": training.name})
    if added := compared_dumps.added_dump(comparison, run):
        key = "precision.report.outcome_added_text"
        return ReportOutcome(outcome="incomplete", key=key, args={"place": str(added)})
    if any(note["key"] == CHOSEN for note in comparison.notes):
        return ReportOutcome(outcome="incomplete", key="precision.report.outcome_chosen_text")
    if losses is not None and not losses.passes:
        return ReportOutcome(outcome="incomplete", key=losses.key, args=losses.args)
    return ReportOutcome(
        outcome="pass", key=TEXTS["pass"] if losses is not None else "precision.report.outcome_pass_alone_text"
    )


def _folders(comparison: Comparison) -> Iterator[Path]:
    for pair in comparison.passes:
        yield from (folder for folder in (pair.target, pair.golden) if folder is not None)


def _is_of_other_dumps(comparison: Comparison, run: Run) -> bool:
    """Return whether a result lies in a run that was requested to compare other dumps than it has compared."""
    sides = schema.from_json(CompareSpec, run.request.values)[0].sides
    pairs = [
        (requested, folder)
        for each in comparison.passes
        for requested, folder in ((sides.target, each.target), (sides.golden, each.golden))
        if folder is not None
    ]
    return any(not (folder / "dump.json").resolve().is_relative_to(requested.resolve()) for requested, folder in pairs)
