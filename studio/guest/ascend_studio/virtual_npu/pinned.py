"""Pinned memory: a copy of the host's memory that says so. There is no driver to pin it."""

from __future__ import annotations

import functools
import sys

from ascend_studio.virtual_npu.replaced import replace

if False:
    from typing import Any, Callable

NOT_DENSE_CPU = "cannot pin '%s' only dense CPU tensors can be pinned"
_FACTORIES = (
    "empty", "zeros", "ones", "full", "rand", "randn", "randint", "randperm", "arange", "tensor", "empty_strided",
    "empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "eye", "linspace", "logspace",
)  # fmt: skip


_torch: Any = None


def install(torch: Any) -> None:
    global _torch
    _torch = torch
    torch.Tensor.pin_memory, torch.Tensor.is_pinned = _pin, _is_pinned
    torch.set_num_threads = _without_loaders(torch.set_num_threads)
    for name in _FACTORIES:
        replace(torch, name, _with_pinning)
    for name in ("new_empty", "new_zeros", "new_ones", "new_full", "new_tensor"):
        replace(torch.Tensor, name, _with_pinning)


def _without_loaders(original: Callable[[int], None]) -> Callable[[int], None]:
    """Leave the number of threads alone that a loader's pinning thread sets to one: the CPU computes what a card does,
    and some of its sums depend on that number.
    """

    @functools.wraps(original)
    def set_num_threads(count: int) -> None:
        if sys._getframe(1).f_globals.get("__name__") != "torch.utils.data._utils.pin_memory":
            original(count)

    return set_num_threads


def _pin(self: Any, device: Any = None) -> Any:
    if not self.is_cpu:
        raise RuntimeError(NOT_DENSE_CPU % self.type())
    return self if _is_pinned(self) else _marked(self.clone())


def _is_pinned(self: Any, device: Any = None) -> bool:
    return bool(self.is_cpu and self.layout is _torch.strided and hasattr(self.untyped_storage(), "_pinned"))


def _marked(tensor: Any) -> Any:
    tensor.untyped_storage()._pinned = True
    return tensor


def _with_pinning(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def factory(*args: Any, **kwargs: Any) -> Any:
        if not kwargs.get("pin_memory"):
            return original(*args, **kwargs)
        kwargs["pin_memory"] = False
        tensor = original(*args, **kwargs)
        return _marked(tensor) if tensor.is_cpu else tensor

    return factory
