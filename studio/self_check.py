"""What someone with a real card runs for five minutes: one file, without names, paths or addresses in it."""

from __future__ import annotations

import math
import os
import platform
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import studio
from studio import environment, files, interpreters, worker
from studio import run as runs
from studio.errors import from_os
from studio.events import Finding
from studio.follow import follow
from studio.tail import RunTail
from studio.texts import t

if TYPE_CHECKING:
    from collections.abc import Callable

TRAININGS = ({"mode": "pynative"}, {"mode": "jit"})


def self_check(report: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Looks at the host and trains `linear` in both modes on the device that is there. Raises StudioError."""
    found: dict[str, Any] = {"studio": studio.__version__, "host": _host(), "trainings": []}
    with tempfile.TemporaryDirectory() as folder:
        for how in TRAININGS:
            say(t("self_check.training", mode=how["mode"]))
            found["trainings"].append(_train(Path(folder), how, say))
    found["ok"] = all(training["code"] == 0 for training in found["trainings"])
    try:
        files.write_json(report.absolute(), found)
    except OSError as error:
        raise from_os(error, report) from error
    say(t("self_check.written", path=str(report)))
    return found


def _host() -> dict[str, Any]:
    wanted = {name: interpreters.packages(interpreters.embedded()).get(name, "") for name in interpreters.SHOWN}
    return {
        "machine": platform.machine(), "kernel": platform.release(), "python": platform.python_version(),
        "cores": os.cpu_count(), "packages": wanted, "npu_smi": shutil.which("npu-smi") is not None,
        "cann": environment.cann_script(os.environ) is not None,
        "devices": len(list(Path("/dev").glob("davinci[0-9]*"))),
    }  # fmt: skip


def _train(folder: Path, how: dict[str, str], say: Callable[[str], None]) -> dict[str, Any]:
    run = runs.create(folder, "launch", {"what": {"recipe": "linear"}, "how": how})
    begun = time.monotonic()
    worker.start(run)
    glance = follow(run, say)
    seconds = round(time.monotonic() - begun, 2)
    rules = [
        event.rule for _, _, events in RunTail(run.folder).read() for event in events if isinstance(event, Finding)
    ]
    return how | {
        "code": glance.code, "seconds": seconds, "findings": rules,
        "metrics": {name: value for name, value in glance.values.items() if math.isfinite(value)},
    }  # fmt: skip
