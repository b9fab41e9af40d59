"""Precision clicked from end to end, as far as that takes minutes: a closer look, a MindSpore recipe, a proof."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

from studio.paths import ROOT

CLICKS = ROOT / "tests" / "ui" / "precision" / "clicks.py"


def prove() -> dict[str, Any]:
    line = [sys.executable, "-m", "pytest", str(CLICKS)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    counted = re.findall(r"(\d+) (passed|failed)", done.stdout)
    print(done.stdout, file=sys.stderr)
    return {"passed": done.returncode == 0, "tests": {word: int(count) for count, word in counted}}
