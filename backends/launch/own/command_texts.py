"""The start of a program of the user's own in other forms, to copy: a line for a shell, and the values of run.json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from backends.launch.command_texts import first_words, folded, group_by_flag
from studio import schema

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.own.spec import OwnSpec


def shell_line(spec: OwnSpec, project: Path | None) -> str:
    """The program's own words stand on lines of their own, behind `--`."""
    words = schema.arguments(spec)
    index = words.index(schema.BEHIND)
    flags, line = words[:index], group_by_flag(words[index + 1 :])
    begin = (schema.BEHIND, *(line[0] if line else ()))
    return folded([*first_words("launch", project), *group_by_flag(flags), begin, *line[1:]])


def run_json_values(spec: OwnSpec) -> str:
    """What run.json keeps of the choices."""
    return json.dumps(schema.to_json(spec), indent=2, ensure_ascii=False)
