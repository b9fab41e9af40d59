"""Dtypes that torch_npu refuses or replaces by itself, in its words, which stand in the wheel of 2.13.0.

What aclnn, the library of kernels below it, refuses is in no wheel: of all other operators it is not known whether they
have float64 or complex on a card, and they are computed here.
"""

from __future__ import annotations

import warnings

from ascend_studio.virtual_npu import dispatch

if False:
    from typing import Any, Callable, Dict, List

REFUSED = {
    "sort.stable": "Input data type should not be float64 ",
    "sort.values_stable": "Input data type should not be float64 ",
    "upsample_bilinear2d": "upsample_binlinear_2d not support torch.fp64 dtypes",
    "upsample_bilinear2d.out": "upsample_binlinear_2d not support torch.fp64 dtypes",
}
"""By operator: what torch_npu says of float64 before it calls a kernel."""
REPLACED = "Device do not support double dtype now, dtype cast replace with float."
replaced: List[Callable[[], None]] = []
"""Called where a cast to float64 gives float32."""
_words: Dict[int, str] = {}
_state: Dict[str, Any] = {"double": None, "is_told": False}


def install(torch: Any) -> None:
    _state["double"], _state["float"] = torch.float64, torch.float32
    for name, words in REFUSED.items():
        op = dispatch.operator(torch, name)
        if op is not None:
            _words[id(op)] = words
            dispatch.checks[id(op)] = check


def check(op: Any, args: Any, kwargs: Any) -> None:
    """Raise RuntimeError where torch_npu does."""
    if args and args[0].dtype == _state["double"]:
        raise RuntimeError(_words[id(op)])


def cast_options(tensor: Any, options: Any) -> Any:
    """Return the options of a cast as torch_npu takes them: a tensor on a card becomes float32 where float64 is asked
    for without a device.
    """
    dtype = options.get("dtype")
    if dtype != _state["double"] or options.get("device") is not None or tensor.dtype == dtype or tensor.is_cpu:
        return options
    for tell in replaced:
        tell()
    if not _state["is_told"]:
        _state["is_told"] = True
        warnings.warn(REPLACED, stacklevel=2)
    return dict(options, dtype=_state["float"])
