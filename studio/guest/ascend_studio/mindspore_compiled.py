"""Compiled code: functions under @jit, and gradients in graph mode."""

from __future__ import annotations

import functools
import os

from ascend_studio import hooks
from ascend_studio import mindspore_reading as reading
from ascend_studio.mindspore_steps import CURVES, GRADIENT

if False:  # typing costs more at the start than all the rest
    from typing import Any, Dict, Tuple

    from ascend_studio.mindspore_hooks import Hooks


class Compiled:
    def __init__(self, wraps: Hooks, special: Dict[Tuple[str, str], Any]) -> None:
        """`special`: by module and name, what wants to see the arguments and the result of a function of MindSpore's
        own."""
        self.wraps = wraps
        self.special = special
        self.calls, self.steps = wraps.calls, wraps.steps

    def wrap_compiled(self) -> None:
        """Wrap the results of @jit, and gradients in graph mode."""
        executors = self.wraps.module("graph.api")._JitExecutor
        call, calls, special = executors.__call__, self.calls, self.special
        ended = hooks.guarded(CURVES)(self._ended)

        @functools.wraps(call)
        def __call__(executor: Any, *args: Any, **kwargs: Any) -> Any:
            function: Any = executor.fn  # a partial has no name
            own = special.get((getattr(function, "__module__", ""), getattr(function, "__name__", "")))
            if own is not None or calls.depth or calls.gradient or hooks.is_off(CURVES):
                result = call(executor, *args, **kwargs)
                calls.compiled = calls.compiled or own is None
                if own is not None:
                    own(args, result)
                return result
            calls.depth, calls.updates = 1, ()
            try:
                result = call(executor, *args, **kwargs)
            finally:
                calls.depth = 0
            ended(function, getattr(executor, "obj", None), args, result)
            return result

        executors.__call__ = __call__

    def _ended(self, function: Any, owner: Any, arguments: Any, result: Any) -> None:
        updates, self.calls.updates = self.calls.updates, ()
        source, rows = ("compiled", getattr(function, "__code__", id(function))), reading.rows_in(arguments)
        if updates:  # bytecode may leave the optimizer to Python
            loss = reading.any_loss_in(result)
            if loss is not None:
                self.steps.lost(source, loss, rows)
            self.steps.record_updates(list(updates), source, GRADIENT, self.steps.latest)
        else:
            self.steps.compiled(source, rows, result, functools.partial(_is_used_in, function, owner))

    def wrap_bytecode(self) -> None:
        """Wrap @jit(capture_mode="bytecode"), which runs the function inside `with self`, and leaves its result in
        self.ret.
        """
        module = self.wraps.module("graph._utils.pijit_context")
        contexts, calls = module.PIJitCaptureContext, self.calls
        enter, leave = contexts.__enter__, contexts.__exit__
        ended = hooks.guarded(CURVES)(self._ended)
        if isinstance(module.SKIP_RULES.get("skip_dirs"), tuple):  # nor is our code to be captured
            module.SKIP_RULES["skip_dirs"] += (os.path.dirname(os.path.abspath(__file__)),)

        @functools.wraps(enter)
        def __enter__(context: Any) -> Any:
            if not calls.depth:
                calls.updates = ()
            calls.depth += 1
            return enter(context)

        @functools.wraps(leave)
        def __exit__(context: Any, kind: Any, error: Any, trace: Any) -> Any:
            is_suppressed = leave(context, kind, error, trace)
            calls.depth -= 1
            if kind is None and not calls.depth and not hooks.is_off(CURVES):
                ended(getattr(context, "fn", None), None, (), getattr(context, "ret", None))
            return is_suppressed

        contexts.__enter__, contexts.__exit__ = __enter__, __exit__


def _is_used_in(function: Any, owner: Any, optimizer: Any) -> bool:
    """Return whether the source of a compiled function names the optimizer: in its closure, its module, or its
    object."""
    if getattr(function, "__code__", None) is None:
        return False
    names = function.__code__.co_names
    inside = [function.__globals__.get(name) for name in names]
    inside += [_content(cell) for cell in function.__closure__ or ()]
    inside += [getattr(owner, name, None) for name in names] if owner is not None else []
    return any(candidate is optimizer for candidate in inside)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that is not bound yet
        return None
