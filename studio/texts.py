"""Every sentence a person reads, in both languages: `t("launch.start")` from `assets/i18n/<language>.toml`.

The sentences of the scan's rules (keys that begin with "rule"), of Precision and of Timeline are in files of their own,
as `rules.<language>.toml`, which are read when the first of them is asked for.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from studio.places import ASSETS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Callable

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")
RULES = ("rule.", "rule_")
PRECISION, TIMELINE = "precision.", "timeline."

_current: list[Language] = []


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


@lru_cache(maxsize=len(LANGUAGES))
def catalogue(chosen: Language) -> dict[str, str]:
    """All texts of a language by their dotted key, but those with a file of their own."""
    return _read(f"{chosen}.toml")


@lru_cache(maxsize=len(LANGUAGES))
def rule_texts(chosen: Language) -> dict[str, str]:
    """What the scan's rules say, by their dotted key."""
    return _read(f"rules.{chosen}.toml")


@lru_cache(maxsize=len(LANGUAGES))
def precision_texts(chosen: Language) -> dict[str, str]:
    """What Precision says, by dotted key."""
    return _read(f"precision.{chosen}.toml")


@lru_cache(maxsize=len(LANGUAGES))
def timeline_texts(chosen: Language) -> dict[str, str]:
    """What Timeline says, by dotted key."""
    return _read(f"timeline.{chosen}.toml")


def _read(name: str) -> dict[str, str]:
    with (ASSETS / "i18n" / name).open("rb") as file:
        return _flat(tomllib.load(file))


def find(key: str, chosen: Language) -> str | None:
    """The text itself, its placeholders not filled; None where there is none."""
    return _texts_of(key)(chosen).get(key)


def _texts_of(key: str) -> Callable[[Language], dict[str, str]]:
    if key.startswith(RULES):
        return rule_texts
    if key.startswith(PRECISION):
        return precision_texts
    return timeline_texts if key.startswith(TIMELINE) else catalogue


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
        return text.format(**args)
    except (KeyError, IndexError, ValueError, TypeError):
        return text
