"""What is slow or risky on an NPU, and calls that never worked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.migration.scan.advice import (
    compared,
    dtypes,
    fallback,
    loaders,
    native,
    shapes,
    silent,
    syncs,
    tutorial,
    unseen,
)
from backends.migration.scan.advice.commands import tutorial_lines
from backends.migration.scan.advice.seen import Seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.python.module import Module

__all__ = ["advice", "tutorial_lines"]

THEMES = (silent.places, compared.places, native.places, fallback.places, tutorial.places)
# How fast a test runs, and what msprobe would see of it, is nobody's concern.
NOT_OF_TESTS = (dtypes.places, shapes.places, syncs.places, loaders.places, unseen.places)


def advice(module: Module) -> Iterator[Place]:
    """At most one place per line and rule; of a torch API the first call, for the judge to look up."""
    seen, told = Seen(module), set[tuple[int, str, str]]()
    for theme in THEMES if seen.is_a_test else THEMES + NOT_OF_TESTS:
        for place in theme(seen):
            key = (place.line, place.rule, "" if place.rule else place.name)
            if key not in told:
                told.add(key)
                yield place
