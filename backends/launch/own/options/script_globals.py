"""Options of nanoGPT-like scripts: their own globals, which a file of assignments and then --key=value override."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from backends.launch.own.options.option import (
    Option,
    help_text,
    kind_of,
    looks_like_path,
    value_of,
)
from backends.launch.own.options.source import (
    Unknown,
    bound,
    called,
    comments,
    literal,
    source_of,
    statements,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backends.launch.own.options.source import Source

CONFIG = "config"
"""The words of such a script that are no --key=value: files of assignments."""
_CONFIGURATOR = re.compile(r"configurator\.py")
_WHOLE = (ast.ListComp, ast.DictComp, ast.Call, ast.Dict, ast.List, ast.Subscript)


def configured(source: Source) -> list[Option]:
    """nanoGPT's way: globals above exec(open('configurator.py').read()); a file of them, then --key=value."""
    top = list(statements(source.tree.body))
    at = next((node.lineno for node in top if isinstance(node, ast.Expr) and _is_configurator(node.value)), None)
    if at is None:
        return []
    comment_by_line = comments(source)
    file = Option(flag=CONFIG, kind="list", form="words", positional=True, multiple=True, line=at)
    globals_by_name = {
        name: _global(name, value, source, comment_by_line)
        for node in top
        if node.lineno < at
        for name, value in _plain(node)
    }
    return [file, *(option for option in globals_by_name.values() if option is not None)]


def _is_configurator(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called(node) == "exec" and bool(_CONFIGURATOR.search(source_of(node)))


def assigned(source: Source) -> Iterator[tuple[str, ast.expr]]:
    """What the module itself binds, also in its conditions."""
    for node in statements(source.tree.body):
        yield from _plain(node)


def _plain(node: ast.stmt) -> list[tuple[str, ast.expr]]:
    return [(name, value) for name, value in bound(node).items() if not name.startswith("_")]


def _global(name: str, node: ast.expr, source: Source, comment_by_line: Mapping[int, str]) -> Option | None:
    option = Option(flag=f"--{name}", names=(f"--{name}",), form="equals", line=node.lineno,
                    help=help_text(comment_by_line.get(node.end_lineno or 0, "")))  # fmt: skip
    return _set(option, node, source)


def _set(option: Option, node: ast.expr, source: Source) -> Option | None:
    try:
        value = literal(node, source)
    except Unknown:
        return None if isinstance(node, _WHOLE) else replace(option, default=None, default_source=source_of(node))
    if not isinstance(value, (bool, int, float, str)):
        return None
    kind = kind_of(value)
    kind = "path" if kind == "text" and looks_like_path(option.name) else kind
    return replace(option, kind=kind, default=value_of(value, kind), default_source="")


def with_files(options: Sequence[Option], files: Sequence[Source]) -> tuple[Option, ...]:
    """With the values that files of assignments give these globals, one after the other, and the file that does."""
    by_flag = {option.flag: option for option in options}
    for source in files:
        for name, node in assigned(source):
            option = by_flag.get(f"--{name}")
            if option is not None and option.form == "equals":
                known_option = _set(option, node, source) or replace(
                    option, default=None, default_source=source_of(node)
                )
                by_flag[option.flag] = replace(known_option, path=str(source.path))
    return tuple(by_flag.values())
