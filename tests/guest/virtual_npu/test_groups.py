"""Two processes that train together on two virtual cards, and the same two on the CPU."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from tests.guest.virtual_npu.two_cards import child

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

SCRIPT = Path(__file__).with_name("groups.py")
LAUNCH = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2", str(SCRIPT))


def ranks(folder: Path, device: str, hooks: str) -> list[dict[str, Any]]:
    """Return what each of the two processes wrote."""
    done = child(folder, *LAUNCH, device, str(folder / device), ASCEND_STUDIO_HOOKS=hooks)
    assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"{device}.{rank}").read_text("utf-8")) for rank in (0, 1)]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """On the virtual NPU and on the CPU, each by rank."""
    folder = tmp_path_factory.mktemp("groups")
    return ranks(folder, "npu", "curves,rehearse=npu"), ranks(folder, "cpu", "curves")


@pytest.mark.parametrize(
    "name", ["collectives", "data_parallel", "fully_sharded", "fully_sharded_from_nothing", "tensor_parallel"]
)
def test_that_two_cards_give_the_bits_of_two_processes_on_the_cpu(pair: Any, name: str) -> None:
    on_npu, on_cpu = ([rank[name] for rank in side] for side in pair)
    assert on_npu == on_cpu
    assert not [rank for rank in on_npu if "error" in rank]


def test_that_a_group_of_cards_takes_no_tensor_of_the_cpu_and_there_is_no_nccl(pair: Any) -> None:
    for rank in pair[0]:
        assert rank["tensor_of_the_cpu_in_the_group"]["error"] == [
            "RuntimeError", "No backend type associated with device type cpu",
        ]  # fmt: skip
        kind, message = rank["group_of_nccl"]["error"]
        assert (kind, "NCCL" in message) == ("RuntimeError", True)


MESH = """
import os, sys, torch, torch_npu
from torch import distributed
from torch.distributed.fsdp import fully_shard

rank = int(os.environ["LOCAL_RANK"])
device = torch.device("npu", rank)
before = torch.npu.is_initialized()
distributed.init_process_group("hccl", device_id=device)
with torch.device("meta"):
    net = torch.nn.Linear(4, 4)
fully_shard(net)
net.to_empty(device=device)
for parameter in net.parameters():
    torch.nn.init.ones_(parameter)
net(torch.ones(2, 4, device=device)).sum().backward()
places = [str(parameter.grad.device) for parameter in net.parameters()]
open(f"{sys.argv[1]}.{rank}", "w").write(f"{before} {torch.npu.is_initialized()} {torch.npu.current_device()} {places}")
"""


def test_that_a_mesh_chooses_the_card_of_a_rank_that_chose_none(tmp_path: Path) -> None:
    """As torch does where a device is not initialized yet; pytorch/examples' FSDP2 relies on it."""
    script = tmp_path / "mesh.py"
    script.write_text(MESH, encoding="utf-8")
    line = (*LAUNCH[:-1], str(script), str(tmp_path / "rank"))
    done = child(tmp_path, *line, ASCEND_STUDIO_HOOKS="curves,rehearse=npu")
    assert done.returncode == 0, done.stderr
    texts = [(tmp_path / f"rank.{rank}").read_text() for rank in (0, 1)]
    assert texts == [f"False True {rank} {[f'npu:{rank}'] * 2}" for rank in (0, 1)]
