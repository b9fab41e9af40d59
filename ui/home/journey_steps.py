"""The steps of a project with their states: choosing it, then one for each feature that has a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backends import features
from studio.feature import ProjectRuns, Step

if TYPE_CHECKING:
    from ui.services.session import Session

State = Literal["done", "next", "later", "open"]
PROJECT = "project"


@dataclass(frozen=True, kw_only=True)
class HomeStep:
    """`id` is the feature whose page the step's button opens, or 'project'; `key` the text of its title."""

    id: str
    key: str
    state: State


def steps(session: Session) -> tuple[HomeStep, ...]:
    """Return the step of the project, then those of the features in their order.

    The first required step that is not done is next; when all are done, the last one that can be repeated is next
    again. A project is optional for whoever trains without one.
    """
    project_runs = ProjectRuns(project=session.project, runs=tuple(session.listed), watched=session.run)
    has_project = session.project is not None
    all_steps = {PROJECT: Step(key="journey.project", is_done=has_project, is_optional=bool(session.listed))}
    all_steps |= {feature.id: step for feature in features() if (step := feature.step_of(project_runs))}
    repeatable = [id for id, step in all_steps.items() if step.again_key]
    required = [id for id, step in all_steps.items() if not step.is_done and not step.is_optional]
    next_id = (required or repeatable[-1:] or [PROJECT])[0]
    return tuple(_home_step(id, step, is_next=id == next_id) for id, step in all_steps.items())


def _home_step(id: str, step: Step, *, is_next: bool) -> HomeStep:
    is_again = is_next and step.is_done and bool(step.again_key)
    waiting: State = "open" if step.is_optional else "later"
    state: State = "next" if is_next else "done" if step.is_done else waiting
    return HomeStep(id=id, key=step.again_key if is_again else step.key, state=state)
