"""The first process of a pid namespace: runs the words behind it, collects orphans, and counts signals to itself.

init.py <file that a signal is written to> <program> [argument …]
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress


def main() -> int:
    signals = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, lambda number, _: os.write(signals, f"{number}\n".encode()))
    program = os.fork()
    if program == 0:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, signal.SIG_DFL)
        os.execv(sys.argv[2], sys.argv[2:])
    while True:
        with suppress(InterruptedError):
            pid, status = os.wait()
            if pid == program:
                return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
