"""A digest of each batch that a network was fed, in order, and how the loaders were made."""

from __future__ import annotations

import functools
import hashlib
import threading
import weakref

from ascend_studio import hooks
from ascend_studio.contract import dtypes, log
from ascend_studio.rehearsal import trace

if False:
    from typing import Any, List

_depth = threading.local()
_known: Any = weakref.WeakSet()


def install(torch: Any) -> None:
    module = torch.nn.modules.module
    module.register_module_forward_pre_hook(hooks.guarded("contract of batches")(_entered))
    try:
        module.register_module_forward_hook(_left, always_call=True)
    except TypeError:  # torch before 2.1
        module.register_module_forward_hook(_left)
    loader = torch.utils.data.DataLoader
    loader.__init__ = _loading(loader.__init__)


def _entered(module: Any, args: Any) -> None:
    if log.is_compiling():
        return
    depth = _depth.value = getattr(_depth, "value", 0) + 1
    if depth == 1 and module.training and log.torch.is_grad_enabled():
        if module not in _known:
            _known.add(module)
            dtypes.buffers(module)
        texts: List[str] = []
        _describe(args, texts)
        if texts:
            log.append("batches", " ".join(texts))


def _left(_module: Any, _args: Any, _result: Any) -> None:
    if not log.is_compiling():
        _depth.value = max(0, getattr(_depth, "value", 0) - 1)


def _describe(value: Any, texts: List[str]) -> None:
    """What a network computed of another's output is no batch."""
    if isinstance(value, log.torch.Tensor):
        if value.grad_fn is None:
            shape = "x".join(map(str, value.shape))
            texts.append("%s[%s] %s" % (dtypes.name_of(value.dtype), shape, trace.digest(log.torch, value)))
    elif isinstance(value, (list, tuple)):
        for item in value:
            _describe(item, texts)
    elif isinstance(value, dict):
        for item in value.values():
            _describe(item, texts)


def _loading(original: Any) -> Any:
    @functools.wraps(original)
    def initialized(self: Any, *args: Any, **kwargs: Any) -> None:
        asks_pinned = bool(kwargs.get("pin_memory", args[7] if len(args) > 7 else False))
        original(self, *args, **kwargs)
        if log.is_from_script():
            sampler = type(self.sampler).__name__
            values = (self.batch_size, sampler, bool(self.drop_last), self.num_workers, asks_pinned)
            log.append("loaders", "batch_size=%s, sampler=%s, drop_last=%s, num_workers=%s, pin_memory=%s" % values)

    return initialized


def digest_of(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
