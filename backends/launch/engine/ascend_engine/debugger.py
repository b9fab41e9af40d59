"""A debugger that attaches to a training before anything of its recipe runs."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, Any

import ascend_studio

from ascend_engine.failures import Failure, first_line

if TYPE_CHECKING:
    from ascend_engine.options import Config
    from ascend_engine.stopping import Stop

HOST = "127.0.0.1"  # never another address: whoever reaches the port may run anything in the training
POLL_SECONDS = 0.1


def wait(config: Config, rank: int, stop: Stop) -> None:
    """Where a port was asked for: listen, and go on when a debugger is attached or a stop was asked for. Each rank has
    a port of its own, so that one can be debugged beside the others. Raises Failure without debugpy, or where the port
    is taken."""
    if config.debug_port is None:
        return
    port = config.debug_port + rank
    debugpy = import_debugpy()
    debugpy.configure(subProcess=False)
    try:
        debugpy.listen((HOST, port))
    except RuntimeError as error:
        raise Failure("launch.debug_port_taken", port=port, reason=first_line(error)) from error
    ascend_studio.progress(0, config.steps, "attach")
    ascend_studio.note("launch.debugger_waits", host=HOST, port=port, ranks=config.workers)
    print(f"waits for a debugger on {HOST}:{port}")
    if config.compiled:
        ascend_studio.note("launch.debugger_compiled")
    if wait_for_client(debugpy, stop):
        ascend_studio.note("launch.debugger_attached")
        print("a debugger is attached")
    ascend_studio.progress(0, config.steps, "load")


def import_debugpy() -> Any:
    """Import debugpy of the training's own interpreter. Raises Failure `launch.no_debugpy`."""
    # It would warn in the log that breakpoints in Python's own frozen modules are not reached.
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    try:
        import debugpy
    except ImportError as error:
        raise Failure("launch.no_debugpy", python=sys.executable, error=first_line(error)) from error
    return debugpy


def wait_for_client(debugpy: Any, stop: Stop) -> bool:
    """Whether a debugger came before a stop was asked for."""
    is_over = threading.Event()

    def cancel_at_stop() -> None:
        while not is_over.wait(POLL_SECONDS):
            if stop:
                debugpy.wait_for_client.cancel()
                return

    threading.Thread(target=cancel_at_stop, name="wait-for-debugger", daemon=True).start()
    debugpy.wait_for_client()
    is_over.set()
    return not stop
