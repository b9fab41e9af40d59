"""The wheel: one top-level package that starts the command, trains, and rides in a user's script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

from studio.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

START = "import sys; sys.path.insert(0, {folder!r}); from ascend_training_studio import main; sys.exit(main())"
SCRIPT = """
import ascend_studio
for step in range(1, 4):
    ascend_studio.metric(step, loss=1 / step)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the wheel, as an installation lays them down."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-I", "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run_command(installed: Path, *words: str, cwd: Path) -> tuple[int, str]:
    line = [sys.executable, "-I", "-c", START.format(folder=str(installed)), *words]
    done = subprocess.run(line, cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ})
    return done.returncode, done.stdout or done.stderr


def test_that_a_wheel_holds_one_top_level_package(installed: Path) -> None:
    assert sorted(path.name for path in installed.iterdir() if path.suffix != ".dist-info") == [
        "ascend_training_studio"
    ]
    assert not list(installed.rglob("__pycache__"))


def test_that_an_installed_studio_trains(installed: Path, tmp_path: Path) -> None:
    words = ("--no-project", "launch", "--recipe", "linear", "--steps", "3", "--json")
    code, output = run_command(installed, *words, cwd=tmp_path)
    assert code == 0, output
    assert "loss" in json.loads(output.splitlines()[-1])["metrics"]


def test_that_an_installed_studio_rides_in_a_script_of_the_user(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT, encoding="utf-8")
    words = ("--no-project", "launch", "--json", "--", sys.executable, "train.py")
    code, output = run_command(installed, *words, cwd=tmp_path)
    assert code == 0, output
    assert json.loads(output.splitlines()[-1])["metrics"]["loss"] == pytest.approx(1 / 3)
