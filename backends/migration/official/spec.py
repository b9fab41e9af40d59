"""The choices for a second opinion: which project to read, and where the tool is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backends.migration.official.tool import find_tool
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class OpinionOptions:
    """An empty `tool` stands for that of this host's CANN; `api_version` selects one of the lists that the tool
    ships."""

    path: Path = option(Path(), positional=True)
    tool: Path = option(Path(), wants="file")
    api_version: Literal["2.1.0", "2.6.0", "2.7.1", "2.8.0"] = option("2.8.0")


def tool_of(options: OpinionOptions) -> Path | None:
    """Return the tool to run, None where there is none."""
    return find_tool() if options.tool == Path() else options.tool


def _path_is_a_folder(spec: OfficialSpec) -> Iterable[Problem]:
    if spec.asked.path == Path():
        yield Problem(field="path", rule="migration.rule.no_path")
    elif not spec.asked.path.is_dir():
        yield Problem(field="path", rule="migration.rule.no_folder", args={"path": str(spec.asked.path)})


def _tool_exists(spec: OfficialSpec) -> Iterable[Problem]:
    tool = tool_of(spec.asked)
    if tool is None:
        yield Problem(field="tool", rule="migration.rule.no_tool")
    elif not tool.is_file():
        yield Problem(field="tool", rule="migration.rule.no_file", args={"path": str(tool)})


@dataclass(frozen=True, kw_only=True)
class OfficialSpec:
    asked: OpinionOptions = field(default_factory=OpinionOptions)

    RULES = (_path_is_a_folder, _tool_exists)
