"""Profiles for tests: synthetic ones, which are always there, and real ones, which the repository does not hold.

A name begins with its set: "synthetic/torch_cpu/trace.json". Both sets have the same files; the real ones take part in
parametrized tests where `$STUDIO_SHARED` or `../shared` has them.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest

from studio.paths import ROOT
from tests.timeline.synthetic_profiles import write_profiles

PROFILES = Path(os.environ.get("STUDIO_SHARED", ROOT.parent / "shared")) / "data" / "profiles"
SETS = ("synthetic", "real") if PROFILES.is_dir() else ("synthetic",)
RANK = "ascend_pytorch_2rank"
_OUTPUT = "ASCEND_PROFILER_OUTPUT"
TEXT_FOLDERS = [f"{kind}/{RANK}/text/rank{rank}_ascend_pt/{_OUTPUT}" for kind in SETS for rank in (0, 1)]
DB_FOLDERS = [f"{kind}/{RANK}/db/rank{rank}_ascend_pt/{_OUTPUT}" for kind in SETS for rank in (0, 1)]
ASCEND_TEXTS = [f"{folder}/trace_view.json" for folder in TEXT_FOLDERS]
TORCH = [f"{kind}/torch_cpu/trace.json" for kind in SETS]
MINDSPORE = [f"{kind}/mindspore_cpu/run_ascend_ms/{_OUTPUT}/trace_view.json" for kind in SETS]
TEXTS = [*ASCEND_TEXTS, *TORCH, *MINDSPORE]
DBS = [f"{folder}/ascend_pytorch_profiler_{number % 2}.db" for number, folder in enumerate(DB_FOLDERS)]


@cache
def synthetic_root() -> Path:
    """Write the synthetic profiles once per process, into a folder that goes with it."""
    folder = Path(tempfile.mkdtemp(prefix="synthetic-profiles-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return write_profiles(folder)


def profile(name: str) -> Path:
    """Return the path of a profile; the test is skipped where it is a real one that is missing."""
    kind, _, rest = name.partition("/")
    path = (synthetic_root() if kind == "synthetic" else PROFILES) / rest
    if not path.exists():
        pytest.skip("no shared data")
    return path
