"""The way of a project, as steps with a state: one for each feature that has the texts for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backends import features
from studio.run import outcome_of
from studio.texts import has
from ui.migration_way import MIGRATION, way
from ui.precision_way import PRECISION, is_compared

if TYPE_CHECKING:
    from studio.feature import Feature
    from ui.session import Session

State = Literal["done", "next", "later", "open"]
PROJECT = "project"


@dataclass(frozen=True, kw_only=True)
class Step:
    """`id` is the feature whose page the step's button opens, or 'project'; `key` the text of its title."""

    id: str
    key: str
    state: State


def steps(session: Session) -> tuple[Step, ...]:
    """A project, then the features in their order. The first that is not done is next; when all are done, the last
    that makes runs is next again. Whoever trains without a project is not told to choose one, but may; so it is with
    a migration that nobody has begun, and with a comparison."""
    migrated = way(session)
    ways = [(PROJECT, session.project is not None)]
    ways += [(one.id, _is_done(one, session)) for one in features() if has(f"journey.{one.id}")]
    left = ((PROJECT, session.listed), (MIGRATION, migrated == "open"), (PRECISION, True))
    optional = {id for id, may_stay in left if may_stay}
    chosen = next((id for id, done in ways if not done and id not in optional), _last_maker())
    texts = {MIGRATION: f"journey.migration_{migrated}"}
    return tuple(_step(id, done, id == chosen, id in optional, texts.get(id, "")) for id, done in ways)


def _step(id: str, done: bool, is_next: bool, is_optional: bool, key: str) -> Step:
    again = done and is_next and has(f"journey.{id}_again")
    waiting: State = "open" if is_optional else "later"
    state: State = "next" if is_next else "done" if done else waiting
    own = key if key and has(key) else f"journey.{id}"
    return Step(id=id, key=f"journey.{id}_again" if again else own, state=state)


def _is_done(feature: Feature, session: Session) -> bool:
    """A feature with work is done when a run of its first command ended well, of whatever it was given; one that only
    shows, when a run was looked at; a migration, when it is proven or nothing needs one; the precision, when something
    was compared, whatever the answer."""
    if feature.id == PRECISION:
        return is_compared(session)
    if feature.id == MIGRATION:
        return way(session) == "done"
    if not feature.actions:
        return session.run is not None
    commands = [one.name for one in feature.actions if one.command == feature.actions[0].command]
    return any(run.asked.command in commands and outcome_of(glance) == "done" for run, glance in session.listed)


def _last_maker() -> str:
    others = [one for one in features() if one.id not in (MIGRATION, PRECISION)]
    makers = [one.id for one in others if one.actions and has(f"journey.{one.id}")]
    return makers[-1] if makers else PROJECT
