"""Export, in the worker: a framework writes its own format, in a process of its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.export.spec import pointer_of, suffix_of
from backends.launch.launchers import ENGINE
from studio import files, interpreters
from studio.command import Command
from studio.supervisor import supervise

if TYPE_CHECKING:
    from backends.launch.export.spec import ExportSpec
    from studio.events import Ended
    from studio.run import Run

GRACE = 10.0
MODULES = {".ckpt": "ascend_engine.checkpoints.export", ".pth": "ascend_engine.pytorch.export"}


def export(spec: ExportSpec, run: Run) -> Ended:
    return supervise(export_command(spec, run), run, GRACE)


def export_command(spec: ExportSpec, run: Run) -> Command:
    """Which checkpoint a pointer names is read here. Raises OSError where it is gone by now."""
    pointer = pointer_of(spec.export.source, spec.export.which)
    folder = pointer.parent / files.read_bytes(pointer).decode("utf-8", "replace")
    python = str(interpreters.embedded())
    argv = (
        python,
        "-m",
        MODULES[suffix_of(spec.export.source)],
        "--checkpoint",
        str(folder),
        "--out",
        str(out_of(spec, run)),
    )
    return Command(argv=argv, cwd=run.folder, env={"PYTHONPATH": str(ENGINE)})


def out_of(spec: ExportSpec, run: Run) -> Path:
    if spec.export.out != Path():
        return spec.export.out
    return run.folder / "artifacts" / f"weights{suffix_of(spec.export.source)}"
