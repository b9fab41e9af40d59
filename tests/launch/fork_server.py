"""A process that has imported MindSpore and forks a child for each request: the import takes two seconds of CPU, once.

A request is a line of JSON on stdin: `argv` (a script and its arguments, or -m and a module), `cwd`, `env`, `log` (the
file of stdout and stderr, which is there) and `end` (the file that gets the exit code, negative for a signal). The
answer is a line with the child's process id. From there on the child is as one that was started by itself.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any


def next_request() -> dict[str, Any]:
    """Return a request in the child that has to follow it; the server itself ends with its stdin."""
    keepers: set[int] = set()
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        keepers = {keeper for keeper in keepers if os.waitpid(keeper, os.WNOHANG) == (0, 0)}
        keeper = os.fork()
        if keeper:
            keepers.add(keeper)
        else:
            child = os.fork()
            if child == 0:
                return request
            print(child, flush=True)
            keep_exit_code(child, request["end"])
    os._exit(0)


def keep_exit_code(child: int, path: str) -> None:
    """Wait for a child, write its exit code to a file, and end this process."""
    try:
        _, status = os.waitpid(child, 0)
        new = Path(path + ".new")
        new.write_text(str(os.waitstatus_to_exitcode(status)))
        new.rename(path)
    finally:
        os._exit(0)


def follow(request: dict[str, Any]) -> None:
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    null, log = os.open(os.devnull, os.O_RDONLY), os.open(request["log"], os.O_WRONLY)
    for descriptor, number in ((null, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    first, *rest = request["argv"]
    is_module = first == "-m"
    sys.argv = rest if is_module else request["argv"]
    folder = request["cwd"] if is_module else str(Path(first).parent)
    sys.path[:1] = [folder, *filter(None, request["env"].get("PYTHONPATH", "").split(os.pathsep))]
    if is_module:
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    import mindspore  # noqa: F401 - what all children need

    follow(next_request())
