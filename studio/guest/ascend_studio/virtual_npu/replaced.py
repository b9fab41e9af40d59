"""Functions of torch that are replaced by their own with something around them."""

from __future__ import annotations

from importlib import import_module

if False:
    from typing import Any, Callable


def replace(space: Any, name: str, wrap: Callable[[Any], Any]) -> None:
    """Put what `wrap` returns in the place of a function. torch.jit.script knows functions by their identity: it is to
    take the new one for the operator that the old one was.
    """
    builtins = import_module("torch.jit._builtins")
    original = getattr(space, name)
    changed = wrap(original)
    operator = builtins._find_builtin(original)
    setattr(space, name, changed)
    if operator is not None:
        builtins._register_builtin(changed, operator)
