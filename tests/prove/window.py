"""Twenty windows killed at random moments during one real training: no point lost or doubled, back within 2 s."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from studio import worker
from tests.prove.support.kills import kill_windows
from tests.runs import ended, launch

LIMIT = 2.0


def prove() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        run = launch(Path(folder) / "runs", recipe="digits", mode="jit", steps=1_000_000)
        try:
            figures = kill_windows(run, 20)
        finally:
            worker.stop(run)
        figures["training_went_on"] = ended(run).reason == "stopped"
    passed = not figures["wrong"] and figures["back"] <= LIMIT and figures["training_went_on"]
    return {"passed": passed, "limit": LIMIT, **figures}
