"""Which loops of a module train: what stands in them is done at every step."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from backends.migration.scan.advice.seen import Function, Loop, Seen

if TYPE_CHECKING:
    from collections.abc import Iterator

MICRO = re.compile(r"accum|micro", re.IGNORECASE)
STEP = re.compile(r"(^|_)(training_)?(step|closure|train_batch|train_one_batch)", re.IGNORECASE)
# Of a branch that is not taken at every step.
SOMETIMES = re.compile(
    r"log|print|interval|every|freq|verbose|rank|main|master|eval|valid|debug|writer|save|ckpt|checkpoint|display|wandb"
    r"|tensorboard|profil|epoch|last|report|plot|vis|best|first|==|%|// ",
    re.IGNORECASE,
)


class Steps:
    """The loops, and functions without one, whose body calls backward()."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._bodies: set[ast.AST] = set()
        for call, _ in seen.module.calls:
            if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
                self._bodies.update(self._around(call))

    def __bool__(self) -> bool:
        return bool(self._bodies)

    def _around(self, call: ast.Call) -> Iterator[ast.AST]:
        """The nearest loop; also the one around a loop over micro batches. A function that is a step by its name."""
        for node in self._seen.above(call):
            if isinstance(node, Loop):
                yield node
                if not (isinstance(node, ast.For) and MICRO.search(self._seen.module.source(node.iter))):
                    return
            elif isinstance(node, Function):
                if STEP.search(node.name):
                    yield node
                return

    def each(self, node: ast.AST) -> bool:
        """Whether it is done at every step, and not only where a step is logged, saved or evaluated."""
        below = node
        for one in self._seen.above(node):
            if one in self._bodies:
                return below in getattr(one, "body", ()) and not _evaluates(one)
            if isinstance(one, (ast.ExceptHandler, ast.Lambda, *Function)):
                return False
            if (
                isinstance(one, ast.If)
                and below is not one.test
                and SOMETIMES.search(self._seen.module.source(one.test))
            ):
                return False
            below = one
        return False


def _evaluates(node: ast.AST) -> bool:
    return isinstance(node, Function) and node.name.startswith(("eval", "valid", "test_"))
