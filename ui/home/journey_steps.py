"""The steps of a project with their states: choosing it, then one for each feature that has a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backends import features
from studio.feature import ProjectRuns, Step, action_of
from studio.run import ANSWERED, NONFINITE, is_at_work, outcome_of
from studio.texts import t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio.feature import StepState
    from studio.run import Glance, Run
    from ui.services.session import Session

State = Literal["done", "next", "later", "open"]
PROJECT = "project"
ATTENTION = 3  # runs


@dataclass(frozen=True, kw_only=True)
class HomeStep:
    """`id` is the feature whose page the step's button opens, or 'project'; `key` the text of its title, `text_key`
    that of its sentence. `mark`: what its newest run tells beside the state. `has_button`: whether its button is
    there."""

    id: str
    key: str
    state: State
    text_key: str
    mark: StepState = ""
    has_button: bool = True


def steps(session: Session, *, uses_gpu: bool = False) -> tuple[HomeStep, ...]:
    """Return the step of the project, then those of the features in their order. `uses_gpu`: whether the project is
    written for CUDA.

    The first required step that is not done, and that no run works on, is next; when there is none, the last one that
    can be repeated is next again. A project is optional for whoever trains without one.
    """
    project_runs = ProjectRuns(
        project=session.project, runs=tuple(session.listed), watched=session.run, uses_gpu=uses_gpu
    )
    has_project = session.project is not None
    all_steps = {PROJECT: Step(key="journey.project", is_done=has_project, is_optional=bool(session.listed))}
    all_steps |= {feature.id: step for feature in features() if (step := feature.step_of(project_runs))}
    repeatable = [id for id, step in all_steps.items() if step.again_key]
    required = [id for id, step in all_steps.items() if _is_required(step)]
    next_id = (required or repeatable[-1:] or [PROJECT])[0]
    return tuple(_home_step(id, step, is_next=id == next_id) for id, step in all_steps.items())


def _is_required(step: Step) -> bool:
    """Tell whether a step is to be done: one that works is not, but what it shows meanwhile is to be looked at."""
    return not (step.is_done or step.is_optional or (step.state == "working" and not step.is_live))


def _home_step(id: str, step: Step, *, is_next: bool) -> HomeStep:
    is_again = is_next and (step.is_done or step.state == "working") and bool(step.again_key)
    waiting: State = "open" if step.is_optional else "later"
    state: State = "next" if is_next else "done" if step.is_done else waiting
    key = step.again_key if is_again else step.key
    text_key = f"{key}_text" if is_again else step.text_key or f"{key}_text"
    return HomeStep(
        id=id,
        key=key,
        state=state,
        text_key=text_key,
        mark=step.state,
        has_button=step.is_live or state in ("next", "open"),
    )


def sentence_of(steps: Sequence[HomeStep], listed: Sequence[tuple[Run, Glance]]) -> tuple[str, dict[str, object]]:
    """Return the key of the sentence at the top, and its arguments: what runs, what is next, or that all is set up,
    which is not said over a problem that is open."""
    waiting = sum(glance.state == "queued" for _, glance in listed)
    running = sum(is_at_work(glance) for _, glance in listed) - waiting
    if running or waiting:
        return "home.sentence_live" if running else "home.sentence_waiting", {"count": running or waiting}
    next_step = next(step for step in steps if step.state == "next")
    if not next_step.key.endswith("_again"):
        return "home.sentence_next", {"step": t(next_step.key)}
    has_problem = any(step.mark == "problem" for step in steps) or bool(needing_attention(listed))
    return "home.sentence_problem" if has_problem else "home.sentence_done", {}


def needing_attention(listed: Sequence[tuple[Run, Glance]]) -> list[tuple[Run, Glance]]:
    """Failed and lost runs, and trainings whose losses were no numbers or whose last steps are missing, newest first,
    up to the last run of the same command that went well."""
    well: set[str] = set()
    needy = []
    for run, glance in listed:
        outcome = outcome_of(glance)
        is_needy = outcome in ("failed", "lost", NONFINITE) or (outcome == "incomplete" and _is_training(run))
        if is_needy and run.request.command not in well:
            needy.append((run, glance))
        elif outcome in ANSWERED and not is_needy:
            well.add(run.request.command)
    return needy[:ATTENTION]


def _is_training(run: Run) -> bool:
    action = action_of(features(), run.request.command)
    return action is not None and action.is_training
