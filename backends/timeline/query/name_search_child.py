"""Script started by `name_search`: pattern and names, separated by NUL, arrive on stdin; one byte per name, 1 for a
match, goes to stdout.

A pattern may take forever: the kernel ends this process after a few seconds of CPU time.
"""

from __future__ import annotations

import re
import resource
import sys

MAX_CPU_SECONDS = 3  # of CPU: a million names take a third of one


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pattern, *names = sys.stdin.buffer.read().decode("utf-8").split("\0")
    search = re.compile(pattern, 0 if sys.argv[1] == "case" else re.IGNORECASE).search
    sys.stdout.buffer.write(bytes(search(name) is not None for name in names))


if __name__ == "__main__":
    main()
