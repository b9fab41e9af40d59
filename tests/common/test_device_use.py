"""What a quick look at a project's files says about the device that it is written for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.common.device_use import file_for_npu

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "line",
    ["import torch_npu", "import torch, torch_npu", "import numpy as np, torch_npu", "from torch_npu.npu import amp"],
)
def test_that_a_script_that_imports_torch_npu_needs_an_npu(line: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"import torch\n{line}\n")
    assert file_for_npu(script, None) == script


@pytest.mark.parametrize(
    "text",
    ["try:\n    import torch_npu\nexcept ImportError:\n    pass\n", "import torch_npu_tools\n", "# import torch_npu\n"],
)
def test_that_a_script_that_can_do_without_torch_npu_needs_no_npu(text: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(text)
    assert file_for_npu(script, tmp_path) is None


def test_that_a_file_beside_the_script_counts_and_without_a_script_the_whole_project(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import model\n")
    (tmp_path / "model.py").write_text("import torch_npu\n")
    assert file_for_npu(tmp_path / "train.py", None) == tmp_path / "model.py"
    (tmp_path / "run.sh").write_text("python train.py\n")
    assert file_for_npu(tmp_path / "run.sh", tmp_path) == tmp_path / "model.py"
    assert file_for_npu(None, None) is None


def test_that_a_file_that_the_script_does_not_import_is_not_blamed(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("from parts.network import Net\nimport helpers\n")
    (tmp_path / "batches.py").write_text("import torch_npu\n")
    (tmp_path / "helpers.py").write_text("import os\n")
    assert file_for_npu(tmp_path / "train.py", tmp_path) is None
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "network.py").write_text("from .layers import Layer\n")
    (tmp_path / "parts" / "layers.py").write_text("import torch_npu\n")
    assert file_for_npu(tmp_path / "train.py", tmp_path) == tmp_path / "parts" / "layers.py"
