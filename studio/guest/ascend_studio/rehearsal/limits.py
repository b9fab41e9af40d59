"""Ends a rehearsal after its steps, or when the worker asks: as the script's own sys.exit(0) would."""

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

_looked = 0.0
_asked = 0.0


def install() -> None:
    hooks.on_step("rehearsal_report", record.stepped)
    hooks.on_step("rehearsal", _stepped)


def _stepped(_step: int) -> None:
    most = int(os.environ.get(STEPS) or 0)
    if most and record.steps() >= most:
        record.note_once("rehearsal.steps_done", steps=record.steps())
        _end()
    if _end_is_asked():
        _end()


def tick() -> None:
    """Called at operators: a training without steps ends too."""
    if _end_is_asked() and time.monotonic() - _asked > LATE:
        _end()


def _end_is_asked() -> bool:
    global _looked, _asked
    now = time.monotonic()
    if now - _looked > EVERY:
        _looked = now
        if not _asked and os.path.exists(os.path.join(os.environ.get(ascend_studio.RUN, ""), END)):
            _asked = now
    return bool(_asked)


def _end() -> Any:
    record.write()
    raise SystemExit(0)
