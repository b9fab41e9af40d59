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
