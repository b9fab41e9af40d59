"""Checkpoints as the frameworks write them, each framework started once for all tests."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

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
