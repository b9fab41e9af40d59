from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.precision.weights.made import MINDSPORE, TORCH, make

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def of_torch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(TORCH, tmp_path_factory.mktemp("torch"))


@pytest.fixture(scope="session")
def of_mindspore(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(MINDSPORE, tmp_path_factory.mktemp("mindspore"))
