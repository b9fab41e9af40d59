"""The record of one process of a rehearsal: counted while it runs, written to a part of the report now and then."""

from __future__ import annotations

import atexit
import json
import os
import re
import sys
import time

import ascend_studio
from ascend_studio.writer import process_rank

if False:
    from types import FrameType, TracebackType
    from typing import Any, Callable, Dict, List, Optional, Tuple, Type

PARTS = os.path.join("artifacts", "rehearsal")
MAX_BLOCKED = 200
EVERY = 5.0  # seconds between two writings, so that a killed process leaves nearly all
_KINDS = {
    "raised": ("rehearsal.blocked_raised", "error"),
    "disabled": ("rehearsal.blocked_disabled", "warning"),
    "unknown": ("rehearsal.blocked_unknown", "warning"),
    "ignored": ("rehearsal.blocked_ignored", "info"),
    "asked": ("rehearsal.blocked_asked", "info"),
}
_GPU = re.compile(r"cuda|nccl|nvtx|\bnpu\b|hccl|accelerator|dummy base class", re.IGNORECASE)

stance = ""
device = "cpu"  # or "virtual_npu"
redirected: Dict[str, int] = {}
blocked: List[Dict[str, Any]] = []
# Fills in "operators"; the inventory puts itself here.
contents: List[Callable[[Dict[str, Any]], None]] = []
_noted: Dict[str, bool] = {}
_steps = 0
_written = 0.0
_forked = False
_skip: Tuple[str, ...] = ()


def begin(device: str) -> None:
    global stance
    stance = device
    _find_libraries()
    atexit.register(write)
    sys.excepthook = _excepthook(sys.excepthook)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forget_parent)


def _find_libraries() -> None:
    """Return the folders whose frames do not belong to the script: this guest, the standard library, the installed
    packages.
    """
    global _skip
    package_folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    library = os.path.dirname(os.path.abspath(os.__file__))
    _skip = (package_folder + os.sep, library + os.sep, "<frozen ")


def write_stance() -> None:
    as_npu = "rehearsal.on_virtual_npu" if device == "virtual_npu" else "rehearsal.as_npu"
    note_once({"cuda": "rehearsal.as_cuda", "npu": as_npu, "cpu": "rehearsal.as_cpu", "here": "rehearsal.here"}[stance])


def note_once(key: str, **args: Any) -> None:
    """Write a note once for the whole training: of several ranks the first one does, and of a parent and its children
    one.
    """
    mark = "ASCEND_STUDIO_SAID_" + key.replace(".", "_").upper()
    if key not in _noted and mark not in os.environ and os.environ.get("RANK", "0") == "0":
        os.environ[mark] = "1"
        ascend_studio.note(key, **args)
    _noted[key] = True


def redirect(name: str) -> None:
    redirected[name] = redirected.get(name, 0) + 1


def block(name: str, message: str, kind: str, location: Optional[Tuple[str, int]] = None) -> None:
    """`kind`: "raised"; "disabled" where torch only warns and goes on without it; "ignored" where it does nothing and
    says nothing; "asked" where the answer is that there is no CUDA; "unknown" where the rehearsal has no stand-in."""
    path, line = location or user_location()
    entry = {"name": name, "message": message[:500], "kind": kind, "path": path, "line": line}
    same = [earlier for earlier in blocked if (earlier["path"], earlier["line"], earlier["kind"]) == (path, line, kind)]
    if same or len(blocked) >= MAX_BLOCKED:
        return
    blocked.append(entry)
    rule, severity = _KINDS[kind]
    ascend_studio.finding(rule, severity, path, line, name=name, message=message[:300])


def user_location() -> Tuple[str, int]:
    """Return file and line of the script's own code that led here."""
    frame: Optional[FrameType] = sys._getframe(1)
    location, last = ("", 0), ("", 0)
    while frame is not None and not location[0]:
        last = (frame.f_code.co_filename, frame.f_lineno)
        location = last if is_users(last[0]) else location
        frame = frame.f_back
    return location if location[0] else last


def is_users(path: str) -> bool:
    return not path.startswith(_skip) and not path.startswith("<") and "-packages" + os.sep not in path


def stepped(_step: int) -> None:
    global _steps
    _steps += 1
    if _steps == 1 or time.monotonic() - _written > EVERY:
        write()


def steps() -> int:
    return _steps


def write() -> None:
    """Write the part of this process, whole or not at all; a process that used no device writes nothing."""
    global _written
    _written = time.monotonic()
    part: Dict[str, Any] = {"rank": process_rank.rank(), "stance": stance, "device": device, "steps": _steps}
    part["redirected"], part["blocked"] = redirected, blocked
    for fill in contents:
        fill(part)
    run = os.environ.get(ascend_studio.RUN)
    has_much = redirected or blocked or _steps
    if run is None or not (has_much or (part.get("operators") and not _forked)):
        return  # a loader's worker stacks tensors, no more
    try:
        folder = os.path.join(run, PARTS)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "part.r%d.p%d.json" % (part["rank"], os.getpid()))
        with open(path + ".tmp", "w", encoding="utf-8", errors="replace") as file:
            json.dump(part, file)
        os.replace(path + ".tmp", path)
    except OSError:
        pass


def _excepthook(hook: Callable[..., Any]) -> Callable[..., Any]:
    def report_error(kind: Type[BaseException], error: BaseException, trace: Optional[TracebackType]) -> None:
        if _GPU.search(str(error)):
            block(kind.__name__, str(error), "raised", _location_of(trace))
        hook(kind, error, trace)

    return report_error


def _location_of(trace: Optional[TracebackType]) -> Tuple[str, int]:
    """Return the innermost line of the script's own code in a traceback."""
    location = ("", 0)
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if is_users(path) or not location[0]:
            location = (path, trace.tb_lineno)
        trace = trace.tb_next
    return location


def _forget_parent() -> None:
    """Start a record of its own in a forked child. multiprocessing ends it without atexit, but with its own
    finalizers."""
    global _steps, _forked
    _forked = True
    redirected.clear()
    del blocked[:]
    _steps = 0
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_Child, _Child.finish)


class _Child:
    @staticmethod
    def finish(_self: Any) -> None:
        util = sys.modules["multiprocessing.util"]
        util.Finalize(None, write, exitpriority=0)
