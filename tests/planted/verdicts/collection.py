"""All cases, from the modules of this folder that have some."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

import tests.planted.verdicts

if TYPE_CHECKING:
    from tests.planted.verdicts.case import VerdictCase


def every_case() -> list[VerdictCase]:
    """Return the cases of each module, by the module's name; two of one name are an error of the test's."""
    names = sorted(module.name for module in pkgutil.iter_modules(tests.planted.verdicts.__path__))
    modules = [importlib.import_module(f"tests.planted.verdicts.{name}") for name in names]
    cases = [case for module in modules for case in getattr(module, "CASES", ())]
    if len({case.name for case in cases}) != len(cases):
        raise ValueError("two cases have one name")
    return cases
