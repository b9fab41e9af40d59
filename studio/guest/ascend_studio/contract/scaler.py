"""The GradScaler and what is done with gradients, in order."""

from __future__ import annotations

import functools

from ascend_studio.contract import log

if False:
    from typing import Any

_CALLS = ("scale", "unscale_", "step", "update")
_SETTINGS = ("init_scale", "growth_factor", "backoff_factor", "growth_interval", "enabled")
_CLIPS = {"clip_grad_norm_": "max_norm", "clip_grad_value_": "clip_value"}  # and how torch calls the limit


def install(torch: Any) -> None:
    scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
    _follow_settings(scaler)
    for name in _CALLS:
        setattr(scaler, name, _followed(name, getattr(scaler, name)))
    for name in _CLIPS:
        setattr(torch.nn.utils, name, _clipping(name, getattr(torch.nn.utils, name)))


def _follow_settings(scaler: Any) -> None:
    original = scaler.__init__

    @functools.wraps(original)
    def initialized(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        values = {name: getattr(self, "_" + name, None) for name in _SETTINGS}
        values["init_scale"] = getattr(self, "_init_scale", None)
        log.append("scaler", "GradScaler(%s)" % ", ".join("%s=%s" % (name, values[name]) for name in _SETTINGS))

    scaler.__init__ = initialized


def _followed(name: str, original: Any) -> Any:
    @functools.wraps(original)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.is_enabled() and not log.is_compiling():
            log.append("scaler", name)
        return original(self, *args, **kwargs)

    return called


def _clipping(name: str, original: Any) -> Any:
    @functools.wraps(original)
    def clipped(*args: Any, **kwargs: Any) -> Any:
        if not log.is_compiling():
            limit = args[1] if len(args) > 1 else kwargs.get(_CLIPS[name])
            log.append("scaler", "%s(%s)" % (name, limit if limit is None else float(limit)))
        return original(*args, **kwargs)

    return clipped
