"""Commands and code that a module gives to a shell or to Python as text."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan.python.literals import template
from backends.migration.scan.python.positions import Starts
from backends.migration.scan.python.quiet import is_quiet
from backends.migration.scan.python.seen import LONGEST, seen
from backends.migration.scan.python.uses import called

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.python.module import Module

_WORTH = re.compile(r"(?i)cuda|nccl|nvidia|\bcu\d|\bpip\b|gpu|torch|nsys|nvprof|nvcc")
_RUNNERS = re.compile(
    r"(?:^|\.)(?:system|popen|run|call|check_call|check_output|Popen|getoutput|getstatusoutput|run_cmd|run_command"
    r"|exec_command|execute_command|run_shell|shell|sh|create_subprocess_shell|create_subprocess_exec|which)$"
)
_CODE = re.compile(r"^(?:exec|eval|compile|timeit\.(?:timeit|repeat|Timer))$")
_SMI = re.compile(r"(?:^|[/;|&`( ])nvidia-smi\b")
_KNOWN = "import torch\n"  # code that is evaluated knows the names around it
_LONGEST_COMMAND = 10_000


def command_places(module: Module) -> Iterator[Place]:
    run = set()
    for call, function in module.calls:
        name = function or called(call, module)
        if _RUNNERS.search(name):
            run.update(call.args[:1])
            for node, text in _commands(call, module):
                yield from _shell(module, node, text)
        elif _CODE.match(name) and call.args:
            yield from _code(module, call.args[0])
    yield from _alone(module, run)


def _commands(call: ast.Call, module: Module) -> Iterator[tuple[ast.expr, str]]:
    """Each first argument that is a command: a text, or a list of words."""
    if not call.args:
        return
    first = call.args[0]
    words = first.elts if isinstance(first, ast.List | ast.Tuple) else None
    if words is None:
        found = template(first)
        if found is not None and _WORTH.search(found.value) and len(found.value) < _LONGEST_COMMAND:
            yield first, found.value
    elif len(words) < 100:
        texts = [found.value if (found := template(word)) is not None else "{}" for word in words]
        if _WORTH.search(" ".join(texts)):
            yield first, " ".join(word if re.fullmatch(r"[\w./:=,@%+{}>-]+", word) else f"'{word}'" for word in texts)


def _shell(module: Module, node: ast.expr, text: str) -> Iterator[Place]:
    """What the reader of shell scripts sees in it, at the place of the text."""
    from backends.migration.scan.files import shell  # which reads the Python inside of shell scripts with this package

    for place in shell.places(module.path, text):
        yield _within(module, node, text, place, "command")


def _within(module: Module, node: ast.expr, text: str, place: Place, context: str) -> Place:
    """The place of a part of a text: exact where the source has the text as it is, else that of the whole text."""
    whole = seen(module, node, place.category, place.name, context)
    args = {**place.args, "inner": place.context} if place.context else place.args
    source = module.source(node)
    begin = _begin(source, text, place)
    if begin < 0 or len(place.text) >= LONGEST:
        return msgspec.structs.replace(whole, args=args)
    span = module.span(node)
    line, column, end, end_column = Starts(source).span(begin, begin + len(place.text))
    return msgspec.structs.replace(
        whole,
        line=span.line + line - 1,
        column=column + (span.column if line == 1 else 0),
        end=span.line + end - 1,
        end_column=end_column + (span.column if end == 1 else 0),
        text=place.text,
        args=args,
    )


def _begin(source: str, text: str, place: Place) -> int:
    """Where in the source of a text a place of it begins, -1 where that is not certain."""
    if source.count(text) == 1:
        begin = source.find(text) + Starts(text).offset(place.line, place.column)
        return begin if source.startswith(place.text, begin) else -1
    return source.find(place.text) if place.text and source.count(place.text) == 1 else -1


def _code(module: Module, node: ast.expr) -> Iterator[Place]:
    from backends.migration.scan.python.module import Exports, parse
    from backends.migration.scan.python.places import places

    found = template(node)
    if found is None or not _WORTH.search(found.value) or len(found.value) > _LONGEST_COMMAND:
        return
    inner = parse(module.path, _KNOWN + found.value, Exports())
    if inner is not None and not any(True for _ in _nested(inner)):
        for place in places(inner):
            own = msgspec.structs.replace(place, line=place.line - 1, end=place.end - 1)
            yield _within(module, node, found.value, own, "code")


def _nested(module: Module) -> Iterator[ast.Call]:
    """Code in code is not followed."""
    return (call for call, function in module.calls if function is not None and _CODE.match(function))


def _alone(module: Module, run: set[ast.expr]) -> Iterator[Place]:
    """nvidia-smi in a text that no known function runs."""
    for node in module.nodes(ast.Constant):
        value = node.value
        asked = isinstance(value, str) and "nvidia-smi" in value and _SMI.match(value.strip()) is not None
        parent = module.parent(node)
        is_read = node in run or (parent in run and not isinstance(parent, ast.Call))
        if asked and not is_read and not is_quiet(node, module.index):
            yield seen(module, node, "nvidia_smi", "nvidia-smi", "command")
