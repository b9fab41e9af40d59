"""Casts, layouts, and operators that are PyTorch's own under another name.

A private format of an NPU (FRACTAL_NZ and the like) is not kept here: every tensor has the usual one, ND.
"""

from __future__ import annotations

import enum

if False:
    from typing import Any

NAMES = (
    "npu_dtype_cast", "npu_format_cast", "npu_format_cast_", "get_npu_format", "npu_confusion_transpose",
    "npu_transpose", "npu_broadcast", "npu_reshape", "npu_linear", "npu_bmmV2", "npu_one_hot", "npu_max", "npu_min",
    "npu_sort_v2",
)  # fmt: skip
_torch: Any = None


class Format(enum.IntEnum):
    """The formats of aclFormat by the names of torch_npu/npu/_format.py."""

    UNDEFINED = -1
    NCHW = 0
    NHWC = 1
    ND = 2
    NC1HWC0 = 3
    FRACTAL_Z = 4
    NC1HWC0_C04 = 12
    HWCN = 16
    NDHWC = 27
    FRACTAL_NZ = 29
    NCDHW = 30
    NDC1HWC0 = 32
    FRACTAL_Z_3D = 33
    NC = 35
    NCL = 47
    FRACTAL_NZ_C0_16 = 50
    FRACTAL_NZ_C0_32 = 51
    FRACTAL_NZ_C0_2 = 52
    FRACTAL_NZ_C0_4 = 53
    FRACTAL_NZ_C0_8 = 54

    def __str__(self) -> str:
        return self.name


def use(torch: Any) -> None:
    global _torch
    _torch = torch


def npu_dtype_cast(input: Any, dtype: Any, input_dtype: Any = None) -> Any:
    return input.to(dtype)


def npu_format_cast(self: Any, acl_format: Any) -> Any:
    return self


npu_format_cast_ = npu_format_cast


def get_npu_format(self: Any) -> Format:
    return Format.ND


def npu_confusion_transpose(self: Any, perm: Any, shape: Any, transpose_first: bool) -> Any:
    if transpose_first:
        return self.permute(*perm).contiguous().view(*shape)
    return self.view(*shape).permute(*perm).contiguous()


def npu_transpose(self: Any, perm: Any, require_contiguous: bool = True) -> Any:
    return self.permute(*perm).contiguous()


def npu_broadcast(self: Any, size: Any) -> Any:
    return self.expand(*size).contiguous()


def npu_reshape(self: Any, shape: Any, can_refresh: bool = False) -> Any:
    return self.reshape(*shape)


def npu_linear(input: Any, weight: Any, bias: Any = None) -> Any:
    return _torch.nn.functional.linear(input, weight, bias)


def npu_bmmV2(self: Any, mat2: Any, output_sizes: Any) -> Any:
    return _torch.matmul(self, mat2)


def npu_one_hot(input: Any, num_classes: int = -1, depth: int = 1, on_value: Any = 1, off_value: Any = 0) -> Any:
    is_on = _torch.arange(depth, device=input.device) == input.unsqueeze(-1)
    return is_on.float() * (on_value - off_value) + off_value


def npu_max(self: Any, dim: int, keepdim: bool = False) -> Any:
    values, indices = _torch.max(self, dim, keepdim)
    return values, indices.to(_torch.int32)


def npu_min(self: Any, dim: int, keepdim: bool = False) -> Any:
    values, indices = _torch.min(self, dim, keepdim)
    return values, indices.to(_torch.int32)


def npu_sort_v2(self: Any, dim: int = -1, descending: bool = False, out: Any = None) -> Any:
    values = _torch.sort(self, dim, descending)[0]
    return values if out is None else out.copy_(values)
