"""The newest training of the project, with which a capture and a proof of determinism begin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio import schema

if TYPE_CHECKING:
    from studio.project import Project
    from ui.services.last_program import LastProgram

COMMANDS = ("script", "determinism")


def with_folder(spec: Any, project: Project | None) -> Any:
    return schema.with_value(spec, "workdir", project.folder if project else Path())


def with_training(spec: Any, project: Project | None, program: LastProgram | None) -> Any:
    """Return `spec` with `line`, `workdir` and `python` of the newest run that has a command line, else with the
    project's folder."""
    spec = with_folder(spec, project)
    if program is None:
        return spec
    section = program.section
    spec = schema.with_value(spec, "line", tuple(map(str, section["line"])))
    for name in ("workdir", "python"):
        value = section.get(name)
        if isinstance(value, str) and Path(value) != Path():
            spec = schema.with_value(spec, name, Path(value))
    return spec
