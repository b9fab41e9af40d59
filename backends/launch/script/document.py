"""The whole file: what stands above a script's code, and what no script can be made of."""

from __future__ import annotations

import ast
import shlex
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch import ascend_env
from backends.launch.engine_options import corpus_of, options_text
from backends.launch.script import assemble
from backends.launch.script.assemble import OWN
from backends.launch.script.data import data_of, needed_paths, with_data
from backends.launch.script.modules import ENGINE, read_module
from backends.launch.spec import FRAMEWORKS, LaunchSpec
from studio import __version__, schema
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = "train.py"
NEEDED = {"mindspore": "MindSpore 2.10", "torch": "PyTorch"}
WITH_CHECKPOINTS = "It leaves checkpoints in artifacts/checkpoints, each verified before it gets its name."
WITHOUT_CHECKPOINTS = "It keeps no checkpoint: choose a number of steps between two, and it will."


def script_text(spec: LaunchSpec) -> str:
    """One script, with its data, that does what a run of `spec` does. Raises StudioError where there is none."""
    spec = schema.effective(spec)
    if spec.parallel.parallel != "none" and spec.parallel.nodes > 1:
        raise StudioError("launch.script_nodes")
    data = data_of(spec, corpus_of(spec))
    code = with_data(_code(options_text(spec), _stamp(spec.what.recipe_file)), data)
    return "\n".join(_head(spec, needed_paths(spec, data))) + "\n\n" + _before(spec) + code


@lru_cache(maxsize=8)
def _code(options: str, _sources: tuple[int, ...]) -> str:
    return assemble.script_code(assemble.config_of(options))


def _stamp(recipe: Path) -> tuple[int, ...]:
    """Changes with the sources, so that no script is of older ones."""
    files = (*ENGINE.rglob("*.py"), *([recipe] if recipe.is_file() else ()))
    return tuple(path.stat().st_mtime_ns for path in files)


def _before(spec: LaunchSpec) -> str:
    """The environment, which the framework reads when it is imported, and what lies beside an own recipe."""
    lines = [f"os.environ[{name!r}] = {value!r}" for name, value in ascend_env.environment(spec).items()]
    if lines:
        lines = ["import os", "", *lines, ""]
    if spec.what.recipe == "own" and has_neighbours(spec.what.recipe_file):
        lines += ["import sys", "", f"sys.path.insert(0, {str(spec.what.recipe_file.parent)!r})", ""]
    return "\n".join((*lines, "")) if lines else ""


def has_neighbours(file: Path) -> bool:
    """Whether a recipe's file imports what lies beside it. Raises StudioError for what is no Python."""
    tree = read_module(OWN, file).tree
    named = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    named += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    firsts = {name.partition(".")[0] for name in named}
    return any((file.parent / f"{name}.py").is_file() or (file.parent / name).is_dir() for name in firsts if name)


def _needs(spec: LaunchSpec, needed: tuple[Path, ...]) -> Iterator[str]:
    """What the file does not hold, line by line."""
    if spec.what.recipe == "own" and has_neighbours(spec.what.recipe_file):
        needed = (*needed, spec.what.recipe_file.parent)
    if needed:
        yield "It also needs, at these paths or at others that are changed below:"
        yield from (f"    {_quoted(str(path))}" for path in needed)
    else:
        yield "Its data are within it: it needs no other file, and runs in any folder and on any host."


def _head(spec: LaunchSpec, needed: tuple[Path, ...]) -> Iterator[str]:
    line = shlex.join(("ascend-studio", "launch", *_words(spec)))
    framework = FRAMEWORKS[spec.what.framework]
    yield f'''"""A training with {framework}: recipe {spec.what.recipe}, as one file without the studio.

Written by Ascend Studio {__version__} from the source of the functions that its own runs use, for'''
    yield f"    {_quoted(line)}"
    yield "What these choices decide is decided in the code. Numbers that they leave open stand as constants below the"
    yield "imports, and may be changed there."
    yield from _needs(spec, needed)
    yield f"Run it with {' and '.join(_packages(spec))}, as"
    yield f"    {_run_line(spec)}"
    yield "It prints every step, each number so that it reads back as the same one: the losses are those of the run,"
    yield "bit for bit, on the same machine and versions."
    yield WITH_CHECKPOINTS if assemble.keeps(assemble.config_of(options_text(spec))) else WITHOUT_CHECKPOINTS
    yield "Ctrl+C ends it at once."
    yield '"""'


def _packages(spec: LaunchSpec) -> tuple[str, ...]:
    needed = (NEEDED[spec.what.framework],)
    if spec.what.recipe != "lora":
        return needed
    return (*needed, "peft") if spec.what.base_model == Path() else (*needed, "peft", "transformers")


def _words(spec: LaunchSpec) -> tuple[str, ...]:
    words = schema.arguments(LaunchSpec(**{card.name: getattr(spec, card.name) for card in fields(LaunchSpec)}))
    return words if "--recipe" in words else ("--recipe", spec.what.recipe, *words)


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _run_line(spec: LaunchSpec) -> str:
    parallel = spec.parallel
    if parallel.parallel == "none":
        return f"python {FILE}"
    if spec.what.framework == "torch":
        port = f"--master_addr=127.0.0.1 --master_port={parallel.port}" if parallel.port else "--standalone"
        return f"torchrun --nnodes=1 --nproc_per_node={parallel.workers} {port} {FILE}"
    count = f"--worker_num={parallel.workers} --local_worker_num={parallel.workers}"
    return f"msrun {count} --master_addr=127.0.0.1 --master_port={parallel.port or 8118} --join=True {FILE}"
