"""What a script, a configuration or a list of requirements means, by running or reading it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import yaml
from packaging.requirements import Requirement

from backends.migration.migrate.variable_edits import VARIABLES

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = ("python", "pip", "mpirun", "nvidia-smi", "npu-smi")
"""Prints its name, its words and the devices that this host's programs see."""
PROGRAM = """#!/bin/sh
if [ "$HOST" = npu ]; then visible=$ASCEND_RT_VISIBLE_DEVICES; else visible=$CUDA_VISIBLE_DEVICES; fi
echo "$(basename "$0") $*${visible:+ on $visible}"
"""
_HOSTS = {
    "cuda": {"HOST": "cuda", "DEVICE_TYPE": "cuda", "COLLECTIVE_BACKEND": "nccl"},
    "npu": {"HOST": "npu"},
}  # fmt: skip
_WORDS = ((r"\b(?:cuda|npu)\b", "device"), (r"\b(?:nccl|hccl)\b", "backend"), (r" -x \w+_VISIBLE_DEVICES", ""))


def meaning(folder: Path, path: str, text: str, host: str) -> Any:
    if path.endswith(".sh"):
        return _printed(folder, text, host)
    if path.endswith(".txt"):
        return [str(Requirement(line)).replace("-", "_") for line in text.splitlines()]
    if path.endswith(".env"):
        return _read_variables(dict(line.split("=") for line in text.splitlines()), host)
    return _named(json.loads(text) if path.endswith(".json") else yaml.safe_load(text), host)


def _printed(folder: Path, text: str, host: str) -> list[str]:
    (folder / "bin").mkdir(exist_ok=True)
    for name in PROGRAMS:
        if host == "cuda" or name != "nvidia-smi":
            (folder / "bin" / name).write_text(PROGRAM)
            (folder / "bin" / name).chmod(0o755)
        else:
            (folder / "bin" / name).unlink(missing_ok=True)
    (folder / "run.sh").write_text(text)
    env = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"} | _HOSTS[host]
    done = subprocess.run(["bash", "run.sh"], cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()


def _named(value: Any, host: str) -> Any:
    """Lists of NAME=value as tables."""
    if isinstance(value, dict):
        return {key: _named(item, host) for key, item in value.items()}
    if isinstance(value, list) and value and all(isinstance(item, str) and "=" in item for item in value):
        return _read_variables(dict(item.split("=") for item in value), host)
    return value


def _read_variables(variables: dict[str, str], host: str) -> dict[str, str]:
    """Without those that only programs of the other host read."""
    unread = VARIABLES if host == "npu" else VARIABLES.values()
    return {name: value for name, value in variables.items() if name not in unread}


def without_words(value: Any) -> Any:
    """The same with one word for both devices."""
    text = json.dumps(value)
    for pattern, word in _WORDS:
        text = re.sub(pattern, word, text)
    return json.loads(text)
