"""Comparisons that are right as they are: what they guard has no way on an NPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.migration.scan.project_scan import scan_project
from tests.migration.plans import FACTS, migrated_text, project

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "import torch\nfrom torch import nn\n"
LEFT = [
    "if device.type == 'cuda':\n    net = nn.DataParallel(net)\nelse:\n    net.to(device)\n",
    "if device.type == 'cuda' and many:\n    net = nn.DataParallel(net)\n    net.to(device)\n",
    "if not device.type == 'cuda':\n    net.to(device)\nelse:\n    net = nn.DataParallel(net)\n",
    "if device.type != 'cuda':\n    net.to(device)\nelse:\n    net = nn.DataParallel(net)\n",
    "if device.type == 'cuda':\n    if a:\n        n = nn.DataParallel(f)\n    else:\n        n = nn.DataParallel(n)\n",
    "net = nn.DataParallel(net) if device.type == 'cuda' else net\n",
    "if device.type == 'cuda':\n    with lock:\n        g = torch.cuda.CUDAGraph()\n",
    "if device.type == 'cuda':\n    torch.backends.cudnn.benchmark = True\n    torch.backends.cudnn.enabled = True\n",
]
EDITED = [
    "if device.type == 'cuda':\n    if many:\n        net = nn.DataParallel(net)\n    scaler = make()\n",
    "if device.type == 'cuda':\n    torch.backends.cudnn.benchmark = True\n    scaler = make()\n",
    "if device.type != 'cuda':\n    net = nn.DataParallel(net)\n",
    "if device.type == 'cuda':\n    def wrap(net):\n        return nn.DataParallel(net)\n",
    "is_cuda = device.type == 'cuda'\nnet = nn.DataParallel(net)\n",
    "if device.type == 'cuda':\n    net = nn.parallel.DistributedDataParallel(net)\n",
]


def rules(folder: Path, text: str) -> list[str]:
    found = scan_project(project(folder, train__py=HEAD + text), FACTS)
    return [one.rule for one in found if one.category == "device_str" and one.kind == "place"]


@pytest.mark.parametrize("text", LEFT)
def test_that_a_comparison_in_front_of_what_no_npu_has_is_left_alone_in_both_styles(tmp_path: Path, text: str) -> None:
    assert rules(tmp_path, text) == ["device_str.guard"]
    for style in ("minimal", "explicit"):
        after = migrated_text(tmp_path, style, HEAD + text)
        assert text.splitlines()[0] in after.splitlines()


@pytest.mark.parametrize("text", EDITED)
def test_that_a_comparison_that_an_npu_may_follow_is_edited(tmp_path: Path, text: str) -> None:
    assert rules(tmp_path, text) == ["device_str.compared"]
    assert "npu" in migrated_text(tmp_path, "minimal", HEAD + text).replace("torch_npu", "").replace("to_npu", "")


BESIDE_NPU = [
    "if is_npu_available():\n    d = 'npu'\nelif torch.cuda.is_available():\n    d = torch.device('cuda')\n",
    "if torch.cuda.is_available():\n    d = x.cuda()\nelif hasattr(torch, 'npu'):\n    d = x.npu()\n",
    "d = x.npu() if use_npu else x.cuda()\n",
    "if not use_npu:\n    x.cuda()\nelse:\n    x.npu()\n",
    "if not use_npu and more:\n    x.cuda()\nelse:\n    pass\nx.to(d)\n",
    "if torch.cuda.is_available():\n    x.cuda()\nif is_npu_available():\n    x.npu()\n",
    "def f():\n    if d.type == 'npu':\n        return 1\n    return torch.cuda.device_count()\n",
    "try:\n    import torch_npu\n    d = 'npu'\nexcept ImportError:\n    d = x.cuda()\n",
]
NOT_BESIDE_NPU = [
    "if use_npu and fused:\n    pass\nelse:\n    x.cuda()\n",
    "if is_npu_available():\n    raise RuntimeError('no NPU')\nelse:\n    x.cuda()\n",
    "if is_npu_available():\n    x = 1\nx.cuda()\n",
    "def f(inputs):\n    if inputs:\n        return 1\n    return x.cuda()\n",
    "if use_npu:\n    x.cuda()\n",
    "if debug:\n    x.cuda()\nif is_npu_available():\n    x.npu()\n",
    "if debug:\n    x.cuda()\nelif use_npu:\n    x.npu()\n",
]


@pytest.mark.parametrize("text", BESIDE_NPU)
def test_that_what_stands_beside_a_branch_for_npus_is_left_alone(tmp_path: Path, text: str) -> None:
    places = [found for found in scan_project(project(tmp_path, train__py=HEAD + text), FACTS) if found.kind == "place"]
    assert places
    assert {found.state for found in places} == {"auto"}
    for style in ("minimal", "explicit"):
        assert migrated_text(tmp_path, style, HEAD + text) == HEAD + text


@pytest.mark.parametrize("text", NOT_BESIDE_NPU)
def test_that_what_an_npu_may_reach_is_edited_although_npus_are_mentioned(tmp_path: Path, text: str) -> None:
    assert "x.cuda()" not in migrated_text(tmp_path, "explicit", HEAD + text)
