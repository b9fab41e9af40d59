"""The buffers of a torch model before its first forward, such as running statistics and masks: msprobe's record has
parameters alone. MindSpore's moving means are parameters."""

from __future__ import annotations

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Dict

FIGURES = ("max", "min", "mean", "norm")


def buffer_figures(torch: ModuleType, model: Any) -> Dict[str, Dict[str, Any]]:
    """Return the figures of each buffer by its name, saved or not, in the form of msprobe's weights. Raises where a
    buffer has no numbers, as on the device "meta"."""
    return {name: _figures(torch, buffer) for name, buffer in model.named_buffers()}


def _figures(torch: Any, tensor: Any) -> Dict[str, Any]:
    """Return the extremes in the tensor's own numbers, mean and norm in float32; None of a tensor without elements."""
    tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    if not tensor.numel():
        return dict.fromkeys(FIGURES)
    tensor = tensor.to(torch.uint8) if tensor.dtype == torch.bool else tensor
    wide = tensor if tensor.dtype == torch.float64 else tensor.float()
    exact = wide if tensor.is_floating_point() else tensor
    return dict(zip(FIGURES, (number.item() for number in (exact.max(), exact.min(), wide.mean(), wide.norm()))))
