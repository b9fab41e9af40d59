"""The same start in other forms, to copy: a line for a shell, a script, and the values of run.json."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from studio import schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.launch.spec import LaunchSpec

WIDTH = 44


def program() -> str:
    """`ascend-studio` where a shell would find it, else its path beside our interpreter."""
    beside = Path(sys.executable).with_name("ascend-studio")
    return str(beside) if shutil.which("ascend-studio") is None and beside.exists() else "ascend-studio"


def groups(spec: LaunchSpec, project: Path | None) -> list[tuple[str, ...]]:
    """The words of the command, each flag together with its value. The recipe is always named."""
    words = schema.arguments(spec)
    if "--recipe" not in words:
        words = ("--recipe", spec.what.recipe, *words)
    return head("launch", project) + by_flag(words)


def head(command: str, project: Path | None) -> list[tuple[str, ...]]:
    """What each line begins with."""
    return [(program(),), ("--project", str(project)) if project else ("--no-project",), (command,)]


def by_flag(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each flag together with its value."""
    found: list[tuple[str, ...]] = []
    for word in words:
        if word.startswith("-") or not found:
            found.append((word,))
        else:
            found[-1] = (*found[-1], word)
    return found


def shell(spec: LaunchSpec, project: Path | None, width: int = WIDTH) -> str:
    """A line for sh."""
    return folded(groups(spec, project), width)


def folded(words: Sequence[tuple[str, ...]], width: int = WIDTH) -> str:
    """Groups of words as a line for sh, folded with backslashes; no group is ever split."""
    lines: list[str] = []
    for group in words:
        text = shlex.join(group)
        if lines and len(lines[-1]) + 1 + len(text) <= width - 2:
            lines[-1] += " " + text
        else:
            lines.append("  " + text if lines else text)
    return " \\\n".join(lines)


def script(spec: LaunchSpec, project: Path | None) -> str:
    """Python that does the same from any interpreter of this host."""
    rows = (", ".join(map(repr, group)) for group in groups(spec, project))
    words = "\n".join(f"    {row}," for row in rows)
    return f"import subprocess\n\nsubprocess.run([\n{words}\n], check=True)\n"


def values(spec: LaunchSpec) -> str:
    """What run.json keeps of the choices."""
    return json.dumps(schema.to_json(spec), indent=2, ensure_ascii=False)
