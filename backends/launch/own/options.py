"""The options of a user's script, read from its source without running it: argparse, click, dataclasses given to a
parser (Hugging Face, simple_parsing, tyro) and the globals of nanoGPT-like scripts."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.launch.own import configs, option_source
from backends.launch.own.configs import Config
from backends.launch.own.option import Option, Value
from backends.launch.own.option_fields import Fields
from backends.launch.own.option_globals import CONFIG, configured, with_files
from backends.launch.own.option_parsers import Argparse, click
from backends.launch.own.option_words import parse_words, to_words
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from backends.launch.own.option_source import Source

__all__ = ["Found", "Option", "Value", "look", "look_at_line", "parse_words", "read", "to_words"]

_MOST_MODULES = 40
_DEEPEST = 2


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a script's source says of its options. `unread`: lines of options that are named by an expression;
    `beside`: classes of a library that give further ones; `reason`: why nothing could be read, None where it could;
    `configs`: files of settings that the line gives."""

    options: tuple[Option, ...] = ()
    unread: tuple[int, ...] = ()
    beside: tuple[str, ...] = ()
    reason: StudioError | None = None
    configs: tuple[Config, ...] = ()


def look_at_line(script: Path | None, arguments: Sequence[str], folder: Path) -> Found:
    """As `look`, with what the files say that the arguments name. Never raises."""
    found = look(script) if script is not None and script.suffix == ".py" else Found()
    if any(option.positional and option.flag == CONFIG and option.form == "words" for option in found.options):
        return _with_globals(found, arguments, folder)
    named = (one for one in configs.named(arguments, folder) if one.path != script)
    return replace(found, configs=tuple(filter(None, map(configs.read, named))))


def _with_globals(found: Found, arguments: Sequence[str], folder: Path) -> Found:
    """Files of assignments over the globals of a script: what they set is a default, not a setting beside it."""
    words = parse_words(found.options, arguments)[0].get(CONFIG, ())
    wrong, sources = [], []
    for word in words[: configs.MOST_FILES] if isinstance(words, tuple) else ():
        path = folder / word.replace("\0", "")
        try:
            configs.text_of(path)
            sources.append(option_source.load(path))
        except StudioError as error:
            wrong.append(Config(path=path, reason=error))
    return replace(found, options=with_files(found.options, sources), configs=tuple(wrong))


def read(script: Path) -> tuple[Option, ...]:
    """In the order of the source; () where there are none or the file cannot be read. Never raises, never runs it."""
    return look(script).options


def look(script: Path) -> Found:
    """As `read`, with what is missing. Never raises."""
    try:
        return _look(option_source.load(script))
    except StudioError as error:
        return Found(reason=error)
    except (RecursionError, MemoryError, ValueError) as error:
        said = str(error) or type(error).__name__
        return Found(reason=StudioError("options.syntax", path=str(script), line=0, reason=said[:200]))


def _look(source: Source) -> Found:
    parts = _parts(source)
    argparse = [Argparse(source=part) for part, _ in parts]
    for reader, (_, body) in zip(argparse, parts, strict=True):
        reader.read(body)
    fields = Fields(sources=[part for part, _ in parts])
    fields.read(parts)
    found = [
        replace(option, path="" if reader.source is source else str(reader.source.path))
        for reader in argparse
        for option in reader.options
    ]
    found = _without_doubles([*configured(source), *click(source), *found, *fields.options])
    return Found(options=tuple(found), unread=(*argparse[0].unread, *fields.unread), beside=tuple(fields.beside))


def _without_doubles(options: Iterable[Option]) -> list[Option]:
    """The first of each flag: where a module has several parsers, nobody knows which of them runs."""
    found: dict[tuple[str, str], Option] = {}
    for option in options:
        found.setdefault((option.command, option.flag), option)
    return list(found.values())


def _parts(script: Source) -> list[tuple[Source, list[ast.stmt]]]:
    """The script whole, and of the local modules that it imports what it uses of them."""
    found: list[tuple[Source, list[ast.stmt]]] = [(script, script.tree.body)]
    done: Counter[Path] = Counter([script.path])
    waiting = [(script, script.tree.body, 0)]
    while waiting and len(found) < _MOST_MODULES:
        source, body, depth = waiting.pop(0)
        used = _used(body)
        for path, names, here in option_source.imported(source):
            if done[path] or depth >= _DEEPEST:
                continue
            try:
                module = option_source.load(path)
            except (StudioError, RecursionError):
                continue
            wanted = names & used if names is not None else _attributes(body, here)
            done[path] += 1
            part = _reached(module, wanted)
            found.append((module, part))
            waiting.append((module, part, depth + 1))
    return found


def _used(body: list[ast.stmt]) -> set[str]:
    return {one.id for node in body for one in ast.walk(node) if isinstance(one, ast.Name)}


def _attributes(body: list[ast.stmt], module: str) -> set[str]:
    """What is used of an imported module: get_args, of utils.get_args()."""
    last = module.rpartition(".")[2]
    return {
        one.attr
        for node in body
        for one in ast.walk(node)
        if isinstance(one, ast.Attribute) and option_source.called(one.value) == last
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
    return isinstance(node, ast.If) and "__main__" in option_source.source_of(node.test)
