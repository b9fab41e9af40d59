"""Run as `python -I audit.py <words>`: the studio of $AUDIT_CODE under an audit hook that writes to $AUDIT_LOG.

Workers that it starts run under the hook as well. A line of the log: an event, then its arguments as Python's `ascii`
gives them; the case is the one that $AUDIT_CASE names. Standard library only.
"""

from __future__ import annotations

import os
import runpy
import sys
from typing import Any

CODE = os.environ["AUDIT_CODE"]
LOG = os.open(os.environ["AUDIT_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC)
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
RECORDED = frozenset(
    (
        "pickle.find_class", "subprocess.Popen", "os.exec", "os.system", "os.posix_spawn", "os.kill", "os.killpg",
        "socket.connect",
    )
)  # fmt: skip


def record(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        if not (isinstance(arguments[2], int) and arguments[2] & WRITES and isinstance(arguments[0], str | bytes)):
            return
        arguments = (os.path.realpath(os.fsdecode(arguments[0])),)
    elif event == "exec":
        arguments = (getattr(arguments[0], "co_filename", ""),)
        if arguments[0].startswith(("<", "shibokensupport/", CODE, sys.prefix, sys.base_prefix)):
            return
    elif event not in RECORDED:
        return
    elif event == "subprocess.Popen":
        line = arguments[1] if isinstance(arguments[1], list | tuple) else (arguments[1],)
        arguments = (os.fspath(arguments[0]), [os.fsdecode(word)[:300] for word in line])
    os.write(LOG, f"{event} {ascii(arguments)[:20_000]}\n".encode())


def main() -> None:
    sys.path.insert(0, CODE)
    sys.addaudithook(record)
    import studio.paths
    from studio.paths import MAIN

    studio.paths.MAIN = type(MAIN)(__file__)
    if sys.argv[1:2] == ["-c"]:
        sys.argv = sys.argv[2:]
        exec(compile(sys.argv[0], "<window>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv[0] = str(MAIN)
        runpy.run_path(str(MAIN), run_name="__main__")


main()
