"""Mixed precision: the CPU's autocast in place of the device's, with bfloat16 where float16 was asked for."""

from __future__ import annotations

import functools

from ascend_studio.rehearsal import record, redirect

if False:
    from typing import Any

# What torch itself warns of, before it goes on without.
NO_AUTOCAST = "CUDA is not available or torch_xla is imported. Disabling autocast."
NO_SCALER = "torch.cuda.amp.GradScaler is enabled, but CUDA is not available. Disabling."


def install(torch: Any) -> None:
    _autocast(torch)
    _scaler(torch)
    _queries(torch)


def _autocast(torch: Any) -> None:
    autocast = torch.amp.autocast_mode.autocast
    original = autocast.__init__

    @functools.wraps(original)
    def initialized(self: Any, device_type: Any, dtype: Any = None, enabled: bool = True, **kwargs: Any) -> None:
        if redirect.is_redirected(device_type):
            record.redirect("autocast")
            device_type = "cpu"
            if enabled and dtype in (None, torch.float16):
                # float16 on the CPU takes 18 times as long.
                record.note_once("rehearsal.half_as_bfloat16")
                dtype = torch.bfloat16
        elif device_type == "cuda" and enabled:
            record.block("autocast", NO_AUTOCAST, "disabled")
        original(self, device_type, dtype, enabled, **kwargs)

    autocast.__init__ = initialized


def _scaler(torch: Any) -> None:
    scaler = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
    original = scaler.__init__

    @functools.wraps(original)
    def initialized(self: Any, device: Any = "cuda", *args: Any, **kwargs: Any) -> None:
        if redirect.is_redirected(device):
            record.redirect("GradScaler")
            device = "cpu"
        elif (
            device == "cuda" and not redirect.transferred and kwargs.get("enabled", args[4] if len(args) > 4 else True)
        ):
            record.block("GradScaler", NO_SCALER, "disabled")
        original(self, device, *args, **kwargs)

    if scaler is not torch.cuda.amp.GradScaler:  # torch before 2.3 has the one that takes no device
        scaler.__init__ = initialized


def _queries(torch: Any) -> None:
    """Answer is_autocast_enabled() without a device, which asks for CUDA."""
    for name in ("is_autocast_enabled", "get_autocast_dtype", "set_autocast_enabled", "set_autocast_dtype"):
        if hasattr(torch, name):
            setattr(torch, name, _of_cpu(name, getattr(torch, name)))
    if record.stance == "cuda" and hasattr(torch, "get_autocast_dtype"):
        torch.get_autocast_gpu_dtype = lambda: torch.get_autocast_dtype("cpu")


def _of_cpu(name: str, original: Any) -> Any:
    takes_none = {"is_autocast_enabled": 0, "set_autocast_enabled": 1}.get(name)

    @functools.wraps(original)
    def redirected(*args: Any, **kwargs: Any) -> Any:
        if args and redirect.is_redirected(args[0]):
            args = ("cpu", *args[1:])
        elif len(args) == takes_none and not kwargs and "cuda" in redirect.types:
            args = ("cpu", *args)
        return original(*args, **kwargs)

    return redirected
