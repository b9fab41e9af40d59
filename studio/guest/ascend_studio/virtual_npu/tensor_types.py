"""torch.npu.FloatTensor and the other names of a dtype on a card: they make tensors and answer isinstance."""

from __future__ import annotations

import functools
import re

from ascend_studio.virtual_npu import cards, storages

if False:
    from typing import Any, Callable, Dict, List

DTYPES = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Byte": "uint8",
    "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64", "Bool": "bool",
}  # fmt: skip
_NAME = re.compile(r"^torch\.npu\.(\w+)Tensor$")
_torch: Any = None
_kinds: Dict[str, Any] = {}


class _Kind(type):
    dtype: Any

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, _torch.Tensor) and value.device.type == "npu" and value.dtype is cls.dtype

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return what the name without npu makes of the same arguments, on the current card."""
        kwargs.pop("device", None)
        first = args[0] if args else None
        if isinstance(first, cls):
            return first.detach()
        return getattr(_torch, cls.__name__)(*args, **kwargs).to(storages.device(cards.current()))


def classes(torch: Any) -> Dict[str, Any]:
    """Return the class of each name."""
    global _torch
    _torch = torch
    for name, dtype in DTYPES.items():
        kind = _Kind(name + "Tensor", (), {"dtype": getattr(torch, dtype), "__module__": "torch.npu"})
        _kinds[name] = kind
    return {kind.__name__: kind for kind in _kinds.values()}


def install(torch: Any) -> None:
    torch.Tensor.type = _with_types(torch.Tensor.type)
    torch.set_default_tensor_type = _with_default(torch.set_default_tensor_type)


def _kind(value: Any) -> Any:
    """Return the class that a value names, None where it is of no card."""
    if isinstance(value, _Kind):
        return value
    match = _NAME.match(value) if isinstance(value, str) else None
    return _kinds.get(match.group(1)) if match else None


def _with_types(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def with_types(self: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> Any:
        kind = _kind(dtype)
        if kind is None:
            return original(self, dtype, *args, **kwargs)
        device = self.device if self.device.type == "npu" else storages.device(cards.current())
        return self.to(device=device, dtype=kind.dtype)

    return with_types


def _with_default(original: Callable[..., Any]) -> Callable[..., Any]:
    chosen: List[str] = []

    @functools.wraps(original)
    def set_default_tensor_type(value: Any) -> None:
        kind = _kind(value)
        if kind is None:
            original(value)
            if chosen:  # A type of the CPU takes the card back that such a name has chosen.
                chosen.clear()
                _torch.set_default_device(None)
            return
        _torch.set_default_dtype(kind.dtype)
        _torch.set_default_device("npu")
        chosen[:] = ["npu"]

    return set_default_tensor_type
