"""Capture, in the worker of a run of its own: asks the training of another run, and follows it until that is done."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from backends.launch.capture import state
from backends.launch.capture.forecast import forecast_in
from studio import files
from studio import run as runs
from studio.errors import StudioError
from studio.events import Artifact, Ended, Finding, Journal, Note
from studio.supervisor import STOP

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.capture.forecast import Forecast
    from backends.launch.capture.spec import Capture, CaptureSpec
    from backends.launch.capture.state import Rank, Request
    from studio.run import Run

ANSWER = "artifacts/capture.json"
POLL_SECONDS = 0.1
# What ended with its training may still be telling how it ended.
AFTER_THE_END = 5.0


def capture(spec: CaptureSpec, run: Run) -> Ended:
    """Leaves artifacts/capture.json; the trace or the dump stays in the run that was captured."""
    source = runs.open_run(spec.capture.run)
    request, expected = request_capture(source, spec.capture)
    journal = Journal(run.folder, 1)
    journal.write(forecast_note(expected, request))
    ranks = _follow(source.folder, request, journal)
    if not ranks:
        return _nothing(source, request, journal)
    files.write_json(run.folder / ANSWER, [{"rank": rank, **_plain(state)} for rank, state in ranks.items()])
    journal.write(
        *(
            Artifact(kind=progress.kind, path=_location_of(source, progress))
            for progress in ranks.values()
            if progress.path
        )
    )
    failures = [progress.finding for progress in ranks.values() if progress.finding]
    journal.write(*failures)
    return Ended(code=1 if failures else 0)


def request_capture(source: Run, chosen: Capture) -> tuple[Request, Forecast]:
    """Raises StudioError where nobody would answer, or an earlier request is not over."""
    glance = runs.glance(source)
    if glance.state not in ("running", "unattended"):
        raise StudioError("capture.not_running", run=source.name)
    if not state.ready(source.folder):
        raise StudioError("capture.no_hooks", run=source.name)
    if is_busy(source.folder):
        raise StudioError("capture.busy", run=source.name)
    request = state.request_of(chosen)
    expected = forecast_in(source.folder, request)
    request = state.request_of(chosen, expected.need)
    state.write_request(source.folder, request)
    return request, expected


def is_busy(folder: Path) -> bool:
    """Whether a request waits or works. One whose training has gone is nobody's."""
    request = state.newest_request(folder)
    return request is not None and not state.is_over(folder, request)


def forecast_note(expected: Forecast, request: Request) -> Note:
    """What is to be expected, as a note."""
    from studio.units import size

    low, high = expected.slower
    slower = f"{low:.1f}" if low == high else f"{low:g}–{high:g}"
    if expected.total_bytes is None:
        return Note(key="capture.estimate_time", args={"slower": slower})
    each = size(expected.total_bytes // max(1, request.steps))
    args = {"size": size(expected.total_bytes), "each": each, "slower": slower, "steps": request.steps}
    return Note(key=_key_of(expected, request), args=args)


def _key_of(expected: Forecast, request: Request) -> str:
    if expected.is_measured:
        return "capture.measured"
    if expected.is_upper_bound:
        return "capture.estimate_most"
    is_whole = request.kind == "dump" and request.task == "tensor"
    return "capture.estimate_tensor" if is_whole else "capture.estimate"


def _follow(folder: Path, request: Request, journal: Journal) -> dict[int, Rank]:
    """What each rank came to; nothing where none took it up in time."""
    reported: set[str] = set()
    ends = 0.0
    while not state.is_over(folder, request):
        if STOP.stop_requests:
            state.withdraw(folder, request)
            return {}
        if runs.glance(runs.open_run(folder)).state in runs.OVER:
            ends = ends or time.monotonic() + AFTER_THE_END
            if time.monotonic() > ends or not state.ranks(folder, request.id):
                break
        for rank_progress in list(state.ranks(folder, request.id).values())[:1]:
            _report_rank(rank_progress, reported, journal)
        time.sleep(POLL_SECONDS)
    finished = {rank: progress for rank, progress in state.ranks(folder, request.id).items() if progress.is_over}
    for rank_progress in list(finished.values())[:1]:
        _report_rank(rank_progress, reported, journal)
    return finished


def _report_rank(rank: Rank, reported: set[str], journal: Journal) -> None:
    """Each of its news once."""
    from studio.units import duration, size

    if rank.state in ("begun", "done") and "begun" not in reported:
        reported.add("begun")
        journal.write(Note(key="capture.begun", args={"step": rank.start, "kind": rank.kind, "steps": rank.steps}))
    if rank.seconds and "first" not in reported:
        reported.add("first")
        usual = duration(rank.usual) if rank.usual else "–"
        args = {"seconds": duration(rank.seconds), "usual": usual, "size": size(rank.byte_count)}
        journal.write(Note(key="capture.first_step", args=args))


def _nothing(source: Run, request: Request, journal: Journal) -> Ended:
    if STOP.stop_requests:
        return Ended(code=130, reason="stopped")
    journal.write(Finding(rule="capture.run_ended", severity="error", args={"run": source.name}))
    return Ended(code=1)


def _location_of(source: Run, rank: Rank) -> str:
    return str(source.folder / rank.path)


def _plain(rank: Rank) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(rank)
    return plain


def capture_answer(run: Run) -> dict[str, Any]:
    """For `--json`: what each rank came to."""
    captures = files.read_json(run.folder / ANSWER)
    try:
        return {"captures": [state.with_current_keys(rank) for rank in captures]}
    except TypeError:
        return {}
