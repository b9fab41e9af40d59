"""The wheel that contracts are held against."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.transfer_to_npu import TABLE
from tests.shared_folders import made_once


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """TORCH_NPU_WHEEL names one; otherwise it is asked of the package index, 44 MB."""
    if "TORCH_NPU_WHEEL" in os.environ:
        return Path(os.environ["TORCH_NPU_WHEEL"])
    folder = made_once(tmp_path_factory, "torch_npu_wheel", _download)
    return next(folder.glob("*.whl"))


def _download(folder: Path) -> None:
    downloaded(folder, "torch_npu==" + json.loads(TABLE.read_text("utf-8"))["version"])


def downloaded(folder: Path, requirement: str) -> None:
    """Have a wheel from the package index in a folder; the test is left out where there is none to be had."""
    line = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-q", "-d", str(folder)]
    try:
        subprocess.run([*line, requirement], stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"no wheel of {requirement} to be had: {error}")
