"""Whether what was planned for a training is there at its end: all steps of its capture, and its configuration pack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.launch.capture import state
from backends.launch.capture.spec import FIRST_PROFILED
from studio.events import Finding
from studio.sentences import with_ranks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.launch.capture.state import Rank, Request

SHORT = "capture.planned_short"
MISSING = "capture.planned_missing"
NO_PACK = "capture.no_config_pack"
PACKS = "artifacts/config"


def missing_parts(folder: Path) -> list[Finding]:
    """Return what is missing of all that was planned for the training of a run that has ended, its capture last."""
    planned = state.read_planned(folder)
    if planned is None:
        return []
    is_unkept = planned.config_pack and not any((folder / PACKS).glob("rank*.zip"))
    findings = [Finding(rule=NO_PACK, severity="warning")] if is_unkept else []
    return findings if planned.request is None else [*findings, *_of_capture(folder, planned.request)]


def _of_capture(folder: Path, request: Request) -> Iterator[Finding]:
    """Yield each gap once, with its ranks where not all of them have it."""
    states = state.ranks(folder, request.id)
    if not states and _is_withdrawn(folder, request):
        return
    wanted = state.requested_ranks(folder, request) | states.keys()
    ranks_by_gap: dict[str, tuple[Finding, list[int]]] = {}
    for number in sorted(wanted):
        gap = _gap(folder, request, states.get(number))
        if gap is not None:
            ranks_by_gap.setdefault(repr(gap), (gap, []))[1].append(number)
    for gap, ranks in ranks_by_gap.values():
        yield gap if len(ranks) == len(wanted) else with_ranks(gap, ranks)


def _is_withdrawn(folder: Path, request: Request) -> bool:
    """Return whether somebody took the request back before any rank had taken it up."""
    newest = state.newest_request(folder)
    return newest is None or newest.id != request.id


def _gap(folder: Path, request: Request, rank: Rank | None) -> Finding | None:
    if rank is None:
        has_trained = bool(state.ready(folder))
        first = request.start if request.start >= 0 else FIRST_PROFILED
        return _missing("capture.not_reached", start=first) if has_trained else _missing("capture.why.no_training")
    if rank.state == "failed":
        return _missing(rank.rule, **rank.args)
    if rank.state in ("armed", "begun"):
        return _missing("capture.why.unfinished")
    if rank.state == "done" and rank.done < rank.steps:
        last, planned = rank.start + rank.done - 1, rank.start + rank.steps - 1
        args = {"done": rank.done, "steps": rank.steps, "last": last, "planned": planned}
        return Finding(rule=SHORT, severity="warning", args=args)
    return None


def _missing(why: str, **args: Any) -> Finding:
    return Finding(rule=MISSING, severity="warning", args={"why": why, "why_args": args})
