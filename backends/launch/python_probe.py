"""Whether what is called a Python interpreter is one: one that ends well and has run nothing looks like success."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path

_MARK = "a Python interpreter"
_SECONDS = 20.0


def refuse_other_program(python: Path) -> None:
    """Raises StudioError where a program ends well and has not run a line of Python. One that fails, or takes its time,
    is left to the training, which says it in its own words."""
    probe = (str(python), "-I", "-c", f"print({_MARK!r})")
    with suppress(OSError, ValueError, subprocess.TimeoutExpired):
        done = subprocess.run(probe, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False)
        if done.returncode == 0 and _MARK.encode("ascii") not in done.stdout:
            raise StudioError("launch.rule.no_python", path=str(python))
