"""A script in a process of its own, with or without the hooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from studio.paths import GUEST

if TYPE_CHECKING:
    from pathlib import Path

    from backends.common.rehearsal import Report
    from studio.events import Finding

    Verdict = tuple[Report, Finding | None]


def child(folder: Path, script: str, *words: str, hooks: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    path = folder / "train.py"
    path.write_text(script, encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env = kept | {"PYTHONPATH": str(GUEST), "OMP_NUM_THREADS": "1"} | more
    if hooks:
        env |= {"ASCEND_STUDIO_RUN": str(folder), "ASCEND_STUDIO_HOOKS": hooks}
    line = [sys.executable, "-W", "ignore", str(path), *words]
    return subprocess.run(
        line, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300
    )


def events(folder: Path) -> list[dict[str, Any]]:
    files = sorted(folder.glob("events*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
