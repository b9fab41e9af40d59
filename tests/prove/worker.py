"""Twenty workers of one training killed at random moments, ten times over: one training, one end, its own code."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.prove.support.kills import kill_workers

SCRIPT = "#!/bin/bash\necho begun >> begun; for i in $(seq 200); do sleep 0.05; done; exit 4\n"


def prove() -> dict[str, Any]:
    found = []
    for _ in range(10):
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder) / "python"
            python.write_text(SCRIPT)
            python.chmod(0o755)
            found.append(kill_workers(Path(folder) / "runs", python, rounds=20))
    right = {"begun": 1, "ends": 1, "code": 4}
    return {
        "passed": all(figures == right for figures in found),
        "runs": len(found),
        "kills_each": 20,
        "found": found,
    }
