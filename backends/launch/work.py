"""Launch, in the worker: keep what is about to run, then run it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.plan import plan, python_of
from studio import code_state, places
from studio.supervisor import supervise

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec
    from studio.events import Ended
    from studio.run import Run


def launch(spec: LaunchSpec, run: Run) -> Ended:
    if not (run.folder / "code.json").exists():
        code_state.keep(run.folder, Path(run.asked.project or places.ROOT), python_of(spec))
    return supervise(plan(spec, run), run, spec.advanced.grace)
