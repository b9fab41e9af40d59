"""Dtypes that a script asks for: autocast and its regions, buffers, the loss. Those of parameters are with their
optimizer, those of inputs with the batches."""

from __future__ import annotations

import functools

from ascend_studio.contract import log

if False:
    from typing import Any

_CARDS = ("cuda", "npu")


def install(torch: Any) -> None:
    _autocast(torch.amp.autocast_mode.autocast)
    torch.set_default_dtype = _default(torch.set_default_dtype)
    torch.Tensor.backward = _loss(torch.Tensor.backward)


def _autocast(autocast: Any) -> None:
    """The outermost wrapper sees the dtype that was asked for, before another takes its place on the CPU."""
    original, enter = autocast.__init__, autocast.__enter__

    @functools.wraps(original)
    def initialized(self: Any, device_type: Any, dtype: Any = None, enabled: bool = True, **kwargs: Any) -> None:
        self._contract = "autocast(%s, %s)%s" % (device_type, _name(device_type, dtype), "" if enabled else ", off")
        original(self, device_type, dtype, enabled, **kwargs)

    @functools.wraps(enter)
    def entered(self: Any, *args: Any, **kwargs: Any) -> Any:
        text = getattr(self, "_contract", "")
        if text and not log.is_compiling():
            log.add("autocast", text)
        return enter(self, *args, **kwargs)

    autocast.__init__, autocast.__enter__ = initialized, entered


def _name(device_type: Any, dtype: Any) -> str:
    """A dtype that is left open is float16 on a card and bfloat16 on the CPU."""
    if dtype is None:
        return "float16" if str(device_type).partition(":")[0] in _CARDS else "bfloat16"
    return name_of(dtype)


def name_of(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


def _default(original: Any) -> Any:
    @functools.wraps(original)
    def set_default_dtype(dtype: Any) -> Any:
        if log.is_from_script():
            log.append("default_dtype", name_of(dtype))
        return original(dtype)

    return set_default_dtype


def _loss(original: Any) -> Any:
    @functools.wraps(original)
    def backward(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not log.is_compiling():
            log.add("loss", "%s[%s]" % (name_of(self.dtype), "x".join(map(str, self.shape))))
            if kwargs.get("retain_graph") or kwargs.get("create_graph"):
                log.add("graphs", "backward(retain_graph)")
        return original(self, *args, **kwargs)

    return backward


def buffers(module: Any) -> None:
    """Record the buffers of a network, when it runs for the first time."""
    counts = {}  # type: ignore[var-annotated]
    for tensor in module.buffers():
        counts[name_of(tensor.dtype)] = counts.get(name_of(tensor.dtype), 0) + 1
    for name in sorted(counts):
        log.add("buffers", "%s: %d × %s" % (type(module).__name__, counts[name], name))
