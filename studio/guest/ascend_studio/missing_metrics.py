"""Writes, at the end of a process without metrics, why there are none: one line in a file of the run's folder.

Whether the run has curves is unknown here: a launcher ends beside its workers, and a shell script's helpers before the
training starts. The worker reads the file when all of them have ended.
"""

from __future__ import annotations

import atexit
import os

import ascend_studio
from ascend_studio import hooks
from ascend_studio.writer import process_rank

FILE = "nothing_seen.a%d"
FRAMEWORKS = ("torch", "mindspore")


def begin() -> None:
    atexit.register(_end, os.getpid())


def _end(pid: int) -> None:
    hooks.guarded("nothing_seen")(_leave)(pid)


def _leave(pid: int) -> None:
    run = os.environ.get(ascend_studio.RUN)
    if run is None or os.getpid() != pid or has_metrics():
        return
    path = os.path.join(run, FILE % process_rank.setting(ascend_studio.ATTEMPT, 1))
    line = _why().encode() + b"\n"
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if line not in os.read(descriptor, 4096):
            os.write(descriptor, line)
    finally:
        os.close(descriptor)


def has_metrics() -> bool:
    """Return whether this process wrote a metric, or waits for room to write it."""
    file = ascend_studio._event_file
    if file is None or file.backlog is not None:
        return file is not None
    with open(file.path, "rb") as lines:
        return any(line.startswith(b'{"type":"metric"') for line in lines)


def _why() -> str:
    """Return the key of the reason."""
    if any(map(hooks.is_off, ("curves", *FRAMEWORKS))):
        return "hooks.why.given_up"
    return next((reason() for reason in hooks.reasons.values()), "hooks.why.no_framework")
