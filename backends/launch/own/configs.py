"""What a file of settings says, without running it: key = value in Python, ini, toml, json or plain yaml."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from backends.launch.own import option_source
from backends.launch.own.option import text_of, value_of
from studio.errors import StudioError, from_os

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from backends.launch.own.option import Option, Value

LONGEST = 1 << 20
MOST = 2000

_INI = re.compile(r"\s*([\w.\-/]{1,200})\s*[=:]\s*(.*?)\s*$")
_SECTION = re.compile(r"\s*\[([^\]]{1,200})\]\s*$")
_YAML = re.compile(r"( *)([\w.\-/]{1,200}|\"[^\"]{1,200}\"|'[^']{1,200}')\s*:(?: +(.*?))?\s*$")
_NOTHING = ("", "null", "~", "|", ">", "|-", ">-")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """`key`: dotted where it stands in a section; `value`: a literal, or None where only a run tells it, then `text` is
    its source; `line`: from 1, 0 where it is not known."""

    key: str
    value: Any
    text: str
    line: int = 0


def read(path: Path) -> tuple[Entry, ...]:
    """In the order of the file. Raises StudioError with the reason where the file cannot be read."""
    if path.suffix == ".py":
        return tuple(_python(path))[:MOST]
    text = _text(path)
    try:
        if path.suffix in (".json", ".toml"):
            whole = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
            return tuple(_placed(_flat(whole), text))[:MOST]
        return tuple(_yaml(text) if path.suffix in (".yaml", ".yml") else _ini(text))[:MOST]
    except (ValueError, RecursionError) as error:
        raise StudioError("options.config", path=str(path), reason=str(error)[:200]) from error


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST + 1)
    except OSError as error:
        raise from_os(error, path) from error
    if len(data) > LONGEST:
        raise StudioError("options.large", path=str(path), most=LONGEST >> 20)
    return data.decode("utf-8-sig", "replace")


def _python(path: Path) -> Iterator[Entry]:
    """nanoGPT's config/*.py: the names that the module binds."""
    source = option_source.load(path)
    for node in option_source.statements(source.tree.body):
        for key, expression in option_source.bound(node).items():
            try:
                value = option_source.literal(expression, source)
                yield Entry(key=key, value=value, text=text_of(value), line=node.lineno)
            except option_source.Unknown:
                yield Entry(key=key, value=None, text=option_source.source_of(expression), line=node.lineno)


def _flat(value: Any, key: str = "") -> Iterator[Entry]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(inner, f"{key}.{name}" if key else str(name))
    elif key:
        value = tuple(value) if isinstance(value, list) else value
        yield Entry(
            key=key, value=value, text=", ".join(map(text_of, value)) if isinstance(value, tuple) else text_of(value)
        )


def _placed(entries: Iterable[Entry], text: str) -> Iterator[Entry]:
    """With the line that names the key, looked for from the one before on."""
    lines, at = text.splitlines(), 0
    for entry in entries:
        name = re.compile(rf"(?<![\w.-]){re.escape(entry.key.rpartition('.')[2])}(?![\w-])")
        found = next((place for place in range(at, len(lines)) if name.search(lines[place])), None)
        at = at if found is None else found
        yield entry if found is None else replace(entry, line=found + 1)


def _ini(text: str) -> Iterator[Entry]:
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if match := _SECTION.match(line[:500]):
            section = f"{match[1]}."
        elif line.lstrip()[:1] not in ("#", ";", "") and (match := _INI.match(line[:2000])):
            value = match[2].split(" #")[0].split(" ;")[0].strip()
            yield Entry(key=section + match[1], value=value.strip("\"'"), text=value, line=number)


def _yaml(text: str) -> Iterator[Entry]:
    """Lines of key: value, by their indentation; what is more than that in yaml is left out."""
    above: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _YAML.match(line[:2000])
        if match is None or line.lstrip().startswith("#"):
            continue
        depth, key, value = len(match[1]), match[2].strip("\"'"), (match[3] or "").split(" #")[0].strip()
        while above and above[-1][0] >= depth:
            above.pop()
        whole = ".".join([name for _, name in above] + [key])
        if value in _NOTHING or value.startswith("#"):
            above.append((depth, key))
        else:
            yield Entry(key=whole, value=value.strip("\"'"), text=value, line=number)


def as_defaults(options: Sequence[Option], entries: Iterable[Entry]) -> tuple[Option, ...]:
    """The options of a script whose config file is read before its other words: what the file sets is their default,
    so that only what differs from the file is written."""
    said = {entry.key.replace("-", "_"): entry for entry in entries}
    return tuple(_with(option, said.get(option.name.replace("-", "_"))) for option in options)


def _with(option: Option, entry: Entry | None) -> Option:
    if entry is None or option.positional:
        return option
    if entry.value is None:
        return replace(option, default=None, default_source=entry.text)
    return replace(option, default=_value(option, entry), default_source="")


def _value(option: Option, entry: Entry) -> Value | None:
    if option.kind == "bool" and isinstance(entry.value, str):
        return entry.value.lower() in ("true", "yes", "on", "1")
    return value_of(entry.value, option.kind)
