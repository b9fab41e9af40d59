"""Activations and losses."""

from __future__ import annotations

if False:
    from typing import Any

NAMES = (
    "npu_swiglu", "npu_geglu", "npu_gelu", "npu_fast_gelu", "fast_gelu", "npu_silu", "npu_mish",
    "npu_scaled_masked_softmax", "npu_cross_entropy_loss", "npu_softmax_cross_entropy_with_logits",
)  # fmt: skip
_torch: Any = None


def use(torch: Any) -> None:
    global _torch
    _torch = torch


def npu_swiglu(self: Any, dim: int = -1) -> Any:
    gate, value = _torch.chunk(self, 2, dim)
    return _torch.nn.functional.silu(gate) * value


def npu_geglu(self: Any, dim: int = -1, approximate: int = 1, activate_left: bool = False) -> Any:
    """Return the result and the activated half."""
    left, right = _torch.chunk(self, 2, dim)
    value, gate = (right, left) if activate_left else (left, right)
    activated = npu_gelu(gate, approximate="tanh" if approximate else "none")
    return value * activated, activated


def npu_gelu(self: Any, *, approximate: str = "none") -> Any:
    return _torch.nn.functional.gelu(self, approximate=approximate)


def npu_fast_gelu(self: Any) -> Any:
    """x / (1 + exp(-1.702 x)), the formula of Atlas A2 and A3."""
    return self * _torch.sigmoid(1.702 * self)


fast_gelu = npu_fast_gelu


def npu_silu(self: Any) -> Any:
    return _torch.nn.functional.silu(self)


def npu_mish(self: Any) -> Any:
    return _torch.nn.functional.mish(self)


def npu_scaled_masked_softmax(x: Any, mask: Any, scale: Any = 1.0, fixed_triu_mask: bool = False) -> Any:
    if fixed_triu_mask:
        mask = _torch.ones(x.shape[-2:], dtype=_torch.bool, device=x.device).triu(1)
    return _torch.softmax((x * scale).masked_fill(mask, _torch.finfo(x.dtype).min), -1)


def npu_cross_entropy_loss(
    input: Any, target: Any, weight: Any = None, reduction: str = "mean", ignore_index: int = -100,
    label_smoothing: float = 0.0, lse_square_scale_for_zloss: float = 0.0, return_zloss: bool = False,
) -> Any:  # fmt: skip
    """Return the loss, the logarithms of the probabilities, and two empty tensors: the wheel has no zloss yet."""
    functional = _torch.nn.functional
    loss = functional.cross_entropy(
        input, target, weight=weight, reduction=reduction, ignore_index=ignore_index, label_smoothing=label_smoothing
    )
    empty = input.new_empty(0)
    return (loss if loss.dim() else loss.reshape(1)), functional.log_softmax(input, -1), empty, empty


def npu_softmax_cross_entropy_with_logits(features: Any, labels: Any) -> Any:
    return -(labels * _torch.log_softmax(features, -1)).sum(-1)
