"""Runs as a rehearsal leaves them, for its card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from backends.common.rehearsal import FILE, Blocked, Report
from backends.launch.rehearse.spec import RehearseSpec
from studio import files, schema
from studio import run as runs
from studio.events import Ended, Journal

if TYPE_CHECKING:
    from studio.run import Run
    from ui.services.session import Session

MESSAGE = "Torch not compiled with CUDA enabled"
REPORT = Report(
    stance="npu", steps=0, losses=(0.5, "NaN"), redirected={f"Tensor.f{place}": 1500 for place in range(20)},
    blocked=(Blocked(name="torch.cuda", message=MESSAGE, kind="raised", path="/x/train.py", line=5),), operators=17,
    processes=2, ended="script", answer=False,
)  # fmt: skip


def rehearsed(session: Session, report: Report | None, code: int = 0) -> Run:
    """A run as a rehearsal leaves it."""
    session.folder.mkdir(parents=True, exist_ok=True)
    spec = schema.with_value(RehearseSpec(), "line", ("python", "train.py"))
    run = runs.create(session.folder, "rehearse", schema.to_json(spec))
    (run.folder / "artifacts").mkdir(exist_ok=True)
    if report is not None:
        files.write_json(run.folder / FILE, msgspec.to_builtins(report))
    Journal(run.folder, 1).write(Ended(code=code, reason="no" if code == 3 else ""))
    session.refresh_runs()
    return run
