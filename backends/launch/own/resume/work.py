"""`ascend-studio resume RUN`: prints the command that goes on from the newest whole checkpoint of a run, and starts
nothing."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.launch.own.command_texts import shell_line
from backends.launch.own.resume.offer import resume_offer
from backends.launch.own.resume.sentences import offer_sentences
from studio.errors import StudioError
from studio.exit_codes import DONE, NO, USAGE
from studio.output.terminal import printable
from studio.run import glance, open_run

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.launch.own.resume.offer import Offer
    from backends.launch.own.resume.spec import ResumeSpec


def resume(spec: ResumeSpec, print_message: Callable[[str], None]) -> tuple[int, dict[str, Any]]:
    """Ends with 3 where the run left no whole checkpoint, or its script has no option that was recognised."""
    try:
        run = open_run(spec.ended.run)
        offer = resume_offer(run, glance(run))
    except StudioError as error:
        print_message(str(error))
        return USAGE, {}
    for sentence in offer_sentences(offer):
        print_message(sentence)
    project = Path(run.request.project) if run.request.project else None
    if offer.is_complete:
        print_message(printable(shell_line(offer.spec, project)))
    return (DONE if offer.is_complete else NO), resume_answer(offer)


def resume_answer(offer: Offer) -> dict[str, Any]:
    """What `--json` prints: `line` is null where nothing can be filled in."""
    checkpoint, option = offer.checkpoint, offer.option
    return {
        "line": list(offer.spec.program.line) if offer.is_complete else None,
        "shell": shlex.join(offer.spec.program.line) if offer.is_complete else None,
        "workdir": str(offer.spec.program.workdir),
        "option": option.option.flag if option else None,
        "checkpoint": str(checkpoint.path) if checkpoint else None,
        "kind": checkpoint.kind if checkpoint else None,
        "step": checkpoint.step if checkpoint else None,
        "epoch": checkpoint.epoch if checkpoint else None,
        "content_known": bool(checkpoint and checkpoint.parts is not None),
        "not_restored": list(offer.missing),
        "passed_over": [{"path": str(passed.path), "reason": passed.reason} for passed in offer.passed_over],
        "is_partial": offer.is_partial,
        "sentences": offer_sentences(offer),
    }
