"""Twenty trainings that ignore SIGTERM, fork twice and call setsid: nothing is left 10 s after the grace."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from studio import processes, worker
from tests.runs import ended, launch, wait_for
from tests.studio.stubborn_training import EVIL

GRACE = 1.0


def _round(number: int) -> tuple[float, int, int]:
    """Seconds from the stop to the end, how many processes there were, how many are left."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "python"
        python.write_text(
            "#!/bin/bash\n" + (EVIL if number % 2 else EVIL.replace("while :; do sleep 0.2; done\n", "sleep 30\n"))
        )
        python.chmod(0o755)
        run = launch(Path(folder) / "runs", python, grace=GRACE)
        wait_for((run.folder / "ready").exists)
        time.sleep(0.3)
        mark = processes.read_mark(run.folder / "worker.json")
        assert mark is not None
        family = processes.descendants([mark.pid])
        begun = time.monotonic()
        worker.stop(run)
        ended(run)
        seconds = time.monotonic() - begun
        left = [one for one in family if processes.is_same(one)]
        return seconds, len(family), len(left)


def prove() -> dict[str, Any]:
    rounds = [_round(number) for number in range(20)]
    worst = max(seconds for seconds, _, _ in rounds)
    left = sum(left for _, _, left in rounds)
    return {
        "passed": not left and worst < GRACE + 10, "rounds": len(rounds), "worst_seconds": round(worst, 2),
        "grace": GRACE, "processes_each": rounds[0][1], "left": left,
    }  # fmt: skip
