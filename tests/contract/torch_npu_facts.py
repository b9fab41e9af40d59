"""What a wheel of torch_npu has of all that the program relies on, read from its files: nothing of it runs.

`python -m tests.contract.torch_npu_facts WHEEL …` prints a table of the releases.
"""

from __future__ import annotations

import ast
import re
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.ascend_env import TORCH_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable

NPU = "torch_npu/npu/"
ENGINE_CALLS = {"is_available": 0, "set_device": 1, "max_memory_allocated": 0}
"""The functions of torch_npu.npu that the PyTorch engine calls, with how many arguments."""
PROFILE_KEYS = (
    "activities", "prof_dir", "analyse", "record_shapes", "with_stack", "active", "warmup", "start_step", "is_rank",
    "rank_list",
)  # fmt: skip
"""What we write into profiler_config.json of the dynamic profiler."""
PROFILER = "torch_npu/profiler/"
_VERSION = re.compile(r"torch_npu-(\d+\.\d+\.\d+(?:\.post\d+)?)")


def facts(wheel: Path) -> dict[str, bool]:
    """Return whether the wheel has each thing that is relied on, by its name."""
    with zipfile.ZipFile(wheel) as opened:
        sources = {name: opened.read(name).decode("utf-8", "replace") for name in opened.namelist() if _is_source(name)}
        libraries = b"".join(opened.read(name) for name in opened.namelist() if name.endswith(".so"))
    functions = _functions(text for name, text in sources.items() if name.startswith(NPU))
    calls = {f"torch_npu.npu.{name}": _fits(functions.get(name), count) for name, count in ENGINE_CALLS.items()}
    scaler = any("class GradScaler" in text for name, text in sources.items() if name.startswith(NPU + "amp/"))
    dynamic = "".join(text for name, text in sources.items() if name.startswith(PROFILER) and "dynamic" in name)
    keys = {f"profiler_config.json: {key}": f'"{key}"' in dynamic or f"'{key}'" in dynamic for key in PROFILE_KEYS}
    everything = "".join(sources.values()).encode() + libraries
    variables = {name: name.encode() in everything for name in TORCH_NAMES.values()}
    return {**calls, "torch_npu.npu.amp.GradScaler": scaler, **keys, **variables}


def release(wheel: Path) -> str:
    """Return the version in the name of a wheel."""
    match = _VERSION.match(wheel.name)
    assert match is not None, wheel.name
    return match[1]


def _is_source(name: str) -> bool:
    return name.startswith("torch_npu/") and name.endswith(".py")


def _functions(texts: Iterable[str]) -> dict[str, ast.FunctionDef]:
    trees = map(ast.parse, texts)
    return {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)}


def _fits(function: ast.FunctionDef | None, count: int) -> bool:
    """Return whether a function takes so many arguments by place."""
    if function is None:
        return False
    names = [*function.args.posonlyargs, *function.args.args]
    return len(names) - len(function.args.defaults) <= count <= len(names)


def table(wheels: list[Path]) -> str:
    """Return a line for each thing that is relied on, with the releases that lack it."""
    by_release = {release(wheel): facts(wheel) for wheel in wheels}
    names = next(iter(by_release.values()))
    rows = (f"{name}\t{', '.join(r for r, of in by_release.items() if not of[name]) or 'in all'}" for name in names)
    return "\n".join((f"releases\t{', '.join(by_release)}", *rows))


if __name__ == "__main__":
    print(table([Path(word) for word in sys.argv[1:]]))
