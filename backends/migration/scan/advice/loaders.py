"""Data loaders that read in the training's own process, or copy from pageable memory."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.advice.seen import Seen

LOADERS = {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"}
WORKERS, PINNED = 5, 7


def places(seen: Seen) -> Iterator[Place]:
    for call, name in seen.module.calls:
        if name in LOADERS and (call.args or call.keywords) and not _is_open(call):
            if _is_nothing(_given(call, "num_workers", WORKERS)):
                yield from seen.place(call, "advice.loader_workers", name or "")
            elif _is_nothing(_given(call, "pin_memory", PINNED)):
                yield from seen.place(call, "advice.loader_pinned", name or "")


def _is_open(call: ast.Call) -> bool:
    """*args and **options may hold anything."""
    return any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)


def _given(call: ast.Call, name: str, position: int) -> ast.expr | None:
    named = next((one.value for one in call.keywords if one.arg == name), None)
    return named or (call.args[position] if len(call.args) > position else None)


def _is_nothing(given: ast.expr | None) -> bool:
    return given is None or (isinstance(given, ast.Constant) and not given.value)
