"""A process of the user's with two virtual cards."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from studio.paths import GUEST

ROOT = Path(__file__).parents[3]
TWO_CARDS = {"ASCEND_STUDIO_REHEARSAL_DEVICES": "2", "ASCEND_STUDIO_HOOKS": "curves,rehearse=npu"}


def child(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env = kept | {"PYTHONPATH": str(GUEST), "OMP_NUM_THREADS": "1", "ASCEND_STUDIO_RUN": str(folder)} | TWO_CARDS | more
    line = [sys.executable, "-W", "ignore", *words]
    return subprocess.run(line, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


def results_of(probes: Path, folder: Path) -> dict[str, Any]:
    """Return what each probe of a file returned, by its name; all run in one child."""
    names = re.findall(r"^def (\w+)\(\) ->", probes.read_text("utf-8"), re.MULTILINE)
    done = child(folder, str(probes), *names, PYTHONPATH=f"{GUEST}{os.pathsep}{ROOT}")
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return results


def part(folder: Path) -> dict[str, Any]:
    """What the one process of a rehearsal left in its run's folder."""
    (path,) = (folder / "artifacts" / "rehearsal").glob("part.*.json")
    values: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return values
