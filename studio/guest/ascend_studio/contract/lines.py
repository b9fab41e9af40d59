"""The lines of the script and its modules that ran."""

from __future__ import annotations

import atexit
import sys
import threading

from ascend_studio.contract import log
from ascend_studio.rehearsal import record

if False:
    from types import FrameType
    from typing import Any, Dict, Optional

MAX_FILES = 2000
TOOL = 4  # of sys.monitoring; 0 to 3 and 5 are those of debuggers, coverage, profilers and optimizers

_is_users: Dict[str, bool] = {}


def begin() -> None:
    """Follow the lines from here on; what is under way counts as far as it is."""
    frame: Optional[FrameType] = sys._getframe(1)
    if sys.gettrace() is not None:  # a debugger's: it stays
        return
    monitoring = getattr(sys, "monitoring", None)
    while frame is not None:
        if _belongs(frame.f_code.co_filename):
            for line in range(frame.f_code.co_firstlineno, frame.f_lineno + 1):
                _seen(frame.f_code.co_filename, line)
            if monitoring is None:
                frame.f_trace = _trace_line
        frame = frame.f_back
    if monitoring is None:
        sys.settrace(_trace_call)
        threading.settrace(_trace_call)
        atexit.register(_end)
    else:
        _monitor(monitoring)


def _end() -> None:
    """What Python still runs while it ends finds no module of ours any more."""
    sys.settrace(None)
    threading.settrace(None)


def _monitor(monitoring: Any) -> None:
    def ran(code: Any, line: int) -> Any:
        if _belongs(code.co_filename):
            _seen(code.co_filename, line)
        return monitoring.DISABLE

    monitoring.use_tool_id(TOOL, "ascend_studio")
    monitoring.register_callback(TOOL, monitoring.events.LINE, ran)
    monitoring.set_events(TOOL, monitoring.events.LINE)


def _belongs(path: str) -> bool:
    known = _is_users.get(path)
    if known is None:
        known = _is_users[path] = record.is_users(path)
    return known


def _seen(path: str, line: int) -> None:
    numbers = log.lines.get(path)
    if numbers is None:
        if len(log.lines) >= MAX_FILES:
            return
        numbers = log.lines[path] = set()
    numbers.add(line)


def _trace_call(frame: Any, _event: str, _argument: Any) -> Any:
    path = frame.f_code.co_filename
    if not _belongs(path):
        return None
    _seen(path, frame.f_lineno)
    return _trace_line


def _trace_line(frame: Any, event: str, _argument: Any) -> Any:
    if event == "line":
        _seen(frame.f_code.co_filename, frame.f_lineno)
    return _trace_line
