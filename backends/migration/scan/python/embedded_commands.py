"""Commands and code that a module gives to a shell or to Python as text."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from backends.migration.scan.python.message_texts import is_message_text
from backends.migration.scan.python.module import ProjectExports, try_parse_module
from backends.migration.scan.python.occurrences import MAX_TEXT, make_occurrence
from backends.migration.scan.python.positions import LineStarts
from backends.migration.scan.python.text_templates import text_template
from backends.migration.scan.python.text_uses import called_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.python.module import Module

ScriptScanner: TypeAlias = "Callable[[str, str], Iterator[Occurrence]]"
"""Scans a shell script, given its path and text."""
ModuleScanner: TypeAlias = "Callable[[Module], Iterator[Occurrence]]"

_MENTIONS = re.compile(r"(?i)cuda|nccl|nvidia|\bcu\d|\bpip\b|gpu|torch|nsys|nvprof|nvcc")
_RUNNERS = re.compile(
    r"(?:^|\.)(?:system|popen|run|call|check_call|check_output|Popen|getoutput|getstatusoutput|run_cmd|run_command"
    r"|exec_command|execute_command|run_shell|shell|sh|create_subprocess_shell|create_subprocess_exec|which)$"
)
_CODE = re.compile(r"^(?:exec|eval|compile|timeit\.(?:timeit|repeat|Timer))$")
_SMI = re.compile(r"(?:^|[/;|&`( ])nvidia-smi\b")
_PREAMBLE = "import torch\n"  # code that is evaluated knows the names around it
_LONGEST_COMMAND = 10_000


def scan_commands(module: Module, scan_script: ScriptScanner, scan_module: ModuleScanner) -> Iterator[Occurrence]:
    """Scan the texts that a module runs; the scanners of shell and of Python are passed in, as they call this one."""
    executed = set()
    for call, function in module.calls:
        name = function or called_name(call, module)
        if _RUNNERS.search(name):
            executed.update(call.args[:1])
            for node, text in _command_texts(call, module):
                yield from _scan_shell_text(module, node, text, scan_script)
        elif _CODE.match(name) and call.args:
            yield from _scan_code(module, call.args[0], scan_module)
    yield from _scan_loose_texts(module, executed)


def _command_texts(call: ast.Call, module: Module) -> Iterator[tuple[ast.expr, str]]:
    """Each first argument that is a command: a text, or a list of words."""
    if not call.args:
        return
    first = call.args[0]
    words = first.elts if isinstance(first, ast.List | ast.Tuple) else None
    if words is None:
        text = text_template(first)
        if text is not None and _MENTIONS.search(text.value) and len(text.value) < _LONGEST_COMMAND:
            yield first, text.value
    elif len(words) < 100:
        parts = [text.value if (text := text_template(word)) is not None else "{}" for word in words]
        if _MENTIONS.search(" ".join(parts)):
            yield first, " ".join(word if re.fullmatch(r"[\w./:=,@%+{}>-]+", word) else f"'{word}'" for word in parts)


def _scan_shell_text(module: Module, node: ast.expr, text: str, scan_script: ScriptScanner) -> Iterator[Occurrence]:
    """Scan a text as shell; occurrences are located in the source of the text."""
    for occurrence in scan_script(module.path, text):
        yield _relocated(module, node, text, occurrence, "command")


def _relocated(module: Module, node: ast.expr, text: str, occurrence: Occurrence, context: str) -> Occurrence:
    """Locate an occurrence inside a text: exactly where the source has the text unchanged, else as the whole text."""
    whole = make_occurrence(module, node, occurrence.category, occurrence.name, context)
    args = {**occurrence.args, "inner": occurrence.context} if occurrence.context else occurrence.args
    source = module.source(node)
    begin = _offset_in_source(source, text, occurrence)
    if begin < 0 or len(occurrence.text) >= MAX_TEXT:
        return msgspec.structs.replace(whole, args=args)
    span = module.span(node)
    line, column, end, end_column = LineStarts(source).span(begin, begin + len(occurrence.text))
    return msgspec.structs.replace(
        whole,
        line=span.line + line - 1,
        column=column + (span.column if line == 1 else 0),
        end=span.line + end - 1,
        end_column=end_column + (span.column if end == 1 else 0),
        text=occurrence.text,
        args=args,
    )


def _offset_in_source(source: str, text: str, occurrence: Occurrence) -> int:
    """Return the offset at which an occurrence begins in the source of its text, -1 where that is not certain."""
    if source.count(text) == 1:
        begin = source.find(text) + LineStarts(text).offset(occurrence.line, occurrence.column)
        return begin if source.startswith(occurrence.text, begin) else -1
    return source.find(occurrence.text) if occurrence.text and source.count(occurrence.text) == 1 else -1


def _scan_code(module: Module, node: ast.expr, scan_module: ModuleScanner) -> Iterator[Occurrence]:
    code = text_template(node)
    if code is None or not _MENTIONS.search(code.value) or len(code.value) > _LONGEST_COMMAND:
        return
    inner = try_parse_module(module.path, _PREAMBLE + code.value, ProjectExports())
    if inner is not None and not any(True for _ in _nested_code(inner)):
        for occurrence in scan_module(inner):
            relative = msgspec.structs.replace(occurrence, line=occurrence.line - 1, end=occurrence.end - 1)
            yield _relocated(module, node, code.value, relative, "code")


def _nested_code(module: Module) -> Iterator[ast.Call]:
    """Code in code is not followed."""
    return (call for call, function in module.calls if function is not None and _CODE.match(function))


def _scan_loose_texts(module: Module, executed: set[ast.expr]) -> Iterator[Occurrence]:
    """nvidia-smi in a text that no known function runs."""
    for node in module.nodes(ast.Constant):
        value = node.value
        is_call = isinstance(value, str) and "nvidia-smi" in value and _SMI.match(value.strip()) is not None
        parent = module.parent(node)
        is_executed = node in executed or (parent in executed and not isinstance(parent, ast.Call))
        if is_call and not is_executed and not is_message_text(node, module.index):
            yield make_occurrence(module, node, "nvidia_smi", "nvidia-smi", "command")
