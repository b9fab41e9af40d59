"""The guest's table of what transfer_to_npu covers, held against the wheel that it was read from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.transfer_to_npu import TABLE, covered


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """TORCH_NPU_WHEEL names one; otherwise it is asked of the package index, 44 MB."""
    if "TORCH_NPU_WHEEL" in os.environ:
        return Path(os.environ["TORCH_NPU_WHEEL"])
    wanted = "torch_npu==" + json.loads(TABLE.read_text("utf-8"))["version"]
    line = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-q", "-d", str(tmp_path)]
    try:
        subprocess.run([*line, wanted], stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"no wheel of {wanted} to be had: {error}")
    return next(tmp_path.glob("*.whl"))


def test_that_the_table_says_what_the_wheel_says(wheel: Path) -> None:
    assert covered(wheel) == json.loads(TABLE.read_text("utf-8"))
