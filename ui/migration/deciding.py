"""What a person decides on the hunks of a plan, so that hunks that need each other stay together. Values only."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backends.migration.migrate.changes import Decisions
from backends.migration.migrate.decided import decided

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.migrate.changes import Changes, Hunk


@dataclass(frozen=True, kw_only=True)
class Deciding:
    """`hunks`: of the plan, by id. `chosen`: id -> whether it is accepted, of those that somebody decided on.
    `edited`: id -> other lines. `inside`: the ids of those that an Apply would write now."""

    plan: Changes | None = None
    hunks: dict[str, Hunk] = field(default_factory=dict)
    chosen: dict[str, bool] = field(default_factory=dict)
    edited: dict[str, str] = field(default_factory=dict)
    inside: frozenset[str] = frozenset()

    def is_accepted(self, hunk: Hunk) -> bool:
        return hunk.id in self.inside

    def is_yours(self, hunk: Hunk) -> bool:
        """Whether nothing is offered, and nobody wrote something."""
        return hunk.state == "yours" and hunk.id not in self.edited

    def text_of(self, hunk: Hunk) -> str:
        return self.edited.get(hunk.id, hunk.after)

    def decide(self, ids: Iterable[str], accept: bool) -> Deciding:
        """With whatever they need or whatever needs them, and their groups whole."""
        reached = self._reached(set(ids), accept)
        return weighed(replace(self, chosen=self.chosen | dict.fromkeys(reached, accept)))

    def edit(self, id: str, text: str | None) -> Deciding:
        """Other lines in place of those that were offered; None takes the offered ones again."""
        edited = {other: lines for other, lines in self.edited.items() if other != id}
        if text is not None and text != self.hunks[id].after:
            return replace(self, edited=edited | {id: text}).decide((id,), True)
        return weighed(replace(self, edited=edited))

    def _reached(self, ids: set[str], accept: bool) -> set[str]:
        reached: set[str] = set()
        waiting = ids & self.hunks.keys()
        while waiting:
            reached |= waiting
            waiting = {other for id in waiting for other in self._bound(id, accept)} - reached
        return reached

    def _bound(self, id: str, accept: bool) -> set[str]:
        hunk = self.hunks[id]
        group = {one.id for one in self.hunks.values() if hunk.group and one.group == hunk.group}
        if accept:
            return group | (set(hunk.needs) & self.hunks.keys())
        return group | {one.id for one in self.hunks.values() if id in one.needs}

    def decisions(self) -> Decisions:
        """As `migrate` reads them."""
        return Decisions(
            accept=tuple(id for id, yes in self.chosen.items() if yes),
            reject=tuple(id for id, yes in self.chosen.items() if not yes),
            edited=dict(self.edited),
        )

    def listed(self) -> Decisions:
        """What would be written now, by name, and the files as they are shown."""
        files = self.plan.files if self.plan else ()
        return Decisions(
            accept=tuple(sorted(self.inside)),
            edited={id: text for id, text in self.edited.items() if id in self.inside},
            digests={file.path: file.digest for file in files if any(hunk.state != "yours" for hunk in file.hunks)},
        )  # fmt: skip


def weighed(made: Deciding) -> Deciding:
    """With what follows from the decisions."""
    if made.plan is None:
        return made
    return replace(made, inside=frozenset(hunk.id for hunk in decided(made.plan, made.decisions())))


def deciding(plan: Changes, before: Deciding | None = None) -> Deciding:
    """Nothing decided yet, but for what was decided before on hunks that are the same, also where their lines moved."""
    hunks = {hunk.id: hunk for hunk in plan.hunks()}
    kept = before or Deciding()
    now = same_hunks(kept.hunks.values(), hunks.values())
    return weighed(
        Deciding(
            plan=plan, hunks=hunks, chosen={now[id]: yes for id, yes in kept.chosen.items() if id in now},
            edited={now[id]: text for id, text in kept.edited.items() if id in now},
        )
    )  # fmt: skip


def count_fresh(before: Deciding, plan: Changes) -> int:
    """How many edits of a plan were not in the one before it, of the same style; 0 where there was none."""
    if before.plan is None or before.plan.style != plan.style:
        return 0
    known = set(same_hunks(before.hunks.values(), plan.hunks()).values())
    return sum(hunk.state != "yours" and hunk.id not in known for hunk in plan.hunks())


def same_hunks(before: Iterable[Hunk], now: Iterable[Hunk]) -> dict[str, str]:
    """The id that each hunk has now, of those that are still there: the same edit of the same text, in order."""
    waiting: dict[tuple[object, ...], list[str]] = {}
    for hunk in now:
        waiting.setdefault(_content(hunk), []).append(hunk.id)
    found: dict[str, str] = {}
    for hunk in before:
        if same := waiting.get(_content(hunk)):
            found[hunk.id] = same.pop(0)
    return found


def _content(hunk: Hunk) -> tuple[object, ...]:
    return hunk.path, hunk.cell, hunk.before, hunk.after, hunk.rules
