"""Tells, at the end of a training of which no metric was written, why that is."""

from __future__ import annotations

import atexit
import os
import sys

import ascend_studio
from ascend_studio import hooks

if False:  # typing costs more at the start than all the rest
    from typing import Any

RULE = "hooks.nothing_seen"
# Of the first process of each rank, which the processes that it starts inherit: "rank:pid".
FIRST = "ASCEND_STUDIO_FIRST"
FRAMEWORKS = ("torch", "mindspore")

_exit_code: Any = None


def begin() -> None:
    rank, pid = os.environ.get("RANK", ""), os.getpid()
    known_rank, _, known_pid = os.environ.get(FIRST, "").partition(":")
    # The same process again: it has called exec.
    if not known_pid or known_rank != rank or known_pid == str(pid):
        os.environ[FIRST] = "%s:%d" % (rank, pid)
        if rank in ("", "0"):
            _watch_exit()
            atexit.register(_end, pid)


def _watch_exit() -> None:
    """Nothing else tells at the end of a process that it failed: of a wrong option, say."""
    original = sys.exit

    def exit(code: Any = None) -> None:
        global _exit_code
        _exit_code = code
        original(code)

    sys.exit = exit  # type: ignore[assignment]


def _end(pid: int) -> None:
    hooks.guarded("nothing_seen")(_tell)(pid)


def _tell(pid: int) -> None:
    if os.getpid() == pid and not _failed() and not _is_told():
        ascend_studio.finding(RULE, "warning", why=_why())


def _failed() -> bool:
    """By an exception that nobody caught, or by its exit code."""
    return hasattr(sys, "last_type") or _exit_code not in (None, 0, False)


def _is_told() -> bool:
    """A process of this attempt has written a metric, or that there is none."""
    run = os.environ[ascend_studio.RUN]
    begin = "events.a%s." % os.environ.get(ascend_studio.ATTEMPT, "1")
    return any(_tells(os.path.join(run, name)) for name in os.listdir(run) if name.startswith(begin))


def _tells(path: str) -> bool:
    with open(path, "rb") as file:
        return any(line.startswith(b'{"type":"metric"') or RULE.encode() in line for line in file)


def _why() -> str:
    seen = [reason() for reason in hooks.reasons.values()]
    if any(map(hooks.is_off, ("curves", *FRAMEWORKS))):
        return "hooks.why.given_up"
    return seen[0] if seen else "hooks.why.no_framework"
