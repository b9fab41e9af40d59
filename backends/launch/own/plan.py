"""From a line to the command that does it: pure, apart from looking which files are there."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch import ascend_env
from backends.launch.own import program
from backends.launch.own.spec import rows
from backends.launch.plan import HOOKS, hooks_of, is_inside
from studio import interpreters
from studio.command import Command
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backends.launch.own.program import Program
    from backends.launch.own.spec import OwnSpec
    from studio.run import Run

_VENVS = (".venv", "venv", "env")


def plan(spec: OwnSpec, run: Run, environ: Mapping[str, str] = os.environ) -> Command:
    """`environ`: the worker's."""
    found = program.read(spec.program.line)
    folder = folder_of(spec, run.asked.project)
    python = interpreter(spec, run.asked.project, environ)
    argv = _words(found, python or on_path(found.python, environ))
    return Command(argv=argv, cwd=folder, env=_environment(spec, python))


def folder_of(spec: OwnSpec, project: str) -> Path:
    """Where the program starts: a script that is given by its whole path starts in its own folder."""
    script = Path(program.read(spec.program.line).script)
    if spec.program.workdir != Path():
        return spec.program.workdir
    if script.is_absolute():
        return script.parent
    return Path(project) if project else Path.home()


def script_of(spec: OwnSpec, project: str) -> Path | None:
    """The file that is run, where the line says which."""
    found = program.read(spec.program.line)
    is_file = found.names_a_file or (found.kind == "launcher" and found.script)
    return folder_of(spec, project) / found.script if is_file else None


def interpreter(spec: OwnSpec, project: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The Python that is chosen: by the field, by the line, by an environment that was activated, by one that lies in
    the project. None: what a shell would find."""
    if spec.program.python != Path():
        return spec.program.python
    found, folder = program.read(spec.program.line), folder_of(spec, project)
    if "/" in found.python:
        return folder / found.python
    if found.kind == "launcher" and "/" in found.words[0]:
        beside = (folder / found.words[0]).parent / "python"
        return beside if beside.is_file() else None
    places = (*_activated(environ), *_of_project(folder, Path(project) if project else folder))
    pythons = (place / "bin" / (found.python or "python") for place in places)  # python3.9 is no other one
    return next((python for python in pythons if python.is_file()), None)


def python_of(spec: OwnSpec, project: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The Python that the program will most likely run in."""
    return interpreter(spec, project, environ) or on_path(program.read(spec.program.line).python, environ)


def on_path(name: str, environ: Mapping[str, str]) -> Path:
    """Debian has no `python` of its own; without any, there is the studio's."""
    names = filter(None, (name, "python", "python3"))
    found = next(filter(None, (shutil.which(one, path=environ.get("PATH")) for one in names)), None)
    return Path(found) if found else interpreters.embedded()


def _activated(environ: Mapping[str, str]) -> Iterator[Path]:
    """Not the studio's own environment, and not conda's first, which every shell of its users has."""
    venv = environ.get("VIRTUAL_ENV", "")
    if venv and Path(venv) != Path(sys.prefix):
        yield Path(venv)
    if environ.get("CONDA_PREFIX") and environ.get("CONDA_DEFAULT_ENV", "base") != "base":
        yield Path(environ["CONDA_PREFIX"])


def _of_project(folder: Path, project: Path) -> Iterator[Path]:
    """From the folder where the program starts up to the project."""
    for one in (folder, *folder.parents):
        yield from (one / name for name in _VENVS)
        if one == project or not one.is_relative_to(project):
            return


def _words(found: Program, python: Path) -> tuple[str, ...]:
    if found.python:
        return (str(python), *found.words[1:])
    if found.kind in ("python", "module"):
        return (str(python), *found.words)
    if found.kind == "shell" and found.words[0] == found.script:
        return ("bash", *found.words)
    return found.words


def _environment(spec: OwnSpec, python: Path | None) -> dict[str, str]:
    """The chosen interpreter's folder comes first: bash, torchrun and msrun start the bare name `python`."""
    wanted = ("curves", "captures") if spec.recording.curves else ("captures",)
    env = {"PYTHONUNBUFFERED": "1", HOOKS: hooks_of(spec.planned, *wanted)}
    if cards := ascend_env.cards(spec.limits.visible):
        env[ascend_env.NAMES["visible"]] = ",".join(map(str, cards))
    env |= dict(rows(spec))
    if python is not None:
        env["PATH"] = os.pathsep.join(filter(None, (str(python.parent), env.get("PATH", ""))))
    return env


def check(command: Command, spec: OwnSpec, environ: Mapping[str, str] = os.environ) -> None:
    """Raises StudioError where the program or its script is not there, before a shell would say it in its own words."""
    found = program.read(spec.program.line)
    if found.names_a_file and not (command.cwd / found.script).exists():
        raise StudioError("launch.own.no_script", script=found.script, folder=str(command.cwd))
    first = command.argv[0]
    path = os.pathsep.join(filter(None, (command.env.get("PATH", ""), environ.get("PATH", ""))))
    if shutil.which(str(command.cwd / first) if "/" in first else first, path=path) is None:
        folders = str((command.cwd / first).parent) if "/" in first else path
        raise StudioError("launch.own.no_program", program=first, folders=folders)


def code_of(spec: OwnSpec, folder: Path) -> tuple[Path, ...]:
    """What a start would run of a folder, the project: interpreter and script; what cannot be seen from the line, such
    as a module, is the folder that it starts in."""
    project = str(folder)
    start = folder_of(spec, project)
    found = program.read(spec.program.line)
    named = start / found.words[0] if found.words and "/" in found.words[0] else None
    given = (interpreter(spec, project), script_of(spec, project) or named or start)
    return tuple(dict.fromkeys(path for path in given if path is not None and is_inside(path, folder)))
