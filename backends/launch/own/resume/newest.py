"""The newest whole checkpoint of a run, and what was passed over on the way to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Literal

from backends.launch.own.resume.checkpoint import Checkpoint, content_in
from backends.launch.own.resume.folders import read_folder, refuse_cut_safetensors
from backends.launch.own.resume.search import form_of
from backends.launch.own.resume.torch_content import HalfWritten, content_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backends.launch.own.resume.search import Candidate, SearchResult

Reason = Literal["half_written", "weights_alone", "form_unknown", "unreadable", "overwritten"]
REASONS: tuple[Reason, ...] = ("half_written", "overwritten", "weights_alone", "form_unknown", "unreadable")
"""Why a checkpoint was passed over, what matters most first."""
SPARE = 2 * 10**9
"""ns by which the time of a file may be behind the moment when the hooks noted it whole: clocks of file systems."""
MAX_READ = 500
"""Candidates that are read: behind so many without a whole one there is hardly any."""


@dataclass(frozen=True, kw_only=True)
class PassedOver:
    path: Path
    reason: Reason


@dataclass(frozen=True, kw_only=True)
class Choice:
    """`checkpoint`: None where no whole one was there. `passed_over`: what is newer than it, newest first."""

    checkpoint: Checkpoint | None
    passed_over: tuple[PassedOver, ...] = ()


def newest_whole(result: SearchResult) -> Choice:
    """Choose the newest checkpoint that holds more than weights; where there is none, the newest weights. What the
    hooks noted counts first: beside it may lie those of another run. Reads files, so not for the UI thread."""
    overwritten = tuple(PassedOver(path=path, reason="overwritten") for path in result.overwritten)
    noted = [candidate for candidate in result.candidates if candidate.noted]
    folders = {candidate.path.parent for candidate in noted}
    above = {candidate.path.parent for candidate in noted if candidate.folder is not None}
    neighbours = (
        candidate
        for candidate in result.candidates
        if candidate.path.parent in folders or candidate.path.parent.parent in above
    )
    choice = _choose(neighbours, must_be_noted=True)
    if choice.checkpoint is None:
        choice = _choose(result.candidates, must_be_noted=False)
    return replace(choice, passed_over=(*overwritten, *choice.passed_over))


def _choose(candidates: Iterable[Candidate], *, must_be_noted: bool) -> Choice:
    passed_over: list[PassedOver] = []
    weights: tuple[Checkpoint, int] | None = None
    for candidate in islice(candidates, MAX_READ):
        checkpoint = _read(candidate, passed_over)
        if checkpoint is None or (must_be_noted and not candidate.noted):
            continue
        if checkpoint.has_state:
            return Choice(checkpoint=checkpoint, passed_over=tuple(passed_over))
        weights = weights or (checkpoint, len(passed_over))
        passed_over.append(PassedOver(path=checkpoint.path, reason="weights_alone"))
    if weights is None:
        return Choice(checkpoint=None, passed_over=tuple(passed_over))
    return Choice(checkpoint=weights[0], passed_over=tuple(passed_over[: weights[1]]))


def _read(candidate: Candidate, passed_over: list[PassedOver]) -> Checkpoint | None:
    """Return the checkpoint, None where there is no whole one; what looks like one and is not is added to
    `passed_over`."""
    try:
        if candidate.folder is not None:
            return read_folder(candidate.folder)
        return _read_file(candidate, passed_over)
    except HalfWritten:
        passed_over.append(PassedOver(path=candidate.path, reason="half_written"))
    except OSError:
        passed_over.append(PassedOver(path=candidate.path, reason="unreadable"))
    return None


def _read_file(candidate: Candidate, passed_over: list[PassedOver]) -> Checkpoint | None:
    """A file that the hooks saw whole counts in whatever form it is; of others, what torch.save writes today. Weights
    in safetensors are no checkpoint of their own, but a cut one is what is left of one."""
    if candidate.path.suffix == ".safetensors":
        refuse_cut_safetensors(candidate.path)
        return None
    path, form = candidate.path, form_of(candidate.path)
    if form != "zip":
        if candidate.noted and candidate.time <= candidate.noted + SPARE:
            return Checkpoint(path=path, kind="torch", time=candidate.time)
        if candidate.noted or form == "old":
            passed_over.append(PassedOver(path=path, reason="form_unknown"))
        return None
    value = content_of(path)
    if value is None:
        return Checkpoint(path=path, kind="torch", time=candidate.time)
    content = content_in(value)
    if content is None:
        return None
    return Checkpoint(
        path=path, kind="lightning" if content.is_lightning else "torch", time=candidate.time, step=content.step,
        epoch=content.epoch, parts=content.parts,
    )  # fmt: skip
