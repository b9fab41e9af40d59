"""The end of a rehearsal: after its steps, or when the worker asks, as the script's own sys.exit(0) would end it."""

from __future__ import annotations

import os
import time

import ascend_studio
from ascend_studio import hooks
from ascend_studio.rehearsal import record

if False:
    from typing import Any

STEPS = "ASCEND_STUDIO_REHEARSAL_STEPS"
END = "rehearsal_end"  # the worker writes the reason into this file of the run's folder
LATE = 10.0  # seconds that a step may take to its end, once the end is asked for
EVERY = 0.5

_polled_at = 0.0
_requested_at = 0.0


def install() -> None:
    hooks.on_step("rehearsal_report", record.stepped)
    hooks.on_step("rehearsal", _stepped)


def _stepped(_step: int) -> None:
    max_steps = int(os.environ.get(STEPS) or 0)
    if max_steps and record.steps() >= max_steps:
        record.note_once("rehearsal.steps_done", steps=record.steps())
        _end()
    if _is_end_requested():
        _end()


def tick() -> None:
    """Check the limits at operators, so that a training without steps ends too."""
    if _is_end_requested() and time.monotonic() - _requested_at > LATE:
        _end()


def _is_end_requested() -> bool:
    global _polled_at, _requested_at
    now = time.monotonic()
    if now - _polled_at > EVERY:
        _polled_at = now
        if not _requested_at and os.path.exists(os.path.join(os.environ.get(ascend_studio.RUN, ""), END)):
            _requested_at = now
    return bool(_requested_at)


def _end() -> Any:
    record.write()
    raise SystemExit(0)
