"""One trial: a few steps of the training in a folder of its own, and what they measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from backends.common.summary import NOTE, from_note
from backends.launch.check.guard import Guarded, run_guarded
from backends.launch.plan import launch_command, write_inputs
from backends.launch.spec import Keep, LaunchSpec
from studio.events import Finding, Metric, Note
from studio.run import Run
from studio.tail import RunTail

if TYPE_CHECKING:
    from backends.common.summary import Summary
    from backends.launch.check.guard import Limits
    from studio.events import Event

CHECKPOINTS = Path("artifacts", "checkpoints")
_READ = 1 << 24


@dataclass(frozen=True, kw_only=True)
class Trial:
    """`steps`: seconds of each; `summary` is None where the training did not come to its end; `checkpoint`: bytes of
    one, `pause`: seconds that the steps waited for it."""

    batch: int
    guarded: Guarded
    steps: tuple[float, ...]
    summary: Summary | None
    device: str
    checkpoint: int
    pause: float
    errors: tuple[Finding, ...]

    @property
    def peak(self) -> int:
        """Bytes: the training's own count, exact, else what its guard saw."""
        return self.summary.peak_bytes if self.summary and self.summary.peak_bytes else self.guarded.peak


def spec_of(spec: LaunchSpec, batch: int, steps: int) -> LaunchSpec:
    """The same training with other numbers, in as many processes, so that what they send each other is measured too: it
    keeps one checkpoint at its end, goes on from nowhere and waits for no debugger."""
    return LaunchSpec(
        what=spec.what,
        how=replace(spec.how, batch=batch),
        precision=spec.precision,
        learning=replace(spec.learning, steps=steps, epochs=None),
        data=spec.data,
        keep=Keep(keep=1, ckpt=spec.keep.ckpt),
        parallel=spec.parallel,
        ascend=spec.ascend,
        debug=replace(spec.debug, debug_port=None),
        advanced=spec.advanced,
    )


def try_out(spec: LaunchSpec, folder: Path, run: Run, limits: Limits) -> Trial:
    """Trains in a new folder; its output goes to the log of the run. Raises OSError."""
    (folder / "tmp").mkdir(parents=True)
    (folder / "artifacts").mkdir()
    inside = Run(folder=folder, request=run.request)
    write_inputs(spec, folder)
    command = launch_command(spec, inside)
    command = replace(command, env=command.env | {"TMPDIR": str(folder / "tmp")})
    guarded = run_guarded(command, inside, run.log, limits)
    events = [event for _, rank, rank_events in RunTail(folder).read(_READ) if rank == 0 for event in rank_events]
    return read_trial(spec.how.batch or 0, guarded, events, folder_bytes(folder / CHECKPOINTS))


def read_trial(batch: int, guarded: Guarded, events: list[Event], checkpoint: int) -> Trial:
    metrics = (event.values for event in events if isinstance(event, Metric))
    notes = {event.key: event.args for event in events if isinstance(event, Note)}
    pauses = notes.get("launch.checkpoints", {})
    return Trial(
        batch=batch,
        guarded=guarded,
        steps=tuple(float(values["step_time"]) for values in metrics if "step_time" in values),
        summary=from_note(notes[NOTE]) if NOTE in notes else None,
        device=str(notes.get("launch.device", {}).get("device", "")),
        checkpoint=checkpoint,
        pause=float(pauses.get("seconds", 0.0)) / max(1, int(pauses.get("count", 1))),
        errors=tuple(event for event in events if isinstance(event, Finding) and event.severity == "error"),
    )


def folder_bytes(folder: Path) -> int:
    """What the files in a folder hold, those in folders below too."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
