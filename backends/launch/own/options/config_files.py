"""Files of `key = value` that a line gives to a script: ini, cfg, conf, toml, yaml, json, assignments of Python. They
are read as text, never run, and never written."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.launch.own.options.script_globals import assigned
from backends.launch.own.options.source import load_source, source_of
from studio import files
from studio.environment import is_secret
from studio.errors import StudioError, from_os

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

LONGEST = 1 << 20
"""Bytes of a file that is read."""
MAX_SETTINGS = 500
MAX_FILES = 8
_DEEPEST = 8
_LONGEST_TEXT = 300
_SURE = re.compile(
    r"(^|[-_.])(config|configs|cfg|conf|configuration|setting|settings|hparams|hyp|params|recipe|deepspeed)"
    r"([-_.]?(file|path|name|json|yaml|toml))?$"
)
_SETTING = re.compile(r"\s*([^\s=:#;\[][^=:]*?)\s*[=:]\s*(.*?)\s*$")
_SECTION = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:[#;].*)?$")
_YAML = re.compile(
    r"""( *)("[^"\n]*"|'[^'\n]*'|[^\s#"'\-\[\]{}&*!|>%@`,?:][^#\n]*?|-[^\s#][^#\n]*?)\s*:(?:\s+(.*))?$"""
)
_YAML_COMMENT = re.compile(r"(?:^|\s)#.*$")
_YAML_MARK = re.compile(r"[&!]\S*$")
_YAML_ITEM = re.compile(r" *- ?")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """`key`: with what it lies in, train.lr; `value`: as the file has it; "" of a secret, see `is_hidden`."""

    key: str
    value: str
    is_hidden: bool = False


@dataclass(frozen=True, kw_only=True)
class Config:
    """`left`: how many settings more the file has; `reason`: why its values cannot be shown."""

    path: Path
    settings: tuple[Setting, ...] = ()
    left: int = 0
    reason: StudioError | None = None


@dataclass(frozen=True, kw_only=True)
class Named:
    """A file that a line names. `is_sure`: the option that takes it says that it is a configuration."""

    path: Path
    is_sure: bool


def is_name(flag: str) -> bool:
    """Whether an option says by its name that it takes a configuration: --config, --deepspeed_config."""
    return bool(_SURE.search(flag.lstrip("-").lower()))


def candidates(arguments: Sequence[str], folder: Path) -> tuple[Path, ...]:
    """Every file that a change of may change what is shown."""
    words = [value for _, value in _valued(arguments) if "\0" not in value and Path(value).suffix.lower() in READERS]
    return tuple(dict.fromkeys(folder / word for word in words))[:MAX_FILES]


def named(arguments: Sequence[str], folder: Path) -> tuple[Named, ...]:
    """Files that may be configurations, from the words of a script. Looks at no file."""
    candidates: dict[Path, bool] = {}
    for name, value in _valued(arguments):
        suffix = Path(value).suffix.lower()
        if suffix not in READERS or "\0" in value:
            continue
        is_sure = is_name(name)
        if is_sure or suffix not in (".json", ".py") or (not name and _looks_like_path(value)):
            candidates[folder / value] = candidates.get(folder / value, False) or is_sure
    return tuple(Named(path=path, is_sure=is_sure) for path, is_sure in candidates.items())[:MAX_FILES]


