"""One folder per feature. A folder whose `__init__` holds a `FEATURE` is a tab and a set of commands."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studio.feature import Feature


@lru_cache
def features(command: str = "") -> tuple[Feature, ...]:
    """All features, in the order of their tabs; for a command that has a feature of its own that one alone, as making
    the specs of all takes longer than some commands."""
    names = [found.name for found in pkgutil.iter_modules(__path__)]
    if command in names and (own := _feature(command)) and any(action.name == command for action in own.actions):
        return (own,)
    found = (_feature(name) for name in names)
    return tuple(sorted((one for one in found if one), key=lambda feature: feature.order))


def _feature(name: str) -> Feature | None:
    return getattr(importlib.import_module(f"{__name__}.{name}"), "FEATURE", None)
