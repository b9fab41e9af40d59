"""The gradients and weights of each step, as digests of their bits, for two rehearsals that are compared.

Gradients are taken as the optimizer gets them, unscaled, clipped and averaged over the ranks; in a script without an
optimizer, as each backward leaves them in the modules that ran.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import os
from importlib import import_module

from ascend_studio import hooks, trainer_callbacks
from ascend_studio.rehearsal import operators, record

if False:
    from typing import Any, Dict, Iterable, List, Tuple

MAX_STEPS = 10000  # steps
STEP = "step_trace"  # the name that its errors are told under

_steps: List[Dict[str, Any]] = []
_open: List[Any] = []  # the optimizer whose weights are still to be looked at


def install(torch: Any) -> None:
    record.contents.append(_fill)
    _follow_optimizers(torch)
    _follow_backward(torch)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forget)


def _forget() -> None:
    del _steps[:], _open[:]


def _fill(part: Dict[str, Any]) -> None:
    """A rehearsal that ends with a step ends before the optimizer's other listeners are called."""
    _close()
    part["trace"] = _steps


def _follow_optimizers(torch: Any) -> None:
    optimizer = import_module("torch.optim.optimizer")
    if not hasattr(optimizer, "register_optimizer_step_pre_hook"):  # torch before 2.0
        return
    guard = hooks.guarded(STEP)

    def begun(module: Any, args: Any, kwargs: Any) -> None:
        if not _has_closure(args, kwargs):
            _open_step(torch, module)

    def done(module: Any, args: Any, kwargs: Any) -> None:
        if _has_closure(args, kwargs):
            _open_step(torch, module)
        _close()

    optimizer.register_optimizer_step_pre_hook(guard(begun))
    optimizer.register_optimizer_step_post_hook(guard(done))


def _has_closure(args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> bool:
    """Return whether the step has a closure: LBFGS computes its gradients within the step."""
    return (args[1] if len(args) > 1 else kwargs.get("closure")) is not None


def _open_step(torch: Any, optimizer: Any) -> None:
    _close()
    weights = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    _add(torch, weights)
    _open[:] = [torch, weights]


def _close() -> None:
    if _open:
        torch, weights = _open
        del _open[:]
        _steps[-1]["weights"] = _digest_all(torch, weights)[0]


def _follow_backward(torch: Any) -> None:
    original = torch.autograd.backward
    check_gradients = hooks.guarded(STEP)(_check_without_optimizer)

    def backward(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        check_gradients(torch)
        return result

    backward.__doc__, backward.__wrapped__ = original.__doc__, original  # type: ignore[attr-defined]
    torch.autograd.backward = backward


def _check_without_optimizer(torch: Any) -> None:
    steps = trainer_callbacks.standing.steps
    if steps is None or steps.optimizer_count or steps.in_backward or steps.is_compiling():
        return
    weights = [parameter for module in operators.modules() for parameter in module.parameters(recurse=False)]
    _add(torch, weights)
    _steps[-1]["weights"] = _digest_all(torch, weights)[0]


def _add(torch: Any, weights: List[Any]) -> None:
    """`steps` is full after MOST: the last then stands for all that follow."""
    digest, norm = _digest_all(torch, [parameter.grad for parameter in weights if parameter.grad is not None])
    step = {"gradients": digest, "norm": norm if math.isfinite(norm) else _number_text(norm), "weights": ""}
    if len(_steps) < MAX_STEPS:
        _steps.append(step)
    else:
        _steps[-1] = step


def _number_text(number: float) -> str:
    """Return a number as in the protocol: JSON has no NaN."""
    return "NaN" if number != number else "Infinity"


def _digest_all(torch: Any, tensors: Iterable[Any]) -> Tuple[str, float]:
    """Return a digest of types, shapes and bits, and the norm of all tensors together."""
    digest, squares = hashlib.blake2b(digest_size=8), 0.0
    with torch.no_grad():
        for local in map(_local, tensors):
            digest.update(("%s %s" % (local.dtype, tuple(local.shape))).encode())
            if local.numel():
                digest.update(_bytes_of(local))
                squares += float(torch.linalg.vector_norm(local, dtype=torch.float64)) ** 2 if _is_real(local) else 0.0
    return digest.hexdigest(), math.sqrt(squares) if squares == squares else squares


def digest(torch: Any, tensor: Any) -> str:
    """Return a digest of type, shape and bits of a tensor."""
    return _digest_all(torch, [tensor])[0]


def _is_real(tensor: Any) -> bool:
    return bool(tensor.is_floating_point())


def _local(tensor: Any) -> Any:
    """Return the part of a tensor that this process holds, dense and contiguous."""
    local = tensor.detach()
    local = local.to_local() if hasattr(local, "to_local") else local
    local = local.coalesce().values() if local.is_sparse else local
    return local.to("cpu").contiguous()


def _bytes_of(tensor: Any) -> memoryview:
    size = tensor.numel() * tensor.element_size()
    return memoryview((ctypes.c_char * size).from_address(tensor.data_ptr()))