def _valued(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word with the flag that it belongs to, "" where none does."""
    flag = ""
    for word in arguments:
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            flag = "" if equals else word
            if equals:
                yield name, value
        else:
            yield flag, word
            flag = ""


def _looks_like_path(value: str) -> bool:
    """config/train.py, conf.json, my_config.json: others are scripts or data."""
    path = Path(value.lower())
    names = (*path.parts[:-1], *re.split(r"[-_.]", path.stem))
    return any(name in ("config", "configs", "cfg", "cfgs", "conf", "settings", "hparams") for name in names)


def read_config(named: Named) -> Config | None:
    """None where it is no such file and nobody said that it is one. Never raises."""
    try:
        pairs = READERS[named.path.suffix.lower()](named.path)
    except StudioError as error:
        return Config(path=named.path, reason=error) if named.is_sure else None
    except (ValueError, RecursionError, MemoryError) as error:
        message = " ".join((str(error) or type(error).__name__).split())[:200]
        reason = StudioError("options.config_syntax", path=str(named.path), reason=message)
        return Config(path=named.path, reason=reason) if named.is_sure else None
    settings = [_setting(key, value) for key, value in dict(pairs).items()]
    if not settings:
        empty = StudioError("options.config_empty", path=str(named.path))
        return Config(path=named.path, reason=empty) if named.is_sure else None
    return Config(path=named.path, settings=tuple(settings[:MAX_SETTINGS]), left=max(0, len(settings) - MAX_SETTINGS))


def _setting(key: str, value: str) -> Setting:
    hidden = is_secret(re.split(r"[.\s]", key)[-1].replace("-", "_"))
    return Setting(key=_short(key), value="" if hidden else _short(value), is_hidden=hidden)


def _short(text: str) -> str:
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= _LONGEST_TEXT else line[:_LONGEST_TEXT] + "…"


def text_of(path: Path) -> str:
    """Raises StudioError: not there, no file, too large, no text in UTF-8."""
    try:
        if path.exists() and not path.is_file():  # opening a pipe would wait for its other end
            raise StudioError("options.config_text", path=str(path))
        with files.open_regular(path) as file:
            data = file.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        raise from_os(error if isinstance(error, OSError) else OSError(str(error)), path) from error
    if len(data) > LONGEST:
        raise StudioError("options.config_large", path=str(path), most=LONGEST >> 20)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StudioError("options.config_text", path=str(path)) from error
    if "\0" in text:
        raise StudioError("options.config_text", path=str(path))
    return text


# Each reader: keys and values in the order of the file; a later one of the same key counts.

Pairs = list[tuple[str, str]]


def ini(path: Path) -> Pairs:
    """Also without sections. A line that is indented goes on with the value above."""
    pairs: Pairs = []
    section = ""
    for line in text_of(path).splitlines():
        if not line.strip() or line.lstrip()[0] in "#;":
            continue
        if match := _SECTION.match(line):
            section = match[1].strip() + "."
        elif line[0].isspace() and pairs and "=" not in line:
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]} {line.strip()}".strip())
        elif match := _SETTING.match(line):
            pairs.append((section + match[1], match[2]))
    return pairs


def toml(path: Path) -> Pairs:
    return list(_flat(tomllib.loads(text_of(path))))


def plain_json(path: Path) -> Pairs:
    tree = json.loads(text_of(path))
    return list(_flat(tree)) if isinstance(tree, dict) else []


def _flat(tree: dict[str, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, dict) and value and depth < _DEEPEST:
            yield from _flat(value, f"{before}{key}.", depth + 1)
        else:
            yield before + key, _value(value)


def _value(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return value if isinstance(value, str) else str(value)


def yaml(path: Path) -> Pairs:
    """Maps in maps, and lists of plain items; what else there is in YAML is shown as it is written, or as …"""
    return _Yaml().read(text_of(path))


class _Yaml:
    """`around`: depth and name of the keys that the next line may lie in; `skipped`: what lies deeper than this belongs
    to the value above; `open`: brackets that are not closed yet."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self._around: list[tuple[int, str]] = []
        self._last = ""
        self._skipped = self._open = 0

    def read(self, text: str) -> Pairs:
        self._skipped = 1 << 30
        for line in _first_document(text):
            depth = len(line) - len(line.lstrip(" "))
            if self._open > 0:
                self._open += _brackets(line)
            elif line.strip() and depth <= self._skipped:
                self._line(line, depth)
            elif line.strip() and self._last:
                self._add(" …")
        return list(self.values.items())

    def _line(self, line: str, depth: int) -> None:
        self._skipped = 1 << 30
        item = _YAML_ITEM.match(line)
        while self._around and (self._around[-1][0] > depth or (self._around[-1][0] == depth and not item)):
            self._around.pop()
        if item:
            if self._last:
                text = _uncommented(line[item.end() :])
                self._add(f", {text}" if self.values[self._last] else text)
                self._skipped = depth
        elif match := _YAML.match(line):
            self._pair(depth, match[2].strip("\"'"), _uncommented(match[3] or ""))
        elif self._last:
            self._add(" " + line.strip())

    def _pair(self, depth: int, name: str, value: str) -> None:
        names = [section for _, section in self._around]
        if self._around and not self.values.get(".".join(names), "…"):
            del self.values[".".join(names)]
        if len(names) < _DEEPEST * 4:
            self._around.append((depth, name))
        self._last = ".".join([*names, name])
        self.values.pop(self._last, None)
        self.values[self._last] = "…" if value[:1] in ("|", ">") else _YAML_MARK.sub("", value)
        if value[:1] in ("|", ">", '"', "'"):
            self._skipped = depth
        elif value[:1] in ("{", "["):
            self._open = _brackets(value)
            self._add(" …" if self._open > 0 else "")

    def _add(self, text: str) -> None:
        value = self.values[self._last]
        if len(value) < _LONGEST_TEXT and not value.endswith("…"):
            self.values[self._last] = value + text


def _brackets(text: str) -> int:
    return sum(letter in "{[" for letter in text) - sum(letter in "}]" for letter in text)


def _first_document(text: str) -> Iterator[str]:
    is_inside = False
    for line in text.splitlines():
        is_comment = line.lstrip().startswith("#")
        if line.startswith(("---", "...")):
            if is_inside:
                return
        elif not line.startswith("%") and not is_comment:
            is_inside = is_inside or bool(line.strip())
            yield line


def _uncommented(value: str) -> str:
    if value[:1] in ("'", '"'):
        end = value.find(value[0], 1)
        return value[: end + 1] if end > 0 else value
    return _YAML_COMMENT.sub("", value).strip()


def python(path: Path) -> Pairs:
    text_of(path)
    loaded = load_source(path)
    return [(name, source_of(value)) for name, value in assigned(loaded)]


READERS: dict[str, Callable[[Path], Iterable[tuple[str, str]]]] = {
    ".ini": ini, ".cfg": ini, ".conf": ini, ".properties": ini, ".toml": toml, ".json": plain_json, ".yaml": yaml,
    ".yml": yaml, ".py": python,
}  # fmt: skip
