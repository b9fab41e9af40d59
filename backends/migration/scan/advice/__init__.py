"""Advice: what is slow or risky on an NPU, and calls that never worked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.migration.scan.advice.comparisons import advise_comparisons
from backends.migration.scan.advice.cpu_fallback import advise_cpu_fallback
from backends.migration.scan.advice.dtypes import advise_dtypes
from backends.migration.scan.advice.dynamic_shapes import advise_dynamic_shapes
from backends.migration.scan.advice.fused_operators import advise_fused_operators
from backends.migration.scan.advice.host_stalls import advise_loaders, advise_syncs
from backends.migration.scan.advice.module_view import ModuleView
from backends.migration.scan.advice.msprobe_blind_spots import advise_msprobe_blind_spots
from backends.migration.scan.advice.silent_changes import (
    advise_native_trainers,
    advise_npu_support,
    advise_silent_changes,
)
from backends.migration.scan.advice.tutorial_calls import advise_tutorial_calls
from backends.migration.scan.advice.tutorial_commands import advise_command_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.python.module import Module

__all__ = ["advise", "advise_command_lines"]

THEMES = (
    advise_silent_changes,
    advise_comparisons,
    advise_native_trainers,
    advise_npu_support,
    advise_cpu_fallback,
    advise_tutorial_calls,
)
# Nobody cares how fast a test runs or what msprobe would record of it.
THEMES_OUTSIDE_TESTS = (
    advise_dtypes,
    advise_dynamic_shapes,
    advise_syncs,
    advise_loaders,
    advise_fused_operators,
    advise_msprobe_blind_spots,
)


def advise(module: Module) -> Iterator[Occurrence]:
    """Yield at most one occurrence per line and rule, and the first call of each torch API for the judge to look up."""
    view, advised = ModuleView(module), set[tuple[int, str, str]]()
    for theme in THEMES if view.is_test else THEMES + THEMES_OUTSIDE_TESTS:
        for occurrence in theme(view):
            key = (occurrence.line, occurrence.rule, "" if occurrence.rule else occurrence.name)
            if key not in advised:
                advised.add(key)
                yield occurrence
