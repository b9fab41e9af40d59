"""One folder per feature. A folder whose `__init__` holds a `FEATURE` is a tab and a set of commands."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studio.feature import Feature


@lru_cache(maxsize=1)
def features() -> tuple[Feature, ...]:
    """All features, in the order of their tabs."""
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    having = (module.FEATURE for module in modules if hasattr(module, "FEATURE"))
    return tuple(sorted(having, key=lambda feature: feature.order))
