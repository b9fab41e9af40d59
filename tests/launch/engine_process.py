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
from typing import Any, Union

import pytest

from backends.launch.engine_options import FILE
from tests.launch.engine_config import options_text_of
from tests.launch.forked_process import ForkedProcess, server

ROOT = Path(__file__).parents[2]
PATHS = (ROOT / "studio" / "guest", ROOT / "backends" / "launch" / "engine")
SCRIPT_PATHS = (*PATHS, ROOT)
"""What a script of a test finds: `tests.launch.engine_config` too."""
PYTHON37 = Path("/root/.pyenv/versions/3.7.16/bin/python")
LINEAR = "--recipe linear --optimizer sgd --lr 0.1 --steps 60 --seed 1"
LOG = "output.log"
FRESH = (sys.executable,)
Process = Union["subprocess.Popen[bytes]", ForkedProcess]
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
    with (folder / LOG).open("wb") as log:
        return subprocess.Popen(
            command,
            cwd=folder,
            env=environment(folder, python_path),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )


def fork(folder: Path, *words: str, python_path: tuple[Path, ...] = PATHS) -> ForkedProcess:
    """Do what `start` does with the words that follow the interpreter, in a process where MindSpore is imported."""
    return server().fork(*words, cwd=folder, env=environment(folder, python_path), log=folder / LOG)


def environment(folder: Path, python_path: tuple[Path, ...]) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, python_path)), "ASCEND_STUDIO_RUN": str(folder)}


def finish(folder: Path, process: Process) -> Ran:
    try:
        code = process.wait(timeout=300)
    finally:
        process.kill()
    return Ran(folder=folder, code=code, output=(folder / LOG).read_text("utf-8"))


def start_training(folder: Path, line: str, python: tuple[str, ...] = ()) -> Process:
    """Start the engine in a folder that exists, with the options of a line of flags.

    With `python`, such as FRESH, the process begins with nothing imported; otherwise MindSpore is.
    """
    (folder / FILE).write_text(options_text_of(line), "utf-8")
    words = ("-m", "ascend_engine", FILE)
    return start(folder, *python, *words) if python else fork(folder, *words)


def train(folder: Path, line: str, python: tuple[str, ...] = ()) -> Ran:
    folder.mkdir(exist_ok=True)
    return finish(folder, start_training(folder, line, python))


SMALL_TEXT = """
import runpy
from ascend_engine.recipe_data import text as text_data
from ascend_engine.recipes import text

text.LAYERS, text_data.SAMPLE, text_data.EVALUATED = 1, 20, 8
runpy.run_module("ascend_engine", run_name="__main__", alter_sys=True)
"""


def train_small_text(folder: Path, line: str) -> Ran:
    """Train the text recipe with one layer, of which two take ten seconds to compile, and a short sample."""
    folder.mkdir(exist_ok=True)
    (folder / FILE).write_text(options_text_of(f"--recipe text {line}"), "utf-8")
    return finish(folder, fork(folder, save(folder / "small_text.py", SMALL_TEXT), FILE))


def check(folder: Path, script: str) -> str:
    """Run a script that uses the engine's own modules, with MindSpore imported; returns its output."""
    path = save(folder / "script.py", script)
    ran = finish(folder, fork(folder, path, python_path=SCRIPT_PATHS))
    assert ran.code == 0, ran.output
    return ran.output


def check_fresh(folder: Path, script: str) -> str:
    """Do what `check` does in a process that begins with nothing imported."""
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
