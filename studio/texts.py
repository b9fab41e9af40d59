"""Every sentence a person reads, in both languages: `t("launch.start")` from `assets/i18n/<language>.toml`.

A file `<prefix>.<language>.toml` holds the texts whose keys begin with `<prefix>.` or `<prefix>_`; it is read when the
first of them is looked up. A feature may bring files of both kinds in its own folder.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal

from studio.paths import ASSETS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from pathlib import Path

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

_current: list[Language] = []
_folders: list[Path] = [ASSETS / "i18n"]


def system_language() -> Language:
    """The language of the session, in the order in which POSIX looks: LANGUAGE, LC_ALL, LC_MESSAGES, LANG."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name, ""):
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def language() -> Language:
    return _current[0] if _current else system_language()


def use(chosen: Language) -> None:
    _current[:] = [chosen]


def _flat(table: dict[str, Any], prefix: str = "") -> dict[str, str]:
    texts: dict[str, str] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            texts |= _flat(value, f"{prefix}{name}.")
        else:
            texts[prefix + name] = value
    return texts


def add_folder(folder: Path) -> None:
    """Look for texts also in a folder, as in that of a feature. One without texts is passed over."""
    if folder not in _folders and any(folder.glob(f"*{LANGUAGES[0]}.toml")):
        _folders.append(folder)
        prefixes.cache_clear()
        catalogue.cache_clear()


@lru_cache(maxsize=1)
def prefixes() -> frozenset[str]:
    """The prefixes whose texts are in files of their own."""
    end = f".{LANGUAGES[0]}.toml"
    return frozenset(path.name.removesuffix(end) for folder in _folders for path in folder.glob(f"*{end}"))


@cache
def catalogue(chosen: Language, prefix: str = "") -> dict[str, str]:
    """All texts of a prefix by their dotted keys; without one those that have no file of their own."""
    name = f"{prefix}.{chosen}.toml" if prefix else f"{chosen}.toml"
    texts: dict[str, str] = {}
    for folder in _folders:
        if (folder / name).is_file():
            texts |= _read(folder / name)
    return texts


def all_texts(chosen: Language) -> dict[str, str]:
    """Every text of a language by its dotted key."""
    return {key: text for prefix in ("", *prefixes()) for key, text in catalogue(chosen, prefix).items()}


def _read(path: Path) -> dict[str, str]:
    with path.open("rb") as file:
        return _flat(tomllib.load(file))


def find(key: str, chosen: Language) -> str | None:
    """The text itself, its placeholders not filled; None where there is none."""
    prefix = key.partition(".")[0].partition("_")[0]
    return catalogue(chosen, prefix if prefix in prefixes() else "").get(key)


def has(key: str) -> bool:
    return find(key, language()) is not None


def t(key: str, /, **args: Any) -> str:
    """The text of a key, its `{placeholders}` filled. An unknown key, of a newer run, comes back as it is."""
    return t_in(language(), key, **args)


def t_in(chosen: Language, key: str, /, **args: Any) -> str:
    """The same in another language than that of the window, for what is sent to somebody."""
    text = find(key, chosen)
    if text is None:
        return f"{key} {args}" if args else key
    try:
        return text.format(**{name: _Counted(value) if ":" in text else value for name, value in args.items()})
    except (KeyError, IndexError, ValueError, TypeError):
        return text


_WORDS = re.compile(r"\{(\w+):[^{}|]*\|([^{}]*)\}")


def with_plurals(text: str) -> str:
    """Return a text for those who fill it in without `t`: what is behind a count is for several."""
    return _WORDS.sub(r"{\1} \2", text)


class _Counted:
    """A value of a text, with the word behind it: `{n:lane|lanes}` gives "1 lane" and "2 lanes". Other formats, and
    attributes, are those of the value."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __format__(self, spec: str) -> str:
        singular, bar, plural = spec.partition("|")
        return f"{self._value} {singular if str(self._value) == '1' else plural}" if bar else format(self._value, spec)

    def __str__(self) -> str:
        return str(self._value)

    def __repr__(self) -> str:
        return repr(self._value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._value, name)
