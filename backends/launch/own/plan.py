"""From a line to the command that does it: pure, apart from looking which files are there."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from backends.common import program_line
from backends.launch import ascend_env
from backends.launch.own.spec import environment_rows
from backends.launch.plan import HOOKS, hooks_of, is_inside
from backends.launch.python_probe import refuse_other_program
from studio import files, interpreters
from studio.command import Command
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backends.common.program_line import Program
    from backends.launch.own.spec import OwnSpec
    from studio.run import Run

_VENVS = (".venv", "venv", "env")


def program_command(spec: OwnSpec, run: Run, environ: Mapping[str, str] = os.environ) -> Command:
    """`environ`: the worker's."""
    program = program_line.parse_program_line(spec.program.line)
    folder = folder_of(spec, run.request.project)
    python = interpreter(spec, run.request.project, environ)
    argv = _words(program, python or on_path(program.python, environ))
    return Command(argv=argv, cwd=folder, env=_environment(spec, python))


def folder_of(spec: OwnSpec, project: str) -> Path:
    """Where the program starts: a script that is given by its whole path starts in its own folder."""
    script = Path(program_line.parse_program_line(spec.program.line).script)
    if spec.program.workdir != Path():
        return spec.program.workdir
    if script.is_absolute():
        return script.parent
    return Path(project) if project else Path.home()


def script_of(spec: OwnSpec, project: str) -> Path | None:
    """The file that is run, where the line says which."""
    program = program_line.parse_program_line(spec.program.line)
    is_file = program.names_a_file or (program.kind == "launcher" and program.script)
    return folder_of(spec, project) / program.script if is_file else None


def code_locations(spec: OwnSpec, project: str) -> tuple[Path | None, Path | None]:
    """Return the script that is run and the project's folder, each None where it is not known."""
    return script_of(spec, project), Path(project) if project else None


def interpreter(spec: OwnSpec, project: str, environ: Mapping[str, str] = os.environ) -> Path | None:
    """The Python that is chosen: by the field, by the line, by an environment that was activated, by one that lies in
    the project. None: what a shell would find."""
    if spec.program.python != Path():
        return spec.program.python
    program, folder = program_line.parse_program_line(spec.program.line), folder_of(spec, project)
    if "/" in program.python:
        return folder / program.python
    if program.kind == "launcher" and "/" in program.words[0]:
        sibling = (folder / program.words[0]).parent / "python"
        return sibling if files.is_file(sibling) else None
    places = (*_activated(environ), *_of_project(folder, Path(project) if project else folder))
    pythons = (root / "bin" / (program.python or "python") for root in places)  # python3.9 is no other one
    return next((python for python in pythons if files.is_file(python)), None)


def python_of(spec: OwnSpec, project: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The Python that the program will most likely run in."""
    return interpreter(spec, project, environ) or on_path(
        program_line.parse_program_line(spec.program.line).python, environ
    )


def on_path(name: str, environ: Mapping[str, str]) -> Path:
    """Debian has no `python` of its own; without any, there is the studio's."""
    names = filter(None, (name, "python", "python3"))
    python = next(filter(None, (shutil.which(program_name, path=environ.get("PATH")) for program_name in names)), None)
    return Path(python) if python else interpreters.embedded()


def _activated(environ: Mapping[str, str]) -> Iterator[Path]:
    """Not the studio's own environment, and not conda's first, which every shell of its users has."""
    venv = environ.get("VIRTUAL_ENV", "")
    if venv and Path(venv) != Path(sys.prefix):
        yield Path(venv)
    if environ.get("CONDA_PREFIX") and environ.get("CONDA_DEFAULT_ENV", "base") != "base":
        yield Path(environ["CONDA_PREFIX"])


def _of_project(folder: Path, project: Path) -> Iterator[Path]:
    """From the folder where the program starts up to the project."""
    for ancestor in (folder, *folder.parents):
        yield from (ancestor / name for name in _VENVS)
        if ancestor == project or not ancestor.is_relative_to(project):
            return


def _words(program: Program, python: Path) -> tuple[str, ...]:
    if program.python:
        return (str(python), *program.words[1:])
    if program.kind in ("python", "module"):
        return (str(python), *program.words)
    if program.kind == "shell" and program.words[0] == program.script:
        return ("bash", *program.words)
    return program.words


def _environment(spec: OwnSpec, python: Path | None) -> dict[str, str]:
    """The chosen interpreter's folder comes first: bash, torchrun and msrun start the bare name `python`."""
    hooks = ("curves", "captures") if spec.recording.curves else ("captures",)
    env = {"PYTHONUNBUFFERED": "1", HOOKS: hooks_of(spec.planned, *hooks)}
    if cards := ascend_env.cards(spec.limits.visible):
        env[ascend_env.NAMES["visible"]] = ",".join(map(str, cards))
    env |= dict(environment_rows(spec))
    if python is not None:
        env["PATH"] = os.pathsep.join(filter(None, (str(python.parent), env.get("PATH", ""))))
    return env


def check_program(command: Command, spec: OwnSpec, environ: Mapping[str, str] = os.environ) -> None:
    """Raises StudioError where the program or its script is not there, before a shell would say it in its own words."""
    program = program_line.parse_program_line(spec.program.line)
    if program.names_a_file and not files.exists(command.cwd / program.script):
        raise StudioError("launch.own.no_script", script=program.script, folder=str(command.cwd))
    if spec.program.python != Path():
        refuse_other_program(Path(os.path.abspath(spec.program.python)))  # noqa: PTH100 - a link is another Python
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
    program = program_line.parse_program_line(spec.program.line)
    named = start / program.words[0] if program.words and "/" in program.words[0] else None
    code_files = (interpreter(spec, project), script_of(spec, project) or named or start)
    return tuple(dict.fromkeys(path for path in code_files if path is not None and is_inside(path, folder)))
