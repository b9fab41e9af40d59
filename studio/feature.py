"""A feature is a tab: a folder under `backends/` whose `__init__` holds a `FEATURE`.

The manifest carries all that others show of a feature, as data and as names of functions ('module:function') that are
imported when they are first called. Its folder holds two more things that are found by their names: texts of its own
(`en.toml`, `zh.toml`, see `studio.texts`) and pages of the help (`help/<language>/<number>-<name>.md`).
"""

from __future__ import annotations

import importlib
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from studio import schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studio.events import Ended
    from studio.project import Project
    from studio.run import Glance, Run, RunRequest


class Work(Protocol):
    """What an action does, in the worker; returns how it ended."""

    def __call__(self, spec: Any, run: Run, /) -> Ended: ...


class DirectWork(Protocol):
    """Work without a run: `print_message` gets sentences for people; returns the exit code and what `--json` prints."""

    def __call__(self, spec: Any, print_message: Callable[[str], None], /) -> tuple[int, dict[str, Any]]: ...


def load(name: str) -> Any:
    """The object that 'module:name' names. Raises ImportError or AttributeError where there is none."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


@dataclass(frozen=True, kw_only=True)
class Action:
    """A command: its name on the command line, its spec, and its work as 'module:function'.

    `line_of`: the command that this action is where a program follows it behind `--`; it has none of its own then.
    `answer`: 'module:function' from a run that has ended to what `--json` adds to its object.
    `is_direct`: the command line does the work itself, without a run: what it finds is not worth keeping.
    `can_detach`: its command may leave before its run has ended; not where what it prints is all that comes of it.
    `is_training`: its run is named by what it trains, not by the command.
    `is_program`: its run is a program of the user's, whose exit code is that of the command.
    `doing`: the key of what the feature's page says while a run of it works; "" where the page shows no progress.
    `card`: 'module:class' of the `AnswerCard` that shows its answer on the page that shows any run.
    `training`: 'module:function' from a run and its glance to the values of run.json that the training which follows it
    begins with; "" where those are the run's own or none.
    """

    name: str
    spec: type[Any]
    work: str
    line_of: str = ""
    answer: str = ""
    is_direct: bool = False
    can_detach: bool = True
    is_training: bool = False
    is_program: bool = False
    doing: str = ""
    card: str = ""
    training: str = ""

    @property
    def command(self) -> str:
        """The word on the command line."""
        return self.line_of or self.name

    def load(self) -> Work:
        """The work itself, imported only now, in the worker."""
        work: Work = load(self.work)
        return work

    def load_direct(self) -> DirectWork:
        """The work of an action that needs no run."""
        work: DirectWork = load(self.work)
        return work

    def answer_of(self, run: Run) -> dict[str, Any]:
        """What the command line's JSON says of this action's runs beside what it says of every run."""
        return dict(load(self.answer)(run)) if self.answer else {}

    def next_training(self, run: Run, glance: Glance) -> dict[str, Any] | None:
        """The values of the training that follows a run of this action; None where it names none."""
        return dict(load(self.training)(run, glance)) if self.training else None


StepState = Literal["", "working", "stopped", "problem"]


@dataclass(frozen=True, kw_only=True)
class ProjectRuns:
    """What a step on Home is judged by. `runs`: those that are listed, newest first; `watched`: the run that is
    looked at; `uses_gpu`: whether the code of the project is written for CUDA."""

    project: Project | None
    runs: tuple[tuple[Run, Glance], ...]
    watched: Run | None = None
    uses_gpu: bool = False


@dataclass(frozen=True, kw_only=True)
class Step:
    """A feature's step on Home. `key`: the text of its title, of its sentence with `_text` behind it.

    `is_optional`: it may stay undone, so it is never proposed as the next step. `again_key`: the title where the step
    is done and proposed once more, as all steps are done; "" where it is not repeated. `state`: what its newest run
    tells beside that: it works, was stopped, or left a problem open; "" for neither. `text_key`: the sentence, where it
    is another one. `is_live`: what works is to be looked at by this step, so its button is there although it works."""

    key: str
    is_done: bool
    is_optional: bool = False
    again_key: str = ""
    state: StepState = ""
    text_key: str = ""
    is_live: bool = False


@dataclass(frozen=True, kw_only=True)
class PathOpener:
    """A kind of file or folder that a page opens when it is dropped on the window or named on the command line.

    The three questions are 'module:function' from a path to a bool; they read names and the heads of files only.
    `is_certain` is asked first, also of what lies in a run's folder; `is_probable` of what lies in none; `is_inside`
    of a folder that is neither a run nor a project. `open`: 'module:function' from the page and the path.
    """

    kind: str
    open: str
    is_certain: str = ""
    is_probable: str = ""
    is_inside: str = ""

    def is_met_by(self, path: Path, question: Literal["is_certain", "is_probable", "is_inside"]) -> bool:
        name = {"is_certain": self.is_certain, "is_probable": self.is_probable, "is_inside": self.is_inside}[question]
        return bool(name) and bool(load(name)(path))


@dataclass(frozen=True, kw_only=True)
class FirstStep:
    """A button on the welcome card of Home. `key`: its text; `do`: 'module:function' from the page and the session."""

    key: str
    do: str


@dataclass(frozen=True, kw_only=True)
class Feature:
    """Manifest of a tab. `id` is its folder and the prefix of its texts; `order` its position among the tabs.

    `page`: 'module:function' from the session to the page; "" is `ui.<id>.page:make_page`, if there is one.
    `shows_runs`: whose runs the page shows: none, its own, or any that no other page shows.
    `step`: 'module:function' from `ProjectRuns` to its `Step` on Home; "" where it has none.
    `first_steps`: what it offers on Home to whoever has neither a project nor a run.
    """

    id: str
    order: int
    actions: tuple[Action, ...] = ()
    page: str = ""
    shows_runs: Literal["none", "own", "any"] = "none"
    step: str = ""
    opens: tuple[PathOpener, ...] = ()
    first_steps: tuple[FirstStep, ...] = ()

    @property
    def page_function(self) -> str:
        return self.page or f"ui.{self.id}.page:make_page"

    @property
    def commands(self) -> frozenset[str]:
        """The names of its actions, as runs keep them."""
        return frozenset(action.name for action in self.actions)

    def title_key(self, command: str) -> str:
        """The text that names a run of one of its commands."""
        return f"{self.id}.did.{command}"

    def doing(self, command: str) -> str:
        """The text of what its page says while a run of a command works; "" for a command that it does not show."""
        return next((action.doing for action in self.actions if action.name == command), "")

    def step_of(self, project_runs: ProjectRuns) -> Step | None:
        step: Step | None = load(self.step)(project_runs) if self.step else None
        return step


def action_of(features: tuple[Feature, ...], name: str) -> Action | None:
    return next((action for feature in features for action in feature.actions if action.name == name), None)


def command_line_of(features: tuple[Feature, ...], request: RunRequest) -> str:
    """Return the command that asks for the same as a run, as a shell reads it; "" where this studio has no such
    command, or its values are damaged."""
    action = action_of(features, request.command)
    if action is None:
        return ""
    spec, wrong = schema.from_json(action.spec, request.values)
    words = ("ascend-studio", action.line_of or action.name, *schema.arguments(spec))
    return "" if wrong else shlex.join(words)
