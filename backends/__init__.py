"""One folder per feature. A folder whose `__init__` holds a `FEATURE` is a tab and a set of commands."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from studio import texts

if TYPE_CHECKING:
    from studio.feature import Feature


@lru_cache
def features(command: str = "") -> tuple[Feature, ...]:
    """Return all features, in the order of their tabs; for a command that is called like its feature that one alone,
    as making the specs of all takes longer than some commands."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    if command in names and (namesake := _feature(command)) and command in namesake.commands:
        return (namesake,)
    manifests = [feature for name in names if (feature := _feature(name))]
    return tuple(sorted(manifests, key=lambda feature: feature.order))


def feature_of(command: str) -> Feature | None:
    """The feature that a command belongs to; None for a command of a newer studio."""
    return next((feature for feature in features() if command in feature.commands), None)


def folder_of(feature: Feature) -> Path:
    """The folder that holds its manifest, its texts and its pages of the help."""
    return Path(importlib.import_module(f"{__name__}.{feature.id}").__path__[0])


def _feature(name: str) -> Feature | None:
    feature: Feature | None = getattr(importlib.import_module(f"{__name__}.{name}"), "FEATURE", None)
    if feature:
        texts.add_folder(folder_of(feature))
    return feature
