"""Every test has homes of its own: no test reads or writes what belongs to the person who runs it."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from studio import texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# Tests do not time: a busy machine is no failure.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


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
