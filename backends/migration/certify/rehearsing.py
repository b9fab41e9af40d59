"""The two rehearsals: runs of their own beside the certificate's, so that each has its log, its curves and its page."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from studio import files, worker
from studio import run as runs
from studio.supervisor import STOP

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.certify.spec import CertifySpec
    from studio.run import Glance, Run

COMMAND = "rehearse"
# As the guest reads it: a host with CUDA has no torch_npu, and code for both is to take its path for CUDA.
CUDA_ALONE = {"ASCEND_STUDIO_REHEARSAL_NPU": "no"}
BEGUN = "begun.json"
EVERY = 0.2
LONGEST = 60.0
"""Seconds that a rehearsal has to end in."""
OVER = ("ended", "lost")


def values(spec: CertifySpec, stance: str, line: tuple[str, ...], workdir: Path) -> dict[str, Any]:
    """As run.json of a rehearsal has them; `tests/migration` holds them against its spec."""
    proof = spec.proof
    python = spec.training.python
    return {
        "program": {"line": list(line), "workdir": str(workdir), "python": str(python) if python.parts else ""},
        "rehearsal": {
            "stance": stance, "steps": proof.steps, "minutes": proof.minutes, "memory": proof.memory,
            "host_cards": proof.host_cards, "seed": proof.seed,
        },
        "environment": {"env": dict(spec.environment.env) | (CUDA_ALONE if stance == "cuda" else {})},
    }  # fmt: skip


def run_to_end(beside: Run, command: str, asked: dict[str, Any], top: Path) -> tuple[Run, Glance]:
    """A run of its own; a stop of this worker is passed on. Raises StudioError where it cannot be started."""
    run = runs.create(beside.folder.parent, command, asked, top)
    files.write_json(beside.folder / BEGUN, run.name)
    worker.start(run)
    is_told = False
    while (glance := runs.glance(run)).state not in OVER:
        if STOP.asked and not is_told:
            is_told = worker.stop(run)
        time.sleep(EVERY)
    worker.reap_started()
    return run, glance


def end_begun(beside: Run) -> None:
    """Ends what a worker of this certificate that was killed has left at work in its copies. Raises StudioError."""
    name = files.read_json(beside.folder / BEGUN)
    if not isinstance(name, str) or not (beside.folder.parent / name / "run.json").exists():
        return
    run, latest = runs.open_run(beside.folder.parent / name), time.monotonic() + LONGEST
    while (state := runs.glance(run).state) not in OVER and time.monotonic() < latest:
        if state == "unattended":
            worker.start(run)
        worker.stop(run)
        time.sleep(EVERY)
    worker.reap_started()
