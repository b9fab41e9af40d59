"""A recipe of the user's: a Python file with build(config) -> Recipe, run where it lies."""

from __future__ import annotations

import hashlib
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import ascend_studio

from ascend_engine.failures import Failure, is_library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ascend_engine.options import Config

NAME = "own_recipe"  # of the module; no project's file is imported under it
COPIES = Path("artifacts", "recipe")
LARGEST = 1_000_000  # bytes of a file that is kept


def build(config: Config) -> tuple[Any, str]:
    """What the file's build(config) returns, and the sha256 of the files that it came from. Copies of them are left
    in the run's folder. Raises Failure, and whatever the user's code raises."""
    if config.recipe_file is None or not config.recipe_file.is_file():
        raise Failure("launch.recipe_missing", file=str(config.recipe_file or ""))
    path = config.recipe_file.absolute()
    loaded_before = set(sys.modules)
    with first_on_path(path.parent):
        built = _ended_by_itself(path, load(path), config)
    sources = {path: path.read_bytes(), **_imported(path.parent, set(sys.modules) - loaded_before)}
    _keep(sources, path.parent)
    return built, _digest(sources, path.parent)


@contextmanager
def first_on_path(folder: Path) -> Iterator[None]:
    """As for a script, so that the file can import its neighbours. Afterwards the folder is the last: a neighbour
    that is called like a module which MindSpore imports later must not take its place."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.path.append(str(folder))


def load(path: Path) -> Callable[[Config], Any]:
    """Run a file as a module; returns its function build."""
    module = ModuleType(NAME)
    module.__file__ = str(path)
    sys.modules[NAME] = module
    try:
        code = compile(path.read_bytes(), str(path), "exec")
    except (OSError, ValueError, SyntaxError) as error:
        if isinstance(error, SyntaxError) and error.lineno:
            raise
        # What is no text at all, such as a file with zero bytes, has no line.
        raise Failure("launch.recipe_unreadable", file=str(path), error=str(error)) from error
    _ended_by_itself(path, exec, code, vars(module))
    build_function = vars(module).get("build")
    if not callable(build_function):
        raise Failure("launch.recipe_no_build", file=str(path))
    return build_function


def _ended_by_itself(path: Path, function: Callable, *arguments: Any) -> Any:
    """A script that parses a command line of its own ends the process; that needs a sentence."""
    try:
        return function(*arguments)
    except SystemExit as error:
        raise Failure("launch.recipe_exits", file=str(path), code=str(error.code)) from error


def _imported(folder: Path, names: Iterable[str]) -> dict[Path, bytes]:
    """The modules under `folder` among those names: the user's, not packages that are installed there."""
    modules = [sys.modules[name] for name in names if not name.startswith(("ascend_engine", NAME))]
    files = [vars(module).get("__file__") for module in modules if isinstance(module, ModuleType)]
    paths = [Path(file) for file in files if isinstance(file, str) and not is_library(file)]
    inside = [path for path in paths if folder in path.parents and path.suffix == ".py" and path.is_file()]
    return {path: path.read_bytes() for path in sorted(inside)}


def _keep(sources: dict[Path, bytes], folder: Path) -> None:
    for path, content in sources.items():
        copy = COPIES / path.relative_to(folder)
        if len(content) <= LARGEST and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
            ascend_studio.artifact("recipe", copy.absolute())


def _digest(sources: dict[Path, bytes], folder: Path) -> str:
    digest = hashlib.sha256()
    for path, content in sorted(sources.items()):
        digest.update(f"{path.relative_to(folder)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
