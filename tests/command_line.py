"""The command line as a person would run it: a process of its own, in a folder of the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from studio.paths import MAIN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Make = Callable[[str], Path]


def studio(*words: str, cwd: Path, language: str = "en", **more: Any) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"LANGUAGE": language}
    line = [sys.executable, "-I", str(MAIN), *words]
    return subprocess.run(
        line, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, **more
    )


def last_json(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout.splitlines()[-1])
