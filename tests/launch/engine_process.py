"""Trainings by python -m ascend_engine, and scripts that use the engine's modules, each a process of its own."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from backends.launch.engine_options import FILE
from tests.launch.engine_config import options_text_of

ROOT = Path(__file__).parents[2]
PATHS = (ROOT / "studio" / "guest", ROOT / "backends" / "launch" / "engine")
SCRIPT_PATHS = (*PATHS, ROOT)
"""What a script of a test finds: `tests.launch.engine_config` too."""
PYTHON37 = Path("/root/.pyenv/versions/3.7.16/bin/python")
LINEAR = "--recipe linear --optimizer sgd --lr 0.1 --steps 60 --seed 1"
needs_mindspore = pytest.mark.skipif(not find_spec("mindspore"), reason="no MindSpore here")


@dataclass(frozen=True, kw_only=True)
class Ran:
    folder: Path
    code: int
    output: str

    @functools.cached_property
    def events(self) -> list[dict[str, Any]]:
        return read_events(self.folder)

    def metric(self, name: str) -> list[float]:
        metrics = (event["values"] for event in self.events if event["type"] == "metric")
        return [values[name] for values in metrics if name in values]

    def note(self, key: str) -> dict[str, Any]:
        (args,) = (event["args"] for event in self.events if event.get("key") == key)
        return args

    def findings(self) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] == "finding"]

    def phases(self) -> list[str]:
        """Without repetition, in the order of their first appearance."""
        return list(dict.fromkeys(e["phase"] for e in self.events if e["type"] == "progress"))


def read_events(folder: Path) -> list[dict[str, Any]]:
    lines = (line for file in folder.glob("events*") for line in file.read_text().splitlines())
    return [json.loads(line) for line in lines]


def start(folder: Path, *command: str, python_path: tuple[Path, ...] = PATHS) -> subprocess.Popen[bytes]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, python_path)),
        "ASCEND_STUDIO_RUN": str(folder),
    }
    with (folder / "output.log").open("wb") as log:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def finish(folder: Path, process: subprocess.Popen[bytes]) -> Ran:
    try:
        code = process.wait(timeout=300)
    finally:
        process.kill()
    return Ran(folder=folder, code=code, output=(folder / "output.log").read_text("utf-8"))


def start_training(folder: Path, line: str, python: tuple[str, ...] = (sys.executable,)) -> subprocess.Popen[bytes]:
    """Start the engine in a folder that exists, with the options of a line of flags."""
    (folder / FILE).write_text(options_text_of(line), "utf-8")
    return start(folder, *python, "-m", "ascend_engine", FILE)


def train(folder: Path, line: str, python: tuple[str, ...] = (sys.executable,)) -> Ran:
    folder.mkdir(exist_ok=True)
    return finish(folder, start_training(folder, line, python))


def check(folder: Path, script: str) -> str:
    """Run a script that uses the engine's own modules; returns its output."""
    path = save(folder / "script.py", script)
    ran = finish(folder, start(folder, sys.executable, path, python_path=SCRIPT_PATHS))
    assert ran.code == 0, ran.output
    return ran.output


def save(path: Path, script: str) -> str:
    path.write_text(script, "utf-8")  # jit reads the source of what it compiles from its file
    return str(path)


def assert_no_warnings(output: str) -> None:
    assert "WARNING" not in output
    assert "deprecat" not in output.lower()
    assert "Traceback" not in output
