"""Every test with generated examples, again and again with examples that no run had before.

`bootstrap.py test` takes the same examples every time. ASCEND_STUDIO_ROUNDS: how often all of them run (3).
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from studio import paths

TESTS = paths.ROOT / "tests"


def prove() -> dict[str, Any]:
    files = sorted(str(path) for path in TESTS.rglob("test_*.py") if "@given" in path.read_text("utf-8"))
    rounds = int(os.environ.get("ASCEND_STUDIO_ROUNDS", "3"))
    pytest = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", "-m", "hypothesis"]
    codes = [
        subprocess.run([*pytest, "--hypothesis-profile", "random", *files], cwd=paths.ROOT, check=False).returncode
        for _ in range(rounds)
    ]
    return {"passed": not any(codes), "rounds": rounds, "files": len(files), "failed_rounds": sum(map(bool, codes))}
