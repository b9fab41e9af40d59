"""Run as a script by `names`: pattern and names, separated by NUL, come on stdin; a byte per name, 1 where the pattern
is found, goes to stdout. A pattern may take for ever: the kernel ends this process after some seconds of its time."""

from __future__ import annotations

import re
import resource
import sys

MOST_SECONDS = 3  # of CPU: a million names take a third of one


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pattern, *names = sys.stdin.buffer.read().decode("utf-8").split("\0")
    search = re.compile(pattern, 0 if sys.argv[1] == "case" else re.IGNORECASE).search
    sys.stdout.buffer.write(bytes(search(name) is not None for name in names))


if __name__ == "__main__":
    main()
