"""Which loops of a module train: what is in them runs at every step."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from backends.migration.scan.advice.module_view import Function, Loop, ModuleView

if TYPE_CHECKING:
    from collections.abc import Iterator

MICRO = re.compile(r"accum|micro", re.IGNORECASE)
STEP = re.compile(r"(^|_)(training_)?(step|closure|train_batch|train_one_batch)", re.IGNORECASE)
# A condition that says this marks a branch that is not taken at every step.
SOMETIMES = re.compile(
    r"log|print|interval|every|freq|verbose|rank|main|master|eval|valid|debug|writer|save|ckpt|checkpoint|display|wandb"
    r"|tensorboard|profil|epoch|last|report|plot|vis|best|first|==|%|// ",
    re.IGNORECASE,
)


class TrainingSteps:
    """The loops, and functions without one, whose body calls backward()."""

    def __init__(self, view: ModuleView) -> None:
        self._view = view
        self._bodies: set[ast.AST] = set()
        for call, _ in view.module.calls:
            if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
                self._bodies.update(self._enclosing_steps(call))

    def __bool__(self) -> bool:
        return bool(self._bodies)

    def _enclosing_steps(self, call: ast.Call) -> Iterator[ast.AST]:
        """The nearest loop; also the one around a loop over micro batches. A function that is a step by its name."""
        for node in self._view.ancestors(call):
            if isinstance(node, Loop):
                yield node
                if not (isinstance(node, ast.For) and MICRO.search(self._view.module.source(node.iter))):
                    return
            elif isinstance(node, Function):
                if STEP.search(node.name):
                    yield node
                return

    def is_every_step(self, node: ast.AST) -> bool:
        """Whether it is done at every step, and not only where a step is logged, saved or evaluated."""
        child = node
        for ancestor in self._view.ancestors(node):
            if ancestor in self._bodies:
                return child in getattr(ancestor, "body", ()) and not _evaluates(ancestor)
            if isinstance(ancestor, (ast.ExceptHandler, ast.Lambda, *Function)):
                return False
            if (
                isinstance(ancestor, ast.If)
                and child is not ancestor.test
                and SOMETIMES.search(self._view.module.source(ancestor.test))
            ):
                return False
            child = ancestor
        return False


def _evaluates(node: ast.AST) -> bool:
    return isinstance(node, Function) and node.name.startswith(("eval", "valid", "test_"))
