"""The command lines that a project itself gives: its scripts, its README. Only read, never run."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.common.program_line import parse_program_line
from backends.migration.scan.text_files import UnreadableFile, decode_source, read_regular_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_LINES = 6
MAX_FILES = 20
MAX_FILE_BYTES = 1 << 18
_READMES = ("README.md", "README.rst", "README.txt", "README")
_COMMAND = re.compile(
    r"^\s*(?:\$\s+|>\s+)?((?:\w+=\S+\s+)*(?:python[\d.]*|torchrun|accelerate|deepspeed|bash|sh)\s+\S.*)$"
)
_FIRST = ("run.sh", "train.sh")


@dataclass(frozen=True, kw_only=True)
class ProposedLine:
    """`source`: the file of the project that gives it."""

    line: tuple[str, ...]
    source: str


def proposed_lines(project: Path) -> tuple[ProposedLine, ...]:
    """Return up to MAX_LINES, those of a run.sh first; only lines that start a script that is there."""
    proposals = {proposal.line: proposal for proposal in reversed(list(_listed(project)))}
    return tuple(reversed(proposals.values()))[:MAX_LINES]


def _listed(project: Path) -> Iterator[ProposedLine]:
    try:
        scripts = sorted((path.name for path in project.glob("*.sh")), key=lambda name: (name not in _FIRST, name))
    except OSError:
        return
    for name in scripts[:MAX_FILES]:
        if any(_lines_of(project, name)):
            yield ProposedLine(line=("bash", name), source=name)
    for name in _READMES:
        yield from (ProposedLine(line=line, source=name) for line in _lines_of(project, name))


def _lines_of(project: Path, name: str) -> Iterator[tuple[str, ...]]:
    for text in _joined(_read(project / name)):
        match = _COMMAND.match(text)
        words = _words(match[1].rstrip("`")) if match else ()
        script = parse_program_line(words).script if words else ""
        if script and (project / script).is_file():
            yield words


def _joined(text: str) -> list[str]:
    """Return lines, with those that a backslash continues as one."""
    return re.sub(r"\\\n\s*", " ", text).splitlines()


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a simple command; none where a shell would do more than start it."""
    try:
        words = tuple(shlex.split(text, comments=True))
    except ValueError:
        return ()
    is_simple = not any(re.search(r"[|&;<>$`*{]", word) for word in words)
    return words if is_simple else ()


def _read(path: Path) -> str:
    try:
        return decode_source(read_regular_file(path, MAX_FILE_BYTES)).text
    except UnreadableFile:
        return ""
