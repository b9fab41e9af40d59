"""Texts to copy: the same start as a line for a shell, a script and the values of run.json; what a debugger needs."""

from __future__ import annotations

import getpass
import json
import platform
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
LOOPBACK = "127.0.0.1"


def program() -> str:
    """`ascend-studio` where a shell would find it, else its path beside our interpreter."""
    sibling = Path(sys.executable).with_name("ascend-studio")
    return str(sibling) if shutil.which("ascend-studio") is None and sibling.exists() else "ascend-studio"


def command_words(spec: LaunchSpec, project: Path | None) -> list[tuple[str, ...]]:
    """The words of the command, each flag together with its value. The recipe is always named."""
    words = schema.arguments(spec)
    if "--recipe" not in words:
        words = ("--recipe", spec.what.recipe, *words)
    return first_words("launch", project) + group_by_flag(words)


def first_words(command: str, project: Path | None) -> list[tuple[str, ...]]:
    """What each line begins with."""
    return [(program(),), ("--project", str(project)) if project else ("--no-project",), (command,)]


def group_by_flag(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Each flag together with its value."""
    groups_of_words: list[tuple[str, ...]] = []
    for word in words:
        if word.startswith("-") or not groups_of_words:
            groups_of_words.append((word,))
        else:
            groups_of_words[-1] = (*groups_of_words[-1], word)
    return groups_of_words


def shell_line(spec: LaunchSpec, project: Path | None, width: int = WIDTH) -> str:
    """A line for sh."""
    return folded(command_words(spec, project), width)


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


def python_script(spec: LaunchSpec, project: Path | None) -> str:
    """Python that does the same from any interpreter of this host."""
    rows = (", ".join(map(repr, group)) for group in command_words(spec, project))
    words = "\n".join(f"    {row}," for row in rows)
    return f"import subprocess\n\nsubprocess.run([\n{words}\n], check=True)\n"


def run_json_values(spec: LaunchSpec) -> str:
    """What run.json keeps of the choices."""
    return json.dumps(schema.to_json(spec), indent=2, ensure_ascii=False)


def vs_code_attach(ports: range) -> str:
    """VS Code's launch.json; each rank listens on a port of its own. `justMyCode` would keep the debugger out of the
    engine, which is no part of the open folder."""
    names = ["Ascend training"] if len(ports) == 1 else [f"Ascend training, rank {rank}" for rank in range(len(ports))]
    configurations = [
        {
            "name": name,
            "type": "debugpy",
            "request": "attach",
            "connect": {"host": LOOPBACK, "port": port},
            "justMyCode": False,
        }
        for name, port in zip(names, ports, strict=True)
    ]
    return json.dumps({"version": "0.2.0", "configurations": configurations}, indent=2)


def ssh_tunnel(ports: range) -> str:
    """The line for another machine that brings the ports there: they are open on this host only."""
    forwards = " ".join(f"-L {port}:{LOOPBACK}:{port}" for port in ports)
    return f"ssh -N {forwards} {_user()}@{platform.node()}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "USER"
