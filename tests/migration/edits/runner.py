"""Run in a child: each script of a list, one after the other, so that torch is imported once.

`runner.py STANCE LIST`: LIST is a JSON file with pairs of name and path. Prints one JSON object: the `result` of each
script by its name, or {"error": …}.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import torch

STANCE = sys.argv[1]
_WORDS = ((re.compile(r"\b(?:cuda|npu)\b"), "device"), (re.compile(r"\b(?:nccl|hccl)\b"), "backend"))


def on_device(tensor: torch.Tensor, index: int | None = None) -> bool:
    """A rehearsal as CUDA has its tensors on the CPU, as its host has no other place."""
    expected = torch.device("npu", index or 0) if STANCE == "npu" else torch.device("cpu")
    return tensor.device == expected


def other_name(name: str, other: str) -> str:
    """The name of a variable that this host's programs read."""
    return other if STANCE == "npu" else name


def plain(value: object) -> Any:
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    text = str(value)
    for pattern, word in _WORDS:
        text = pattern.sub(word, text)
    return text


def run(path: str) -> object:
    before = dict(os.environ)
    try:
        names = runpy.run_path(path, {"on_device": on_device, "other_name": other_name}, run_name="__main__")
        return {"result": plain(names["result"])}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    finally:
        os.environ.clear()
        os.environ.update(before)
        getattr(torch, STANCE).set_device(0)


if __name__ == "__main__":
    scripts = json.loads(Path(sys.argv[2]).read_text("utf-8"))
    print(json.dumps({name: run(path) for name, path in scripts}))
