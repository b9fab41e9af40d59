"""A feature is a tab: a folder under `backends/` whose `__init__` holds a `FEATURE`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from studio.events import Ended
    from studio.run import Run


class Work(Protocol):
    """What an action does, in the worker; returns how it ended."""

    def __call__(self, spec: Any, run: Run, /) -> Ended: ...


@dataclass(frozen=True, kw_only=True)
class Action:
    """A command: its name on the command line, its spec, and its work as 'module:function'."""

    name: str
    spec: type[Any]
    work: str

    def load(self) -> Work:
        """The work itself, imported only now, in the worker."""
        module, _, function = self.work.partition(":")
        work: Work = getattr(importlib.import_module(module), function)
        return work


@dataclass(frozen=True, kw_only=True)
class Feature:
    """Manifest of a tab. `id` is its folder and the prefix of its texts; `order` its place among the tabs."""

    id: str
    order: int
    actions: tuple[Action, ...] = ()


def action_of(features: tuple[Feature, ...], name: str) -> Action | None:
    return next((action for feature in features for action in feature.actions if action.name == name), None)
