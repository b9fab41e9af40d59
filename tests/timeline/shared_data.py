"""Where the real profiles are: the repository holds none of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from studio.places import ROOT

PROFILES = Path(os.environ.get("STUDIO_SHARED", ROOT.parent / "shared")) / "data" / "profiles"
RANK = "ascend_pytorch_2rank"
ASCEND_TEXTS = [f"{RANK}/text/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json" for rank in (0, 1)]
TEXTS = [*ASCEND_TEXTS, "torch_cpu/trace.json", "mindspore_cpu/run_ascend_ms/ASCEND_PROFILER_OUTPUT/trace_view.json"]
DBS = [f"{RANK}/db/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_{rank}.db" for rank in (0, 1)]


def profile(name: str) -> Path:
    """Skips the test where the shared data is absent."""
    path = PROFILES / name
    if not path.exists():
        pytest.skip("no shared data")
    return path
