"""The options of a user's script, read from its source without running it: argparse, click, absl, fire, dataclasses
given to a parser (Hugging Face, simple_parsing, tyro) and the globals of nanoGPT-like scripts."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.launch.own.options import config_files
from backends.launch.own.options.call_parsers import Argparse, click
from backends.launch.own.options.config_files import Config
from backends.launch.own.options.dataclass_parsers import Fields
from backends.launch.own.options.fields import Classes
from backends.launch.own.options.flag_libraries import absl, fire
from backends.launch.own.options.option import Option, Value
from backends.launch.own.options.script_globals import CONFIG, configured, with_files
from backends.launch.own.options.source import called, imported, load_source, source_of
from backends.launch.own.options.words import parse_words, to_words
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from backends.launch.own.options.source import Source

__all__ = [
    "Option",
    "ScriptOptions",
    "Value",
    "parse_words",
    "read_line_options",
    "read_options",
    "read_script_options",
    "to_words",
]

_MAX_MODULES = 40
_DEEPEST = 2


@dataclass(frozen=True, kw_only=True)
class ScriptOptions:
    """What a script's source says of its options. `unread`: lines of options that are named by an expression;
    `library_classes`: classes of a library that give further ones; `reason`: why nothing could be read, None where it
    could; `configs`: files of settings that the line gives."""

    options: tuple[Option, ...] = ()
    unread: tuple[int, ...] = ()
    library_classes: tuple[str, ...] = ()
    reason: StudioError | None = None
    configs: tuple[Config, ...] = ()


def read_line_options(script: Path | None, arguments: Sequence[str], folder: Path) -> ScriptOptions:
    """As `read_script_options`, with what the files say that the arguments name. Never raises."""
    declared = read_script_options(script) if script is not None and script.suffix == ".py" else ScriptOptions()
    if any(option.positional and option.flag == CONFIG and option.form == "words" for option in declared.options):
        return _with_globals(declared, arguments, folder)
    named = (file for file in config_files.named(arguments, folder) if file.path != script)
    return replace(declared, configs=tuple(filter(None, map(config_files.read_config, named))))


def _with_globals(declared: ScriptOptions, arguments: Sequence[str], folder: Path) -> ScriptOptions:
    """Files of assignments over the globals of a script: what they set is a default, not a setting beside it."""
    words = parse_words(declared.options, arguments)[0].get(CONFIG, ())
    wrong, sources = [], []
    for word in words[: config_files.MAX_FILES] if isinstance(words, tuple) else ():
        path = folder / word.replace("\0", "")
        try:
            config_files.text_of(path)
            sources.append(load_source(path))
        except StudioError as error:
            wrong.append(Config(path=path, reason=error))
    return replace(declared, options=with_files(declared.options, sources), configs=tuple(wrong))


def read_options(script: Path) -> tuple[Option, ...]:
    """In the order of the source; () where there are none or the file cannot be read. Never raises, never runs it."""
    return read_script_options(script).options


def read_script_options(script: Path) -> ScriptOptions:
    """As `read`, with what is missing. Never raises."""
    try:
        return _read_source(load_source(script))
    except StudioError as error:
        return ScriptOptions(reason=error)
    except (RecursionError, MemoryError, ValueError) as error:
        text = str(error) or type(error).__name__
        return ScriptOptions(reason=StudioError("options.syntax", path=str(script), line=0, reason=text[:200]))


def _read_source(source: Source) -> ScriptOptions:
    parts = _parts(source)
    argparse = [Argparse(source=part) for part, _ in parts]
    for reader, (_, body) in zip(argparse, parts, strict=True):
        reader.read(body)
    fields = Fields(sources=[part for part, _ in parts])
    fields.read(parts)
    options = [
        replace(option, path="" if reader.source is source else str(reader.source.path))
        for reader in argparse
        for option in reader.options
    ]
    of_calls = [*configured(source), *click(source), *absl(parts), *options]
    of_functions = fire(source, Classes([part for part, _ in parts]))
    options = _without_doubles([*of_calls, *of_functions, *fields.options])
    return ScriptOptions(
        options=tuple(options),
        unread=(*argparse[0].unread, *fields.unread),
        library_classes=tuple(fields.library_classes),
    )


def _without_doubles(options: Iterable[Option]) -> list[Option]:
    """The first of each flag: where a module has several parsers, nobody knows which of them runs."""
    by_flag: dict[tuple[str, str], Option] = {}
    for option in options:
        by_flag.setdefault((option.command, option.flag), option)
    return list(by_flag.values())


def _parts(script: Source) -> list[tuple[Source, list[ast.stmt]]]:
    """The script whole, and of the local modules that it imports what it uses of them."""
    parts: list[tuple[Source, list[ast.stmt]]] = [(script, script.tree.body)]
    done: Counter[Path] = Counter([script.path])
    waiting = [(script, script.tree.body, 0)]
    while waiting and len(parts) < _MAX_MODULES:
        source, body, depth = waiting.pop(0)
        used = _used(body)
        for path, names, alias in imported(source):
            if done[path] or depth >= _DEEPEST:
                continue
            try:
                module = load_source(path)
            except (StudioError, RecursionError):
                continue
            used_names = names & used if names is not None else _attributes(body, alias)
            done[path] += 1
            part = _reached(module, used_names)
            parts.append((module, part))
            waiting.append((module, part, depth + 1))
    return parts


def _used(body: list[ast.stmt]) -> set[str]:
    return {name.id for node in body for name in ast.walk(node) if isinstance(name, ast.Name)}


def _attributes(body: list[ast.stmt], module: str) -> set[str]:
    """What is used of an imported module: get_args, of utils.get_args()."""
    last = module.rpartition(".")[2]
    return {
        attribute.attr
        for node in body
        for attribute in ast.walk(node)
        if isinstance(attribute, ast.Attribute) and called(attribute.value) == last
    }


def _reached(module: Source, names: set[str]) -> list[ast.stmt]:
    """What runs when a module is imported, and the functions and classes that these names lead to."""
    body = [node for node in module.tree.body if not _is_main(node) and not _is_definition(node)]
    waiting = [*names, *_used(body)]
    reached: dict[str, ast.stmt] = {}
    while waiting:
        name = waiting.pop()
        node = module.functions.get(name) or module.classes.get(name)
        if node is not None and name not in reached:
            reached[name] = node
            waiting += _used([node])
    return sorted([*body, *reached.values()], key=lambda node: node.lineno)


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__main__" in source_of(node.test)
