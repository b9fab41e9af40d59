"""Workers killed with -9: one training, one end, its own code.

Twenty workers of one training, at random moments, ten times over. Then the worker of a launch in its first second, two
hundred times: whoever asked for the run starts it again where nothing has begun. ASCEND_STUDIO_ROUNDS: how often.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.prove.support.kills import kill_first_worker, kill_workers

SCRIPT = "#!/bin/bash\necho begun >> begun; for i in $(seq 200); do sleep 0.05; done; exit 4\n"


def prove() -> dict[str, Any]:
    many = []
    for _ in range(10):
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder) / "python"
            python.write_text(SCRIPT)
            python.chmod(0o755)
            many.append(kill_workers(Path(folder) / "runs", python, rounds=20))
    first = _kill_first_workers(int(os.environ.get("ASCEND_STUDIO_ROUNDS", "200")))
    right = {"begun": 1, "ends": 1, "code": 4}
    is_right = all({name: figures[name] for name in right} == right for figures in many)
    return {"passed": is_right and set(first) <= {"right", "sentence"}, "many": many, "first_second": first}


def _kill_first_workers(rounds: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        outcomes = pool.map(lambda number: kill_first_worker(Path(folder) / str(number), number), range(rounds))
        return dict(Counter(outcomes))
