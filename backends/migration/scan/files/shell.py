"""Shell scripts, and shell inside other files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import commands, embedded
from backends.migration.scan.files.source import Source
from backends.migration.scan.files.words import Command, Lexer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place

DIRECTIVE = re.compile(r"^[ \t]*#(?:SBATCH|PBS|BSUB|QSUB|\$)[ \t]+([^\r\n]*)", re.MULTILINE)
PYTHON = re.compile(r"(?:python|pypy|ipython)[\d.]*\Z|\$\{?\w*PYTHON\w*\}?\Z", re.IGNORECASE)
SHELLS = frozenset({"sh", "bash", "zsh", "ksh", "dash", "ssh", "sbatch", "su", "eval"})
SHEBANG = re.compile(r"\s*#![^\r\n]*(?:sh|python[\d.]*)\b")
SCRIPTS = (".sh", ".bash", ".slurm", ".sbatch", ".bashrc", ".profile")
DEPTH = 6


def places(path: str, text: str) -> Iterator[Place]:
    """Of a whole script, here-documents and `python -c` included; comments and what is only echoed say nothing."""
    source = Source(path, text)
    yield from scheduled(source)
    yield from read(source, 0, len(text))


def scheduled(source: Source) -> Iterator[Place]:
    """Requests for GPUs in the comments that a batch system reads."""
    for found in DIRECTIVE.finditer(source.text):
        asks = commands.SCHEDULED.match(found[1])
        if asks:
            begin = found.start(1)
            yield commands.scheduler(source, begin, begin + asks.end(), asks[0], "shell_cuda")


def read(source: Source, begin: int, end: int, category: str = "shell_cuda") -> Iterator[Place]:
    """Of the commands in text[begin:end]; `category` is that of commands, values and paths."""
    seen: set[tuple[int, int, str]] = set()
    for place in _commands(source, (begin, end), category):
        key = (place.line, place.column, place.category)
        if key not in seen:
            seen.add(key)
            yield place


def _commands(source: Source, whole: tuple[int, int], category: str) -> Iterator[Place]:
    """The commands, then those of $(…) and of quoted command lines in them, which the commands' words hold too."""
    reader = commands.Reader(source=source, category=category)
    waiting = [(whole, 0)]
    known = {whole}
    while waiting:
        region, depth = waiting.pop()
        lexer = Lexer(source.text, *region)
        inner: list[tuple[int, int]] = []
        for command in lexer.commands():
            yield from reader.places(command)
            yield from _scripts(source, command, category)
            inner += _strings(source, command)
        if depth < DEPTH:
            fresh = [each for each in (*inner, *lexer.nested) if each not in known]
            known.update(fresh)
            waiting.extend((each, depth + 1) for each in fresh)


def _scripts(source: Source, command: Command, category: str) -> Iterator[Place]:
    """Python and shell handed to an interpreter: with -c, as a here-document, or written to a file by one."""
    named = [commands.name_of(word) for word in command.words]
    python = next((at for at, name in enumerate(named) if PYTHON.match(name)), None)
    if python is not None and "-c" in named[python:-1]:
        script = command.words[named.index("-c", python) + 1]
        yield from embedded.python(source, *_unquoted(source, script.begin, script.end))
    if command.body:
        yield from _body(source, command, named, python is not None, category)


def _body(source: Source, command: Command, named: list[str], python: bool, category: str) -> Iterator[Place]:
    """A here-document counts for what reads it, for the file it is written to, or by its own first line."""
    begin, end = command.body or (0, 0)
    shebang = SHEBANG.match(source.text, begin, end)
    if python or command.target.endswith(".py") or (shebang and "python" in shebang[0]):
        yield from embedded.python(source, begin, end)
    elif command.target.endswith(SCRIPTS) or shebang or not SHELLS.isdisjoint(named):
        yield from read(source, begin, end, category)
    else:
        from backends.migration.scan.files import config  # which reads the commands in settings with this module

        yield from config.read(source, command.target, begin, end)


def _unquoted(source: Source, begin: int, end: int) -> tuple[int, int]:
    """The region between the quotes around text[begin:end], or that region where there are none."""
    text = source.text
    quoted = end - begin >= 2 and text[begin] in "\"'" and text[end - 1] == text[begin]
    return (begin + 1, end - 1) if quoted else (begin, end)


def _strings(source: Source, command: Command) -> Iterator[tuple[int, int]]:
    """Regions of quoted strings that hold a command line: what a variable is set to, what a shell is given."""
    named = [commands.name_of(word) for word in command.words]
    for at, word in enumerate(command.words):
        if not any(blank in word.value for blank in " \t\n"):
            continue
        assigned = commands.ASSIGNMENT.match(word.value)
        given = (at and named[at - 1] in ("-c", "--command", "--wrap", "-lc", "-ic", "eval")) or "ssh" in named[:1]
        if assigned or given:
            begin = word.at[assigned.end() - 1] + 1 if assigned else word.begin
            yield _unquoted(source, begin, word.end)
