"""The window is killed while a training runs: the short version of `prove window`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio import worker
from tests.prove.support.kills import kill_windows
from tests.runs import ended, launch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TRAINING = """python3 -c "
import time, ascend_studio
for step in range(1, 100000):
    ascend_studio.metric(step, loss=1 / step)
    time.sleep(0.002)
"
"""


def test_that_windows_killed_at_random_moments_lose_and_double_no_point(
    tmp_path: Path, interpreter: Callable[[str], Path]
) -> None:
    run = launch(tmp_path / "runs", interpreter(TRAINING), grace=0.0)
    figures = kill_windows(run, rounds=3)
    worker.stop(run)
    assert figures["wrong"] == 0
    assert ended(run).reason == "stopped"
