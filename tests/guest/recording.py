"""Processes that record with the guest, and what they left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

GUEST = Path(__file__).parents[2] / "studio" / "guest"


def files(run: Path) -> list[Path]:
    return sorted(run.glob("events*.jsonl"))


def lines(run: Path) -> list[str]:
    return [line for file in files(run) for line in file.read_text("utf-8").split("\n") if line]


def records(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(run)]


def child(run: Path, script: str, python: str = sys.executable, **environment: str) -> str:
    """Run a script that is in a run, in its own process; returns what it printed."""
    inside = {"PYTHONPATH": str(GUEST), "ASCEND_STUDIO_RUN": str(run), **environment}
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    result = subprocess.run(
        [python, "-c", script],
        env=kept | inside,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout
