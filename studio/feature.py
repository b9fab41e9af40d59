"""A feature is a tab: a folder under `backends/` whose `__init__` holds a `FEATURE`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from studio.events import Ended
    from studio.run import Run


class Work(Protocol):
    """What an action does, in the worker; returns how it ended."""

    def __call__(self, spec: Any, run: Run, /) -> Ended: ...


class WorkHere(Protocol):
    """The same without a run: `say` takes sentences for people; returns the exit code and what `--json` prints."""

    def __call__(self, spec: Any, say: Callable[[str], None], /) -> tuple[int, dict[str, Any]]: ...


@dataclass(frozen=True, kw_only=True)
class Action:
    """A command: its name on the command line, its spec, and its work as 'module:function'.

    `line_of`: the command that this action is where a program follows it behind `--`; it has none of its own then.
    `answer`: 'module:function' from a run that has ended to what `--json` adds to its object.
    `here`: the command line does the work itself, without a run: what it finds is not worth keeping.
    """

    name: str
    spec: type[Any]
    work: str
    line_of: str = ""
    answer: str = ""
    here: bool = False

    @property
    def command(self) -> str:
        """The word on the command line."""
        return self.line_of or self.name

    def load(self) -> Work:
        """The work itself, imported only now, in the worker."""
        work: Work = _named(self.work)
        return work

    def load_here(self) -> WorkHere:
        """The work of an action that needs no run."""
        work: WorkHere = _named(self.work)
        return work

    def answer_of(self, run: Run) -> dict[str, Any]:
        """What the command line's JSON says of this action's runs beside what it says of every run."""
        return dict(_named(self.answer)(run)) if self.answer else {}


def _named(place: str) -> Any:
    module, _, function = place.partition(":")
    return getattr(importlib.import_module(module), function)


@dataclass(frozen=True, kw_only=True)
class Feature:
    """Manifest of a tab. `id` is its folder and the prefix of its texts; `order` its place among the tabs."""

    id: str
    order: int
    actions: tuple[Action, ...] = ()


def action_of(features: tuple[Feature, ...], name: str) -> Action | None:
    return next((action for feature in features for action in feature.actions if action.name == name), None)
