"""acc_check of one operator, in the worker; with the details of another device, both held against each other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.acc.result import ACC_FILE, FOLDER, AccResult
from backends.precision.dump.names import name_of
from backends.precision.msprobe import acc_check as msprobe
from backends.precision.sides import call_of, open_comparison_run, sides_of
from studio import files
from studio.errors import Stopped, StudioError
from studio.events import Artifact, Ended, Finding, Journal, Note, Progress
from studio.exit_codes import NO, STOPPED

if TYPE_CHECKING:
    from backends.precision.acc.spec import AccSpec
    from backends.precision.msprobe.acc_check import Accuracy
    from backends.precision.sides import CallSide
    from studio.run import Run


def acc_check(spec: AccSpec, run: Run) -> Ended:
    """Leaves artifacts/acc_check.json and msprobe's tables beside it. Raises StudioError."""
    journal = Journal(run.folder, 1)
    side = _side(spec)
    device = spec.alone.device if spec.alone.device != "auto" else msprobe.npu_devices()[0]
    python = spec.alone.check_python if spec.alone.check_python.parts else Path(sys.executable)
    scratch = run.folder / FOLDER
    journal.write(Progress(done=0, total=1 + bool(spec.alone.against.parts), phase="acc-check"))
    try:
        checked = msprobe.run_acc_check(side.folder, side.call, scratch, python)
        compared = _against(spec.alone.against, device, scratch, python)
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")
    result = AccResult(call=side.call, device=device, checked=checked, compared=compared)
    files.write_json(run.folder / ACC_FILE, result)
    journal.write(Artifact(kind="acc_check", path=ACC_FILE), result_note(result))
    return Ended(code=NO, reason="no") if result.worst else Ended(code=0)


def _side(spec: AccSpec) -> CallSide:
    """Raises StudioError where acc_check does not take such a call."""
    comparison = open_comparison_run(spec.chosen.comparison)
    sides = sides_of(comparison, call_of(comparison, spec.chosen.call))
    side = next((candidate for candidate in sides if candidate.name == spec.alone.acc_side), sides[0])
    if side.framework == "mindspore":
        raise StudioError("precision.acc.torch_only")
    if name_of(side.call).type:
        raise StudioError("precision.acc.module", call=side.call)
    return side


def _against(other: Path, device: str, scratch: Path, python: Path) -> tuple[Accuracy, ...]:
    if not other.parts:
        return ()
    details, other_details = msprobe.details_in(scratch), msprobe.details_in(other)
    if details is None or other_details is None:
        raise StudioError("precision.acc.no_details", place=str(other))
    npu, gpu = (details, other_details) if device == "npu" else (other_details, details)
    return tuple(msprobe.read_accuracy(msprobe.compare_devices(npu, gpu, scratch, python)))


def result_note(result: AccResult) -> Finding | Note:
    worst = result.worst
    if worst is None:
        return Note(key="precision.acc.good", args={"name": result.call, "device": result.device.upper()})
    args = {
        "name": result.call, "device": result.device.upper(), "forward": worst.forward or "–",
        "backward": worst.backward or "–", "message": worst.message or "–",
    }  # fmt: skip
    return Finding(rule="precision.acc.bad", severity="warning", args=args)
