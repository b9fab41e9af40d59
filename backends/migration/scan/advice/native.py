"""Trainers that look for an NPU themselves: transfer_to_npu beside them is in their way (accelerate#3020)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.advice.seen import folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.advice.seen import Seen

RULE = "advice.native_trainer"
LIBRARIES = {"accelerate", "transformers", "trl"}
TRAINERS = ("Accelerator", "Trainer")


def places(seen: Seen) -> Iterator[Place]:
    """The first of a module, made there or taken as a base."""
    yield from folded(_trainers(seen), 1)


def _trainers(seen: Seen) -> Iterator[Place]:
    bases = (base for node in seen.each(ast.ClassDef) for base in node.bases)
    for node in (*(call.func for call, _ in seen.module.calls), *bases):
        name = seen.name_of(node) or ""
        if name.partition(".")[0] in LIBRARIES and name.endswith(TRAINERS):
            yield from seen.place(node, RULE, name)
