"""Shell scripts, makefiles, and shell inside other files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files import command_scanner, config_files, embedded, gpu_names
from backends.migration.scan.files.scanned_text import ScannedText
from backends.migration.scan.files.shell_lexer import ShellCommand, ShellLexer
from backends.migration.scan.python.module_scanner import scan_module

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.python.module import Module


DIRECTIVE = re.compile(r"^[ \t]*#(?:SBATCH|PBS|BSUB|QSUB|\$)[ \t]+([^\r\n]*)", re.MULTILINE)
OPTION = re.compile(r"(?<!\S)--?[A-Za-z]")
PYTHON = re.compile(r"(?:python|pypy|ipython)[\d.]*\Z|\$\{?\w*PYTHON\w*\}?\Z", re.IGNORECASE)
SHELLS = frozenset({"sh", "bash", "zsh", "ksh", "dash", "ssh", "sbatch", "su", "eval"})
SHEBANG = re.compile(r"\s*#![^\r\n]*(?:sh|python[\d.]*)\b")
SCRIPTS = (".sh", ".bash", ".slurm", ".sbatch", ".bashrc", ".profile")
DEPTH = 6


def scan_shell_script(path: str, text: str) -> Iterator[Occurrence]:
    """Scan a whole script with its here-documents and `python -c`; comments and what is only echoed do not count."""
    source = ScannedText(path, text)
    yield from scan_scheduler_requests(source)
    yield from scan_shell(source, 0, len(text))


def scan_python(module: Module) -> Iterator[Occurrence]:
    """Scan a Python module, shell commands in its texts included."""
    yield from scan_module(module, scan_shell_script)


def scan_scheduler_requests(source: ScannedText) -> Iterator[Occurrence]:
    """Requests for GPUs in the comments that a batch system reads."""
    for match in DIRECTIVE.finditer(source.text):
        for option in OPTION.finditer(source.text, *match.span(1)):
            request = command_scanner.SCHEDULED.match(source.text, option.start(), match.end(1))
            if request:
                yield command_scanner.scheduler_request(source, *request.span(), request[0], "shell_cuda")


def scan_shell(source: ScannedText, begin: int, end: int, category: str = "shell_cuda") -> Iterator[Occurrence]:
    """Scan the commands in text[begin:end]. `category`: that of commands, values and paths."""
    visited: set[tuple[int, int, str]] = set()
    for occurrence in _scan_commands(source, (begin, end), category):
        key = (occurrence.line, occurrence.column, occurrence.category)
        if key not in visited:
            visited.add(key)
            yield occurrence


def _scan_commands(source: ScannedText, whole: tuple[int, int], category: str) -> Iterator[Occurrence]:
    """The commands, then those of $(…) and of quoted command lines in them, which the commands' words hold too."""
    scanner = command_scanner.CommandScanner(source=source, category=category)
    pending = [(whole, 0)]
    visited = {whole}
    while pending:
        region, depth = pending.pop()
        lexer = ShellLexer(source.text, *region)
        inner: list[tuple[int, int]] = []
        for command in lexer.commands():
            yield from scanner.scan_command(command)
            yield from _scan_scripts(source, command, category)
            inner += _command_strings(source, command)
        if depth < DEPTH:
            new_regions = [inner_region for inner_region in (*inner, *lexer.nested) if inner_region not in visited]
            visited.update(new_regions)
            pending.extend((inner_region, depth + 1) for inner_region in new_regions)


def _scan_scripts(source: ScannedText, command: ShellCommand, category: str) -> Iterator[Occurrence]:
    """Python and shell handed to an interpreter: with -c, as a here-document, or written to a file by one."""
    names = [command_scanner.command_name(word) for word in command.words]
    python = next((at for at, name in enumerate(names) if PYTHON.match(name)), None)
    if python is not None and "-c" in names[python:-1]:
        script = command.words[names.index("-c", python) + 1]
        yield from embedded.scan_embedded_python(source, *_unquoted(source, script.begin, script.end), scan_python)
    if command.body:
        yield from _scan_heredoc(source, command, names, python is not None, category)


def _scan_heredoc(
    source: ScannedText, command: ShellCommand, names: list[str], is_python: bool, category: str
) -> Iterator[Occurrence]:
    """A here-document counts for what reads it, for the file it is written to, or by its own first line."""
    begin, end = command.body or (0, 0)
    shebang = SHEBANG.match(source.text, begin, end)
    if is_python or command.target.endswith(".py") or (shebang and "python" in shebang[0]):
        yield from embedded.scan_embedded_python(source, begin, end, scan_python)
    elif command.target.endswith(SCRIPTS) or shebang or not SHELLS.isdisjoint(names):
        yield from scan_shell(source, begin, end, category)
    else:
        yield from config_files.scan_config_region(source, command.target, scan_shell, begin, end)


def _unquoted(source: ScannedText, begin: int, end: int) -> tuple[int, int]:
    """The region between the quotes around text[begin:end], or that region where there are none."""
    text = source.text
    quoted = end - begin >= 2 and text[begin] in "\"'" and text[end - 1] == text[begin]
    return (begin + 1, end - 1) if quoted else (begin, end)


def _command_strings(source: ScannedText, command: ShellCommand) -> Iterator[tuple[int, int]]:
    """Regions of quoted strings that hold a command line: what a variable is set to, what a shell is given."""
    names = [command_scanner.command_name(word) for word in command.words]
    for at, word in enumerate(command.words):
        if not any(blank in word.value for blank in " \t\n"):
            continue
        assignment = command_scanner.ASSIGNMENT.match(word.value)
        is_argument = (at and names[at - 1] in ("-c", "--command", "--wrap", "-lc", "-ic", "eval")) or "ssh" in names[
            :1
        ]
        if assignment or is_argument:
            begin = word.at[assignment.end() - 1] + 1 if assignment else word.begin
            yield _unquoted(source, begin, word.end)


LOGICAL_LINE = re.compile(r"(?:[^\r\n\\]|\\(?:\r\n|.)?)*(?:\r\n|\r|\n|\Z)", re.DOTALL)
MAKE_VARIABLE = re.compile(r"(?:(?:export|override)\s+)*([A-Za-z_][\w.-]*)\s*(?:[:?+!]{0,3}=)[ \t]*")
MAKE_EXPORT = re.compile(r"export[ \t]+\w+")


def scan_makefile(path: str, text: str) -> Iterator[Occurrence]:
    """Recipe lines are shell; a variable's value is read as one command."""
    source = ScannedText(path, text)
    at = 0
    while at < len(text) and (line := LOGICAL_LINE.match(text, at)) and line.end() > at:
        yield from _scan_makefile_line(source, at, line.end())
        at = line.end()


def _scan_makefile_line(source: ScannedText, begin: int, end: int) -> Iterator[Occurrence]:
    if source.text.startswith("\t", begin):
        while source.text[begin : begin + 1] in ("\t", "@", "-", "+", " "):
            begin += 1
        yield from scan_shell(source, begin, end)
    elif variable := MAKE_VARIABLE.match(source.text, begin, end):
        if gpu_names.ENVIRONMENT.match(variable[1]):
            value = source.text[variable.end() : end].strip()
            yield source.occurrence(
                *variable.span(1), "cuda_env", name=variable[1], context="env", args={"value": value}
            )
        yield from scan_shell(source, variable.end(), end)
    elif MAKE_EXPORT.match(source.text, begin, end):
        yield from scan_shell(source, begin, end)
