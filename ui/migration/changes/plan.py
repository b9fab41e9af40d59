"""The plan of a migration with what its diff needs, and a person's decisions on its hunks. Values only."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backends.migration.migrate.changes import Decisions
from backends.migration.migrate.decisions import accepted_hunks
from ui.migration.excerpt import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.changes import Changes, Hunk, Style


@dataclass(frozen=True, kw_only=True)
class Plan:
    """`lines`: the text of each file; `findings`: those that each hunk resolves, by its id."""

    changes: Changes
    lines: dict[str, tuple[str, ...]]
    findings: dict[str, tuple[ScanFinding, ...]]


def make_plan(folder: Path, findings: tuple[ScanFinding, ...], style: Style) -> Plan:
    """Plan the edits of these findings. The planner is imported only here, as that takes longer than a frame."""
    from backends.migration.migrate.plan import plan_changes

    changes = plan_changes(folder, findings, style)
    lines = {file.path: read_lines(folder, file.path) for file in changes.files}
    return Plan(changes=changes, lines=lines, findings=findings_by_hunk(changes, findings))


def findings_by_hunk(plan: Changes, findings: tuple[ScanFinding, ...]) -> dict[str, tuple[ScanFinding, ...]]:
    """Match findings with hunks by line and rule; only by rule in a notebook, whose cells have lines of their own."""
    by_file: dict[str, list[ScanFinding]] = {}
    for finding in findings:
        by_file.setdefault(finding.path, []).append(finding)
    return {hunk.id: tuple(_findings_of(hunk, by_file.get(hunk.path, []))) for hunk in plan.hunks()}


def _findings_of(hunk: Hunk, findings: list[ScanFinding]) -> list[ScanFinding]:
    matching = [finding for finding in findings if finding.rule in hunk.rules and finding.cell == hunk.cell]
    if hunk.cell is not None:
        return matching
    return [finding for finding in matching if finding.line <= hunk.last and finding.end >= hunk.first]


@dataclass(frozen=True, kw_only=True)
class PlanDecisions:
    """`hunks`: those of the plan, by id; `chosen`: whether a hunk is accepted, for those decided on; `edited`: other
    text, by id; `accepted`: ids of the hunks that an Apply would write now."""

    plan: Changes | None = None
    hunks: dict[str, Hunk] = field(default_factory=dict)
    chosen: dict[str, bool] = field(default_factory=dict)
    edited: dict[str, str] = field(default_factory=dict)
    accepted: frozenset[str] = frozenset()

    def is_accepted(self, hunk: Hunk) -> bool:
        return hunk.id in self.accepted

    def is_manual(self, hunk: Hunk) -> bool:
        """Tell whether a hunk has no edit, neither offered nor written by the user."""
        return hunk.state == "yours" and hunk.id not in self.edited

    def text_of(self, hunk: Hunk) -> str:
        """Return what the hunk's lines become."""
        return self.edited.get(hunk.id, hunk.after)

    def decide(self, ids: Iterable[str], accept: bool) -> PlanDecisions:
        """Decide on hunks together with whatever they need or whatever needs them, and with the rest of their
        groups."""
        reached = self._dependent_ids(set(ids), accept)
        return with_accepted(replace(self, chosen=self.chosen | dict.fromkeys(reached, accept)))

    def edit(self, id: str, text: str | None) -> PlanDecisions:
        """Replace the offered text of a hunk; None restores it."""
        edited = {other: lines for other, lines in self.edited.items() if other != id}
        if text is not None and text != self.hunks[id].after:
            return replace(self, edited=edited | {id: text}).decide((id,), True)
        return with_accepted(replace(self, edited=edited))

    def _dependent_ids(self, ids: set[str], accept: bool) -> set[str]:
        reached: set[str] = set()
        waiting = ids & self.hunks.keys()
        while waiting:
            reached |= waiting
            waiting = {other for id in waiting for other in self._directly_dependent(id, accept)} - reached
        return reached

    def _directly_dependent(self, id: str, accept: bool) -> set[str]:
        hunk = self.hunks[id]
        group = {other.id for other in self.hunks.values() if hunk.group and other.group == hunk.group}
        if accept:
            return group | (set(hunk.needs) & self.hunks.keys())
        return group | {other.id for other in self.hunks.values() if id in other.needs}

    def explicit_decisions(self) -> Decisions:
        """Return only what a person decided, as `migrate` reads it."""
        return Decisions(
            accept=tuple(id for id, yes in self.chosen.items() if yes),
            reject=tuple(id for id, yes in self.chosen.items() if not yes),
            edited=dict(self.edited),
        )

    def listed_decisions(self) -> Decisions:
        """Return every hunk that would be written now, with the digests of the files as they are shown."""
        files = self.plan.files if self.plan else ()
        return Decisions(
            accept=tuple(sorted(self.accepted)),
            edited={id: text for id, text in self.edited.items() if id in self.accepted},
            digests={file.path: file.digest for file in files if any(hunk.state != "yours" for hunk in file.hunks)},
        )


def with_accepted(decisions: PlanDecisions) -> PlanDecisions:
    """Recompute which hunks are accepted."""
    if decisions.plan is None:
        return decisions
    return replace(
        decisions,
        accepted=frozenset(hunk.id for hunk in accepted_hunks(decisions.plan, decisions.explicit_decisions())),
    )


def start_decisions(plan: Changes, before: PlanDecisions | None = None) -> PlanDecisions:
    """Start without decisions, or with the previous ones on hunks that are the same, even where their lines moved."""
    hunks = {hunk.id: hunk for hunk in plan.hunks()}
    previous = before or PlanDecisions()
    new_ids = match_hunks(previous.hunks.values(), hunks.values())
    return with_accepted(
        PlanDecisions(
            plan=plan,
            hunks=hunks,
            chosen={new_ids[id]: yes for id, yes in previous.chosen.items() if id in new_ids},
            edited={new_ids[id]: text for id, text in previous.edited.items() if id in new_ids},
        )
    )


def reject_suppressed(
    decisions: PlanDecisions, findings: dict[str, tuple[ScanFinding, ...]], suppressed_ids: set[int]
) -> PlanDecisions:
    """Reject the hunks nobody decided on whose findings are all suppressed: these edits stay offered."""
    ids = tuple(
        hunk_id
        for hunk_id, hunk_findings in findings.items()
        if hunk_id not in decisions.chosen
        and hunk_findings
        and all(id(finding) in suppressed_ids for finding in hunk_findings)
    )
    return decisions.decide(ids, False) if ids else decisions


def count_new_hunks(before: PlanDecisions, plan: Changes) -> int:
    """Count the edits that the previous plan of the same style did not have; 0 where there was none."""
    if before.plan is None or before.plan.style != plan.style:
        return 0
    matched = set(match_hunks(before.hunks.values(), plan.hunks()).values())
    return sum(hunk.state != "yours" and hunk.id not in matched for hunk in plan.hunks())


def match_hunks(before: Iterable[Hunk], now: Iterable[Hunk]) -> dict[str, str]:
    """Return the new id of each previous hunk that still exists: the same edit of the same text, in order."""
    waiting: dict[tuple[object, ...], list[str]] = {}
    for hunk in now:
        waiting.setdefault(_content(hunk), []).append(hunk.id)
    matches: dict[str, str] = {}
    for hunk in before:
        if same := waiting.get(_content(hunk)):
            matches[hunk.id] = same.pop(0)
    return matches


def _content(hunk: Hunk) -> tuple[object, ...]:
    return hunk.path, hunk.cell, hunk.before, hunk.after, hunk.rules
