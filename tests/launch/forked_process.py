"""Engine processes without two seconds of importing MindSpore each: forks of a process that has it imported."""

from __future__ import annotations

import functools
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVER = Path(__file__).with_name("fork_server.py")


class ForkedProcess:
    """A process with the methods of `subprocess.Popen` that tests use; it is no child of this one."""

    def __init__(self, pid: int, end: Path) -> None:
        self.pid = pid
        self._end = end

    def poll(self) -> int | None:
        return int(self._end.read_text()) if self._end.exists() else None

    def wait(self, timeout: float = 300) -> int:
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.01)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Server:
    """The one server of this process; it ends with this process, its children do not."""

    def __init__(self) -> None:
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self.folder = tempfile.TemporaryDirectory()
        self.numbers = itertools.count()
        self.process = subprocess.Popen(
            (sys.executable, SERVER), env=env, cwd=self.folder.name, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def fork(self, *words: str, cwd: Path, env: Mapping[str, str], log: Path) -> ForkedProcess:
        assert self.process.stdin
        assert self.process.stdout
        log.write_bytes(b"")  # it is there as soon as the process is
        end = Path(self.folder.name, str(next(self.numbers)))
        request = {"argv": words, "cwd": str(cwd), "env": dict(env), "log": str(log), "end": str(end)}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        assert answer, "the fork server has ended"
        return ForkedProcess(int(answer), end)


@functools.cache
def server() -> Server:
    return Server()
