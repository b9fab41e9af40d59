"""Scripts and hosts that the virtual NPU cannot serve: each ends in a sentence, in time."""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING

import pytest
from ascend_studio import virtual_npu

from studio.paths import GUEST
from tests.guest.rehearsed_process import events
from tests.guest.virtual_npu.two_cards import child

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

RENAMED = "import torch\ntorch.utils.rename_privateuse1_backend({!r})\nimport torch_npu\nprint(torch.ones(1).npu())"
BUILT_FOR_CUDA = """\
import sys
from ascend_studio import hooks
def build(torch):
    torch.version.cuda, torch._C._has_cuda = "12.6", True
    torch._C._cuda_getDeviceCount = lambda: 1
    torch._C._cuda_init = torch.cuda._lazy_init = lambda: sys.exit("the GPU was touched")
hooks._installs["torch"].insert(0, build)
import torch, torch_npu
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(1)
torch.cuda.manual_seed_all(1)
net = torch.nn.Linear(2, 2).npu()
for rows, in DataLoader(TensorDataset(torch.ones(4, 2)), pin_memory=True, num_workers=1):
    with torch.autocast("npu"):
        net(rows.npu(non_blocking=True)).sum().backward()
print(torch.cuda.is_available(), torch.cuda.device_count(), torch.backends.cuda.is_built(), torch.version.cuda)
print(net.weight.grad.device, torch.accelerator.current_accelerator())
torch.ones(1).cuda()
"""
MANY = """\
import torch
net = torch.nn.Linear(4, 4).npu()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
loss = net(torch.ones(1, 4).npu()).sum()
rows = torch.ones(4, 4).npu()
for number in range(100000):
    rows.add_(1)
loss.backward()
optimizer.step()
print(rows[0, 0].item())
"""
ENDLESS = "import torch\nrows = torch.ones(2).npu()\nwhile True:\n    rows.add_(1)"


def _blocked(folder: Path) -> list[str]:
    parts = (folder / "artifacts" / "rehearsal").glob("part.*.json")
    return [call["message"] for part in parts for call in json.loads(part.read_text("utf-8"))["blocked"]]


@pytest.mark.parametrize(("name", "autoload", "taken"), [("mycard", "1", "npu"), ("mycard", "0", "mycard")])
def test_that_a_script_with_a_backend_of_its_own_is_refused_as_beside_torch_npu(
    tmp_path: Path, name: str, autoload: str, taken: str
) -> None:
    script = tmp_path / "train.py"
    script.write_text(RENAMED.format(name))
    done = child(tmp_path, str(script), TORCH_DEVICE_BACKEND_AUTOLOAD=autoload)
    assert done.returncode == 1
    assert f"has already been set! Current backend: {taken}" in done.stderr.splitlines()[-1]


def test_that_a_torch_npu_without_cann_is_not_imported(tmp_path: Path) -> None:
    real = tmp_path / "site" / "torch_npu"
    (real / "utils").mkdir(parents=True)
    (real / "__init__.py").write_text("raise ImportError('libascend_hal.so: cannot open shared object file')")
    (real / "utils" / "__init__.py").touch()
    facts = tmp_path / "site" / "torch_npu-2.13.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: torch-npu\nVersion: 2.13.0\n")
    (facts / "entry_points.txt").write_text("[torch.backends]\ntorch_npu = torch_npu:_autoload\n")
    script = tmp_path / "train.py"
    script.write_text("import torch\nprint(torch.ones(1).npu().device, flush=True)\nimport torch_npu.utils")
    done = child(tmp_path, str(script), PYTHONPATH=f"{GUEST}:{tmp_path / 'site'}")
    assert (done.stdout, done.returncode) == ("npu:0\n", 1), done.stderr
    sentence = "torch_npu.utils has no stand-in in a rehearsal"
    assert sentence in done.stderr.splitlines()[-1]
    assert any(sentence in message for message in _blocked(tmp_path))


@pytest.mark.parametrize("choice", ["auto", "virtual"])
def test_that_a_torch_that_is_too_old_ends_in_a_sentence(tmp_path: Path, choice: str) -> None:
    old = tmp_path / "site" / "torch"
    old.mkdir(parents=True)
    (old / "__init__.py").write_text("__version__ = '1.8.0'\nclass _C:\n    pass\n")
    done = child(
        tmp_path, "-c", "import torch", PYTHONPATH=f"{GUEST}:{tmp_path / 'site'}",
        ASCEND_STUDIO_REHEARSAL_NPU_DEVICE=choice,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("PyTorch 1.8.0 cannot be rehearsed on the CPU.")


@pytest.mark.parametrize("part", ["_construct_storage_from_data_pointer", "_acc", "_dispatch_tls_local_include_set"])
def test_that_a_torch_without_one_part_of_what_is_needed_has_no_virtual_npu(part: str) -> None:
    import torch

    class Core:
        def __getattr__(self, name: str) -> object:
            if name == part:
                raise AttributeError(name)
            return getattr(torch._C, name)

    class Torch:
        _C, library = Core(), torch.library

    assert virtual_npu.is_possible(torch)
    assert not virtual_npu.is_possible(Torch())


def test_that_a_torch_for_cuda_is_that_of_a_host_without_it_and_its_gpu_is_left_alone(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(BUILT_FOR_CUDA)
    done = child(tmp_path, str(script))
    assert done.stdout == "False 0 False None\nnpu:0 npu\n", done.stderr
    assert done.stderr.splitlines()[-1] == "AssertionError: Torch not compiled with CUDA enabled"


def test_that_a_step_of_a_hundred_thousand_operators_is_counted_in_few_rows(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(MANY)
    done = child(tmp_path, str(script))
    assert done.stdout == "100001.0\n", done.stderr
    (part,) = (tmp_path / "artifacts" / "rehearsal").glob("part.*.json")
    counts = {row[0]: row[-1] for row in json.loads(part.read_text("utf-8"))["operators"]}
    assert counts["aten.add_.Tensor"] >= 100000
    assert part.stat().st_size < 100000


def test_that_operators_without_an_end_are_ended_when_the_time_is_over(tmp_path: Path) -> None:
    (tmp_path / "rehearsal_end").write_text("time")
    script = tmp_path / "train.py"
    script.write_text(ENDLESS)
    done = child(tmp_path, str(script))
    assert done.returncode == 0
    assert not [event for event in events(tmp_path) if event["type"] == "finding"]
