"""The templates of edits: each place in the code that makes a draft, and which of them a plan used."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.migration import migrate
from backends.migration.migrate.draft import Draft

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

Template = tuple[str, int]
"""Module and line."""


def edit_modules() -> list[ModuleType]:
    names = [module.name for module in pkgutil.iter_modules(migrate.__path__) if module.name.endswith("_edits")]
    return [importlib.import_module(f"{migrate.__name__}.{name}") for name in names]


def all_templates() -> set[Template]:
    """Return each call of `Draft` in the modules of edits."""
    return {
        (module.__name__.rpartition(".")[2], node.lineno)
        for module in edit_modules()
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Draft"
    }


@contextmanager
def recorded_templates() -> Iterator[set[Template]]:
    """Yield the templates that are used while the context is open."""
    used: set[Template] = set()

    class Recorded(Draft):
        def __init__(self, **values: Any) -> None:
            caller = sys._getframe(1)
            if caller.f_globals["__name__"].startswith(migrate.__name__):  # dataclasses.replace copies one
                used.add((caller.f_globals["__name__"].rpartition(".")[2], caller.f_lineno))
            super().__init__(**values)

    modules = [module for module in edit_modules() if hasattr(module, "Draft")]
    try:
        for module in modules:
            module.Draft = Recorded  # type: ignore[attr-defined]
        yield used
    finally:
        for module in modules:
            module.Draft = Draft  # type: ignore[attr-defined]
