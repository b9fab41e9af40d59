"""Curves of a PyTorch training that does not know the studio: wrappers of what every training calls report to
torch_steps.

The functions here are called in every step. They change no argument and no result, draw no random number, and are left
alone by torch.compile.
"""

from __future__ import annotations

import functools
import sys
import time
from types import CodeType, FunctionType

import ascend_studio
from ascend_studio import (
    closures,
    hooks,
    late_metrics,
    recording,
    torch_inputs,
    torch_numbers,
    torch_series,
    torch_steps,
    trainer_callbacks,
)
from ascend_studio.torch_steps import Steps

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Callable, Iterable, Iterator


def install(torch: ModuleType) -> None:
    """Wrap torch. Raises where this PyTorch lacks what is wrapped, which `hooks` reports; that is checked before
    anything is wrapped.
    """
    steps = Steps(torch)
    _watch_optimizers(torch, steps)
    _watch_modules(torch, steps)
    _watch_backward(torch, steps)
    _watch_norms(torch, steps)
    hooks.after_import("torch.utils.data.dataloader", lambda loading: _watch_loader(torch, steps, loading))
    amp = getattr(torch, "amp", None)
    _watch_scaler(torch, steps, getattr(amp, "GradScaler", None) or torch.cuda.amp.GradScaler)
    hooks.reasons["torch"] = steps.why_nothing
    trainer_callbacks.standing.steps = steps
    hooks.after_import("torch_npu", lambda torch_npu: _watch_scaler(torch, steps, torch_npu.npu.amp.GradScaler))
    hooks.after_import("torch._dynamo", _hide_from_compiler)


def _is_compiling(torch: ModuleType) -> Callable[[], bool]:
    """Return whether the compiler traces this; it knows the function and takes its answer as a constant. PyTorch before
    2.2 has none.
    """
    compiler = getattr(torch, "compiler", None)
    is_compiling: Callable[[], bool] = getattr(compiler, "is_compiling", bool)
    stricter: Callable[[], bool] = getattr(compiler, "is_dynamo_compiling", is_compiling)
    return stricter


def _watch_optimizers(torch: ModuleType, steps: Steps) -> None:
    optimizers: Any = sys.modules["torch.optim.optimizer"]  # torch.optim takes the name away
    if not hasattr(optimizers, "register_optimizer_step_pre_hook"):
        raise RuntimeError("PyTorch %s has no hooks around every optimizer; 2.0 or newer has" % torch.__version__)
    is_compiling = _is_compiling(torch)

    def begins(optimizer: Any, args: Any, kwargs: Any) -> Any:
        if is_compiling():
            return None
        closure = closures.closure_of(args, kwargs)
        steps.step_begins(optimizer, closure is not None)
        return None if closure is None else closures.with_closure(args, kwargs, _counted(closure, steps))

    def ends(optimizer: Any, args: Any, kwargs: Any) -> None:
        if not is_compiling():
            steps.step_ends(optimizer)

    optimizers.register_optimizer_step_pre_hook(begins)
    optimizers.register_optimizer_step_post_hook(ends)
    original = optimizers.Optimizer.__init__

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        steps.optimizer_count += 1
        original(self, *args, **kwargs)

    setattr(optimizers.Optimizer, "__init__", __init__)  # noqa: B010


def _counted(closure: Callable[..., Any], steps: Steps) -> Callable[..., Any]:
    """Return a closure that tells when it has run: LBFGS runs it many times in a step, and the first is the step's."""

    @functools.wraps(closure)
    def counted(*args: Any, **kwargs: Any) -> Any:
        try:
            return closure(*args, **kwargs)
        finally:
            steps.closure_ends()

    return counted


def _watch_modules(torch: ModuleType, steps: Steps) -> None:
    """Wrap Module.__call__. Evaluation (training off, or no gradients) is passed on at once, as is all that runs inside
    a root.
    """
    original = torch.nn.Module.__call__
    is_compiling, is_grad_enabled = _is_compiling(torch), torch.is_grad_enabled

    @functools.wraps(original)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if steps.inside or is_compiling():
            return original(self, *args, **kwargs)
        if not getattr(self, "training", False) or not is_grad_enabled():
            if steps.metrics.waiting:
                steps.evaluates()
            return original(self, *args, **kwargs)
        begun = steps.forward_begins(self, args, kwargs)
        if not begun:
            return original(self, *args, **kwargs)
        try:
            return original(self, *args, **kwargs)
        finally:
            steps.forward_ends(begun)

    torch.nn.Module.__call__ = __call__


