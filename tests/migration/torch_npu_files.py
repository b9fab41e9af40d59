"""An environment with the files of a torch_npu that a scan reads, laid out as in the wheel."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TRANSFER = """
device_kwargs_list = ['device', 'device_type', 'map_location', 'device_id']
torch_fn_white_list = ['zeros', 'load']
torch_tensor_fn_white_list = ['to']

def _init():
    _device_wrapper(torch, torch_fn_white_list)
    _device_wrapper(torch.Tensor, torch_tensor_fn_white_list)
    torch.distributed.init_process_group = _compose_wrappers(_wrapper_cuda, _wrapper_hccl)(
        torch.distributed.init_process_group)
"""


def interpreter_with(folder: Path, *, version: str, names: Sequence[str], kernels: Sequence[str] = ()) -> Path:
    """The path of a python with such a torch_npu; the file is empty and is never run."""
    packages = folder / "lib" / "python3.11" / "site-packages"
    listed = "".join(f"- {name}\n" for name in kernels)
    files = {
        "torch_npu/contrib/transfer_to_npu.py": TRANSFER,
        "torch_npu/npu/__init__.py": f"__all__ = {list(names)!r}\n",
        "torch_npu/npu/amp/__init__.py": "__all__ = ['autocast', 'GradScaler']\n",
        "torch_npu/version.py": f"__version__ = '{version}'\n",
        "torch_npu/csrc/aten/npu_native_functions.yaml": f"backend: NPU\nsupported:\n{listed}",
        "torch_npu/csrc/aten/npu_native_functions_by_codegen.yaml": "custom:\n",
        f"torch_npu-{version}.dist-info/METADATA": "",
    }
    for name, text in files.items():
        (packages / name).parent.mkdir(parents=True, exist_ok=True)
        (packages / name).write_text(text, encoding="utf-8")
    python = folder / "bin" / "python"
    python.parent.mkdir()
    python.write_bytes(b"")
    return python
