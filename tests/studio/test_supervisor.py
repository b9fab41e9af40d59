"""What a child is given, and what is looked at beside it. Whole runs are in test_worker and launch/test_own_script."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from studio import paths
from studio import run as runs
from studio.supervisor import TooMuch, _Tick, child_environment

if TYPE_CHECKING:
    from pathlib import Path


def test_that_the_folders_of_a_command_come_before_those_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("PYTHONPATH", "/theirs")
    run = runs.create(tmp_path, "script", {})
    env = child_environment(run, 1, {"PATH": "/chosen/bin", "PYTHONPATH": "/engine", "MORE": "1"})
    assert env["PATH"].split(os.pathsep)[0] == "/chosen/bin"
    assert env["PATH"].endswith("/usr/bin:/bin")
    assert env["PYTHONPATH"].split(os.pathsep) == [str(paths.GUEST), "/engine", "/theirs"]
    assert env["MORE"] == "1"
    assert child_environment(run, 1, {})["PATH"].endswith("/usr/bin:/bin")


@pytest.mark.parametrize(("error", "calls"), [(ValueError("a fault of ours"), 1), (OSError(28, "No space left"), 3)])
def test_that_an_error_beside_a_training_never_ends_it(error: Exception, calls: int) -> None:
    """A full disk may be emptied again; a fault of ours would only be repeated."""
    made = []

    def look() -> None:
        made.append(1)
        raise error

    tick = _Tick(look)
    for _ in range(3):
        tick()
    assert len(made) == calls


def test_that_too_much_is_told_while_it_runs_and_of_no_use_after_its_end() -> None:
    def look() -> None:
        raise TooMuch("memory_limit")

    with pytest.raises(TooMuch):
        _Tick(look)()
    _Tick(look).last()
