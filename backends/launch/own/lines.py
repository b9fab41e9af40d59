"""The start of a program of the user's own in other forms, to copy: a line for a shell, and the values of run.json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from backends.launch.lines import by_flag, folded, head
from studio import schema

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.own.spec import OwnSpec


def shell(spec: OwnSpec, project: Path | None) -> str:
    """The program's own words stand on lines of their own, behind `--`."""
    words = schema.arguments(spec)
    place = words.index(schema.BEHIND)
    flags, line = words[:place], by_flag(words[place + 1 :])
    begin = (schema.BEHIND, *(line[0] if line else ()))
    return folded([*head("launch", project), *by_flag(flags), begin, *line[1:]])


def values(spec: OwnSpec) -> str:
    """What run.json keeps of the choices."""
    return json.dumps(schema.to_json(spec), indent=2, ensure_ascii=False)