def _watch_backward(torch: ModuleType, steps: Steps) -> None:
    """Wrap the backward function, which Tensor.backward calls too."""
    original, is_compiling = torch.autograd.backward, _is_compiling(torch)

    @functools.wraps(original)
    def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling() or steps.in_backward:
            return original(tensors, *args, **kwargs)
        steps.backward_begins(tensors)
        done = False
        try:
            result = original(tensors, *args, **kwargs)
            done = True
            return result
        finally:
            steps.backward_ends(done)

    torch.autograd.backward = backward


def _watch_norms(torch: ModuleType, steps: Steps) -> None:
    """Wrap what the script computes to clip by: the value before clipping."""
    for name, position in (("clip_grad_norm_", 2), ("get_total_norm", 1)):
        original = getattr(torch.nn.utils, name, None)
        if original is not None:
            watched = _watched_norm(_is_compiling(torch), steps, original, position)
            for module in (torch.nn.utils, torch.nn.utils.clip_grad):
                setattr(module, name, watched)


def _watched_norm(
    is_compiling: Callable[[], bool], steps: Steps, original: Callable[..., Any], position: int
) -> Callable[..., Any]:
    """`position` of the argument that says which norm."""

    @functools.wraps(original)
    def computed(*args: Any, **kwargs: Any) -> Any:
        if is_compiling() or steps.inside_norm:
            return original(*args, **kwargs)
        steps.inside_norm = True
        try:
            norm = original(*args, **kwargs)
        finally:
            steps.inside_norm = False
        kind = args[position] if len(args) > position else kwargs.get("norm_type", 2.0)
        if kind == 2.0:
            steps.norm_computed(norm)
        return norm

    return computed


def _watch_loader(torch: ModuleType, steps: Steps, dataloader: Any) -> None:
    iterator = dataloader._BaseDataLoaderIter
    original, is_grad_enabled = iterator.__next__, torch.is_grad_enabled

    @functools.wraps(original)
    def __next__(self: Any) -> Any:
        if not is_grad_enabled():
            return original(self)
        begun = time.perf_counter()
        try:
            return original(self)
        finally:
            steps.data += time.perf_counter() - begun

    setattr(iterator, "__next__", __next__)  # noqa: B010


def _watch_scaler(torch: ModuleType, steps: Steps, scaler_type: Any) -> None:
    """Wrap a gradient scaler; of a subclass only its own methods: the rest is wrapped in its base."""
    is_compiling = _is_compiling(torch)
    if "scale" in vars(scaler_type):
        scaler_type.scale = _watched_scale(is_compiling, steps, scaler_type.scale)
    if "step" in vars(scaler_type):
        scaler_type.step = _watched_step(is_compiling, steps, scaler_type.step)


def _watched_scale(is_compiling: Callable[[], bool], steps: Steps, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def scale(self: Any, outputs: Any) -> Any:
        result = original(self, outputs)
        if not is_compiling():
            steps.loss_scaled(self, outputs, result)
        return result

    return scale


def _watched_step(is_compiling: Callable[[], bool], steps: Steps, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def step(self: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        if is_compiling():
            return original(self, optimizer, *args, **kwargs)
        steps.scaler_begins(self, optimizer)
        result = original(self, optimizer, *args, **kwargs)
        steps.scaler_ends(optimizer)
        return result

    return step


def _hide_from_compiler(dynamo: ModuleType) -> None:
    """Have the compiler run our functions as they are, as it does with torch's own around them."""
    ours = (
        hooks,
        late_metrics,
        recording,
        torch_inputs,
        torch_numbers,
        torch_series,
        torch_steps,
        sys.modules[__name__],
    )
    hide_from_compiler(dynamo, (ascend_studio, *ours))


def hide_from_compiler(dynamo: Any, modules: Iterable[ModuleType]) -> None:
    """Have the compiler run the functions of modules as they are, where they are called while it looks for more to
    compile."""
    for module in modules:
        for code in _codes(vars(module), module.__name__):
            dynamo.eval_frame.skip_code(code)


def _codes(namespace: Any, module: str) -> Iterator[CodeType]:
    """Return the code objects of all functions that the module defines, nested ones included."""
    for value in list(namespace.values()):
        if isinstance(value, type) and value.__module__ == module:
            yield from _codes(vars(value), module)
        elif isinstance(value, FunctionType) and value.__module__ == module:
            yield from _with_nested(getattr(value, "__wrapped__", value).__code__)


def _with_nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _with_nested(inner)
