"""Which interpreters can import what a script imports, by their files alone: nothing of either is run."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from backends.common import program_line
from backends.launch.own.plan import python_of, script_of
from backends.launch.own.spec import OwnSpec
from studio import files, interpreters, schema
from studio.security import trust

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from studio.run import Run

MAX_BYTES = 1 << 20
MAX_FILES = 60  # modules of the project that a script imports, one by the other


def imports_of(script: Path) -> frozenset[str]:
    """Return the packages that a script imports when it starts, also through modules beside it: top-level names that
    are neither of Python itself nor files of the project. Imports in functions, in `try` and under `if` may fail
    without harm. Empty where the script cannot be read."""
    packages: set[str] = set()
    waiting, visited = [script], {script}
    while waiting and len(visited) <= MAX_FILES:
        path = waiting.pop()
        for name in _imported(path):
            local = [module for module in _local(script.parent, name) if module not in visited]
            visited.update(local)
            waiting += local
            if not local and not any(map(files.exists, _local_places(script.parent, name))):
                packages.add(name)
    return frozenset(packages)


def missing_in(python: Path, packages: Iterable[str]) -> tuple[str, ...]:
    """Return the packages that an interpreter does not have, sorted."""
    folders = interpreters.site_packages(python)
    return tuple(sorted(name for name in packages if not any(_holds(folder, name) for folder in folders)))


def capable(pythons: Iterable[Path], packages: Iterable[str]) -> Path | None:
    """Return the first interpreter that has all packages."""
    names = tuple(packages)
    return next((python for python in pythons if not missing_in(python, names)), None)


@dataclass(frozen=True, kw_only=True)
class PythonChoice:
    """`packages`: what the script imports. `missing`: of each interpreter, what it does not have; a bare `python` of
    the line is Path(). `proposed`: the interpreter to choose where that of the line lacks something and another has
    all; else None."""

    packages: frozenset[str]
    missing: dict[Path, tuple[str, ...]]
    proposed: Path | None


def choose_python(spec: OwnSpec, project: str, pythons: Sequence[Path]) -> PythonChoice:
    """Judge interpreters for the script of a spec, whose own choice of one is left aside. Reads files, so not for the
    UI thread."""
    free = replace(spec, program=replace(spec.program, python=Path()))
    script = script_of(free, project)
    packages = imports_of(script) if script is not None else frozenset()
    implied = python_of(free, project)
    missing = {python: missing_in(python, packages) for python in pythons} | {Path(): missing_in(implied, packages)}
    is_free = "/" not in program_line.parse_program_line(spec.program.line).python
    proposed = capable(pythons, packages) if is_free and missing[Path()] else None
    return PythonChoice(packages=packages, missing=missing, proposed=proposed)


def other_python(run: Run, module: str) -> tuple[Path, OwnSpec] | None:
    """Return an interpreter that has what a run's script imports and the module that was missing, and the run's spec
    with it; None where there is none, or the run cannot be repeated as it was."""
    spec, problems = schema.from_json(OwnSpec, run.request.values)
    project = run.request.project
    if problems or run.request.command != "script":
        return None
    script = script_of(spec, project)
    packages = imports_of(script) if script is not None else frozenset()
    trusted = Path(project) if project and trust.is_trusted(Path(project)) else None
    python = capable(interpreters.discover(trusted), packages | {module.partition(".")[0]})
    return (python, replace(spec, program=replace(spec.program, python=python))) if python is not None else None


def _imported(path: Path) -> Iterator[str]:
    try:
        tree = ast.parse(files.read_bytes(path, MAX_BYTES))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in tree.body:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        else:
            continue
        yield from (top for name in names if (top := name.partition(".")[0]) and top not in sys.stdlib_module_names)


def _local(folder: Path, name: str) -> list[Path]:
    return [path for path in _local_places(folder, name) if path.suffix == ".py" and files.is_file(path)]


def _local_places(folder: Path, name: str) -> tuple[Path, ...]:
    return folder / f"{name}.py", folder / name / "__init__.py", folder / name


def _holds(folder: Path, name: str) -> bool:
    """Tell whether a site-packages folder has a package: as a folder, a module, an extension, or an editable one."""
    places = (folder / name, folder / f"{name}.py", *folder.glob(f"{name}.*.so"), *folder.glob(f"{name}.so"))
    editable = folder.glob(f"__editable__*{name.replace('-', '_')}*")
    return any(map(files.exists, places)) or any(True for _ in editable)
