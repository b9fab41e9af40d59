"""The newest training of the project, with which a capture and a proof of determinism begin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio import schema

if TYPE_CHECKING:
    from studio.project import Project
    from studio.run import Glance, Run

COMMANDS = ("script", "determinism", "certify")


def with_last_training(spec: Any, project: Project | None, listed: list[tuple[Run, Glance]]) -> Any:
    """Return `spec` with `line`, `workdir` and `python` of the newest run that has a command line, else with the
    project's folder."""
    spec = schema.with_value(spec, "workdir", project.folder if project else Path())
    sections = (_training_section(run) for run, _ in listed if run.request.command in COMMANDS) if project else ()
    section = next(filter(None, sections), {})
    if not section:
        return spec
    spec = schema.with_value(spec, "line", tuple(map(str, section["line"])))
    for name in ("workdir", "python"):
        value = section.get(name)
        if isinstance(value, str) and Path(value) != Path():
            spec = schema.with_value(spec, name, Path(value))
    return spec


def _training_section(run: Run) -> dict[str, Any]:
    sections = (section for section in run.request.values.values() if isinstance(section, dict))
    return next((section for section in sections if isinstance(section.get("line"), list) and section["line"]), {})
