"""What checkpoints hold: names, shapes and dtypes."""

from __future__ import annotations

import functools
import os

from ascend_studio import hooks
from ascend_studio.contract import batches, dtypes, log

if False:
    from typing import Any, List

SHOWN = 8  # entries of a file that are named; all of them are in its digest
MAX_DEPTH = 8


def install(torch: Any) -> None:
    torch.save = torch.serialization.save = _saving(torch.save, 0, 1)
    hooks.after_import("safetensors.torch", hooks.guarded("contract of safetensors")(_safetensors))
    hooks.after_import("torch.distributed.checkpoint", hooks.guarded("contract of dcp")(_distributed))


def _safetensors(module: Any) -> None:
    module.save_file = _saving(module.save_file, 0, 1)


def _distributed(module: Any) -> None:
    module.save = _saving(module.save, 0, -1)


def _saving(original: Any, content: int, target: int) -> Any:
    """`content`, `target`: places of what is saved and of its file among the arguments."""

    @functools.wraps(original)
    def saving(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        hooks.guarded("contract of saved")(_describe)(args, kwargs, content, target)
        return result

    return saving


def _describe(args: Any, kwargs: Any, content: int, target: int) -> None:
    value = args[content] if len(args) > content else next(iter(kwargs.values()), None)
    file = args[target] if 0 <= target < len(args) else kwargs.get("f", kwargs.get("filename"))
    name = os.path.basename(os.fspath(file)) if isinstance(file, (str, os.PathLike)) else type(file).__name__
    entries: List[str] = []
    _collect("", value, entries, 0)
    shown = ", ".join(entries[:SHOWN]) + (", …" if len(entries) > SHOWN else "")
    log.append("saved", "%s: %d entries, %s: %s" % (name, len(entries), batches.digest_of("\n".join(entries)), shown))


def _collect(name: str, value: Any, entries: List[str], depth: int) -> None:
    if isinstance(value, log.torch.Tensor):
        entries.append("%s %s[%s]" % (name, dtypes.name_of(value.dtype), "x".join(map(str, value.shape))))
    elif isinstance(value, log.torch.nn.Module):
        _collect(name, value.state_dict(), entries, depth + 1)
    elif isinstance(value, dict) and depth < MAX_DEPTH:
        for key, item in value.items():
            _collect("%s.%s" % (name, key) if name else str(key), item, entries, depth + 1)
    elif isinstance(value, (list, tuple)) and depth < MAX_DEPTH:
        for index, item in enumerate(value):
            _collect("%s.%d" % (name, index), item, entries, depth + 1)
    else:
        entries.append("%s %s" % (name, type(value).__name__))
