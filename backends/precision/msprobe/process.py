"""Runs one of msprobe's commands: a process group of its own, its output in a file, an end within a time."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from studio import environment
from studio.supervisor import raise_if_stopped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROCESS_SECONDS = 3600.0
POLL_SECONDS = 0.05
LOG_TAIL = 64_000
# It says so wherever there is no CANN, and goes on.
NO_ERROR = "Please verify that the CANN environment is properly configured"
PLAIN = re.compile(r"[a-zA-Z0-9_.:/-]+")
"""The paths that msprobe takes (FILE_VALID_PATTERN in its core/common/const.py)."""


@dataclass(frozen=True, kw_only=True)
class Done:
    """`code`: of the process, which is not msprobe's verdict; `reason`: its last complaint, or the first line of what
    kept it from starting; `late`: it was ended because its time was over."""

    code: int
    reason: str = ""
    late: bool = False


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder of a name that msprobe takes; a run's own may lie under 中文 or a space."""
    with tempfile.TemporaryDirectory(prefix="ascend-studio-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def run(line: Sequence[str], folder: Path, log: Path, seconds: float = PROCESS_SECONDS) -> Done:
    """Runs to its end. `folder` is its working directory: what is imported from it first must be nobody else's.
    Raises Stopped; never leaves a process of its group behind."""
    try:
        with log.open("wb") as output:
            child = subprocess.Popen(
                line, cwd=folder, env=_environment(), stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
    except (OSError, ValueError) as error:
        return Done(code=127, reason=str(error)[:300])
    try:
        late = not _ended(child, seconds)
    finally:
        _end(child)
    return Done(code=child.returncode, reason=reason_in(_tail(log)), late=late)


def _environment() -> dict[str, str]:
    """Without the way to the guest or to a project's modules, but with CANN's; torch_npu does not load by itself, and
    torch (2.4 and newer) loads tensors only, whatever an old msprobe asks of it."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    env = environment.with_cann(environment.cleaned(own))
    return env | {
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "TORCH_FORCE_WEIGHTS_ONLY_LOAD": "1", "PYTHONIOENCODING": "utf-8"
    }  # fmt: skip


def _ended(child: subprocess.Popen[bytes], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        raise_if_stopped()
        with suppress(subprocess.TimeoutExpired):
            child.wait(POLL_SECONDS)
            return True
    return False


def _end(child: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _tail(log: Path) -> str:
    try:
        with log.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - LOG_TAIL))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""


def reason_in(text: str) -> str:
    """The last line that complains: of its log, else of a traceback. Empty where none does."""
    lines = [line.strip() for line in re.split(r"[\r\n]+", text) if NO_ERROR not in line]
    errors = [line.partition("[ERROR]")[2].strip() for line in lines if "[ERROR]" in line]
    raised = [line for line in lines if re.match(r"[\w.]*(Error|Exception|error)\b.*:", line)]
    return next((line for line in (*raised[-1:], *errors[-1:]) if line), "")[:300]
