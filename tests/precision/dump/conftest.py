"""Tensors that torch saved, made once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with name.pt and name.npy of each, by `save_tensors`."""
    folder = tmp_path_factory.mktemp("保存 🚀")
    script = Path(__file__).with_name("save_tensors.py")
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1"}
    ended = subprocess.run([sys.executable, str(script), str(folder)], env=environment, capture_output=True, text=True)
    if "No module named 'torch'" in ended.stderr:
        pytest.skip("torch is not installed")
    assert ended.returncode == 0, ended.stderr
    return folder
