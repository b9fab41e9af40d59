"""Which project the official tool reads, and where the tool is."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backends.migration.official.tool import find_tool
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Asked:
    """`tool` empty: that of the CANN on this host. `api_version`: of the lists that the tool ships."""

    path: Path = option(Path(), positional=True)
    tool: Path = option(Path(), wants="file")
    api_version: Literal["2.1.0", "2.6.0", "2.7.1", "2.8.0"] = option("2.8.0")


def tool_of(asked: Asked) -> Path | None:
    return find_tool() if asked.tool == Path() else asked.tool


def _path_is_a_folder(spec: OfficialSpec) -> Iterable[Problem]:
    if spec.asked.path == Path():
        yield Problem(field="path", rule="migration.rule.no_path")
    elif not spec.asked.path.is_dir():
        yield Problem(field="path", rule="migration.rule.no_folder", args={"path": str(spec.asked.path)})


def _tool_is_there(spec: OfficialSpec) -> Iterable[Problem]:
    tool = tool_of(spec.asked)
    if tool is None:
        yield Problem(field="tool", rule="migration.rule.no_tool")
    elif not tool.is_file():
        yield Problem(field="tool", rule="migration.rule.no_file", args={"path": str(tool)})


@dataclass(frozen=True, kw_only=True)
class OfficialSpec:
    asked: Asked = field(default_factory=Asked)

    RULES = (_path_is_a_folder, _tool_is_there)
