"""Normalizations and rotary positions."""

from __future__ import annotations

if False:
    from typing import Any

NAMES = (
    "npu_rms_norm", "npu_gemma_rms_norm", "npu_add_rms_norm", "npu_layer_norm_eval", "npu_group_norm_silu",
    "npu_rotary_mul",
)  # fmt: skip
WRONG_DTYPE = "%s takes float16, bfloat16 or float32 on an NPU, by the documentation of torch_npu, not %s"
_torch: Any = None


def use(torch: Any) -> None:
    global _torch
    _torch = torch


def npu_rms_norm(self: Any, gamma: Any, epsilon: float = 1e-06) -> Any:
    """Return the result and 1 / rms (float32), over the dimensions of gamma."""
    normalized, reciprocal = _normalized("npu_rms_norm", self, gamma, epsilon)
    return (normalized * gamma.float()).to(self.dtype), reciprocal


def npu_gemma_rms_norm(self: Any, gamma: Any, epsilon: float = 1e-06) -> Any:
    """As npu_rms_norm, with 1 + gamma."""
    normalized, reciprocal = _normalized("npu_gemma_rms_norm", self, gamma, epsilon)
    return (normalized * (1 + gamma.float())).to(self.dtype), reciprocal


def npu_add_rms_norm(x1: Any, x2: Any, gamma: Any, epsilon: float = 1e-06) -> Any:
    """Return the norm of the sum, 1 / rms (float32) and the sum."""
    total = x1 + x2
    result, reciprocal = npu_rms_norm(total, gamma, epsilon)
    return result, reciprocal, total


def _normalized(name: str, tensor: Any, gamma: Any, epsilon: float) -> Any:
    if tensor.dtype not in (_torch.float16, _torch.bfloat16, _torch.float32):
        raise RuntimeError(WRONG_DTYPE % (name, str(tensor.dtype)[6:]))
    dims = tuple(range(tensor.dim() - gamma.dim(), tensor.dim()))
    wide = tensor.float()
    reciprocal = _torch.rsqrt(wide.square().mean(dims, keepdim=True) + epsilon)
    return wide * reciprocal, reciprocal


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-05) -> Any:
    return _torch.nn.functional.layer_norm(input, tuple(normalized_shape), weight, bias, eps)


npu_layer_norm_eval = layer_norm


def npu_group_norm_silu(input: Any, weight: Any, bias: Any, group: int, eps: float = 0.00001) -> Any:
    """Return the result, and mean and 1 / standard deviation of each group (batch, group)."""
    grouped = input.reshape(input.shape[0], group, -1)
    mean = grouped.mean(-1)
    reciprocal = _torch.rsqrt(grouped.var(-1, unbiased=False) + eps)
    result = _torch.nn.functional.group_norm(input, group, weight, bias, eps)
    return _torch.nn.functional.silu(result), mean, reciprocal


def npu_rotary_mul(self: Any, r1: Any, r2: Any, rotary_mode: str = "half", rotate: Any = None) -> Any:
    return r1 * self + r2 * _rotated(self, rotary_mode, rotate)


def _rotated(tensor: Any, mode: str, rotate: Any) -> Any:
    if rotate is not None:
        return tensor @ rotate.to(tensor.dtype)
    if mode == "half":
        left, right = _torch.chunk(tensor, 2, -1)
        return _torch.cat((-right, left), -1)
    if mode == "interleave":
        return _torch.stack((-tensor[..., 1::2], tensor[..., ::2]), -1).flatten(-2)
    raise RuntimeError("The rotary_mode of rotaryMul should be half or interleave, but got %s" % mode)
