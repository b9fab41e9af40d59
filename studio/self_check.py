"""A report for somebody with a real card: five minutes of work, one file without names, paths or addresses in it."""

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


def self_check(report: Path, print_message: Callable[[str], None]) -> dict[str, Any]:
    """Describe the host and train `linear` in both modes on its device. Raises StudioError."""
    report_values: dict[str, Any] = {"studio": studio.__version__, "host": _host(), "trainings": []}
    with tempfile.TemporaryDirectory() as folder:
        for how in TRAININGS:
            print_message(t("self_check.training", mode=how["mode"]))
            report_values["trainings"].append(_train(Path(folder), how, print_message))
    report_values["ok"] = all(training["code"] == 0 for training in report_values["trainings"])
    try:
        files.write_json(report.absolute(), report_values)
    except OSError as error:
        raise from_os(error, report) from error
    print_message(t("self_check.written", path=str(report)))
    return report_values


def _host() -> dict[str, Any]:
    packages = {
        name: interpreters.packages(interpreters.embedded()).get(name, "") for name in interpreters.LISTED_PACKAGES
    }
    return {
        "machine": platform.machine(), "kernel": platform.release(), "python": platform.python_version(),
        "cores": os.cpu_count(), "packages": packages, "npu_smi": shutil.which("npu-smi") is not None,
        "cann": environment.cann_script(os.environ) is not None,
        "devices": len(list(Path("/dev").glob("davinci[0-9]*"))),
    }  # fmt: skip


def _train(folder: Path, how: dict[str, str], print_message: Callable[[str], None]) -> dict[str, Any]:
    run = runs.create(folder, "launch", {"what": {"recipe": "linear"}, "how": how})
    begun = time.monotonic()
    worker.start(run)
    glance = follow(run, print_message, may_revive=True)
    seconds = round(time.monotonic() - begun, 2)
    rules = [
        event.rule for _, _, events in RunTail(run.folder).read() for event in events if isinstance(event, Finding)
    ]
    return how | {
        "code": glance.code, "seconds": seconds, "findings": rules,
        "metrics": {name: value for name, value in glance.values.items() if math.isfinite(value)},
    }  # fmt: skip
