"""Every test has homes of its own: no test reads or writes what belongs to the person who runs it.

`pytest timeline` runs the tests of one feature: tests/timeline and tests/ui/timeline.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from studio import texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TESTS = Path(__file__).parent
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Tests do not time, and say the same of the same code twice; `prove generated` looks at other examples every time.
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("random", settings.get_profile("repeatable"), derandomize=False, print_blob=True)
settings.load_profile("repeatable")


def pytest_configure(config: pytest.Config) -> None:
    config.args[:] = [path for argument in config.args for path in feature_folders(argument)]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto`, one worker for each core that is ours; eight trainings at once fill the memory of most hosts."""
    return min(8, len(os.sched_getaffinity(0)))


def feature_folders(argument: str) -> list[str]:
    """Return the test folders of a feature, such as "timeline"; any other argument of pytest stays as it is."""
    folders = [folder for folder in (TESTS / argument, TESTS / "ui" / argument) if folder.is_dir()]
    is_name = argument.isidentifier() and not Path(argument).exists()
    return [str(folder) for folder in folders] if is_name and folders else [argument]


@pytest.fixture(autouse=True)
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("config", "state", "cache"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / "home" / name))
    monkeypatch.setenv("LANGUAGE", "en")
    texts.use("en")
    yield tmp_path / "home"
    texts.use("en")


@pytest.fixture
def interpreter(tmp_path: Path) -> Callable[[str], Path]:
    """Makes an 'interpreter' out of a shell script: a training that does whatever a test needs."""

    def make(script: str, name: str = "python-of-a-test") -> Path:
        path = tmp_path / name
        path.write_text("#!/bin/bash\n" + script, encoding="utf-8")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return make


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with any run."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    yield child
    child.kill()
    child.wait()
