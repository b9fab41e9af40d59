"""Checkpoints as the frameworks write them, each framework started once for all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

TORCH = """
import sys
from collections import OrderedDict
import numpy as np, torch
from safetensors.torch import save_file
folder = sys.argv[1]
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.BatchNorm1d(7), torch.nn.Linear(7, 3, dtype=torch.bfloat16))
state = net.state_dict()
torch.save(state, f"{folder}/state.pt")
np.savez(f"{folder}/state.npz", **{name: tensor.float().numpy() for name, tensor in state.items()})
save_file({"module." + name: tensor for name, tensor in state.items()}, f"{folder}/wrapped.safetensors")
torch.save(state, f"{folder}/legacy.pt", _use_new_zipfile_serialization=False)
optimizer = torch.optim.AdamW(net.parameters())
net[0](torch.ones(2, 5)).sum().backward()
optimizer.step()
torch.save({"epoch": 3, "lr": 0.1, "model": net.state_dict(), "optimizer": optimizer.state_dict(),
            "rng": torch.get_rng_state(), "names": ["a", ("b", None, True)]}, f"{folder}/nested.pt")
torch.save({"strided": torch.arange(12.0).reshape(3, 4).T, "half": torch.ones(2, dtype=torch.float16),
            "ints": torch.tensor([1, 2]), "bool": torch.tensor(True)}, f"{folder}/kinds.pt")
"""

MINDSPORE = """
import sys
import numpy as np, mindspore as ms
from mindspore.train import serialization
folder = sys.argv[1]
ms.set_context(device_target="CPU")
values = {"net.weight": np.random.default_rng(1).standard_normal((700, 3)).astype(np.float32),
          "net.bias": np.arange(3, dtype=np.float32), "half": np.ones((2, 2), np.float16), "step": np.int64(7),
          "empty": np.zeros((1,), np.bool_), "counts": np.arange(4, dtype=np.int32)}
np.savez(f"{folder}/values.npz", **values)
listed = [{"name": name, "data": ms.Tensor(value)} for name, value in values.items()]
listed.append({"name": "brain", "data": ms.Tensor(values["net.bias"], ms.bfloat16)})
ms.save_checkpoint(listed, f"{folder}/plain.ckpt")
ms.save_checkpoint(listed, f"{folder}/checked.ckpt", crc_check=True, append_dict={"epoch": 3, "lr": 0.5, "name": "run"})
serialization.SLICE_SIZE = 1
ms.save_checkpoint(listed, f"{folder}/sliced.ckpt")
"""


def make(script: str, folder: Path) -> Path:
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1", "GLOG_v": "3"}
    argv = [sys.executable, "-c", script, str(folder)]
    ended = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert not ended.returncode, ended.stderr[-2000:]
    return folder


def ckpt_of(tensors: dict[str, np.ndarray[Any, Any]], table: str = "") -> bytes:
    """A checkpoint of MindSpore with tensors of float32, and a hash table of this name."""
    values = [
        _field(1, name.encode())
        + _field(
            2,
            b"".join(b"\x08" + bytes([size]) for size in array.shape)
            + _field(2, b"Float32")
            + _field(3, array.tobytes()),
        )
        for name, array in tensors.items()
    ]
    values += [_field(1, table.encode()) + _field(3, _field(1, b"keys"))] if table else []
    return b"".join(_field(1, value) for value in values)


def _field(number: int, content: bytes) -> bytes:
    """Return a field of a protobuf message, of less than 128 bytes."""
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content
