from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.packages import skip_without
from tests.planted.making import make
from tests.precision.planted_dumps import HEALTHY, NETWORKS, NOT_CAUSAL, PAIRS, PLANTED, ROUTED
from tests.shared_folders import made_once

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def planted_dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the dumps of PLANTED, HEALTHY and NETWORKS, once for all tests."""
    skip_without("torch", "msprobe")
    pairs = [*(PAIRS[name] for name in (*PLANTED, *HEALTHY)), *NETWORKS, NOT_CAUSAL, ROUTED]
    return made_once(tmp_path_factory, "planted", lambda folder: make(pairs, folder))
