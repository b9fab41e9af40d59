"""The closure that a step of an optimizer may be given: LBFGS and Lightning run forward and backward inside it."""

from __future__ import annotations

if False:
    from typing import Any, Callable, Dict, Tuple


def closure_of(args: Any, kwargs: Any) -> Any:
    """Return the closure of a step, by its arguments (the optimizer first) and keywords; None without."""
    return args[1] if len(args) > 1 else kwargs.get("closure")


def with_closure(args: Any, kwargs: Any, closure: Callable[..., Any]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """Return the arguments and keywords of a step with another closure."""
    if len(args) > 1:
        return (args[0], closure, *args[2:]), kwargs
    return args, {**kwargs, "closure": closure}
