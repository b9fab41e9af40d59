"""Every sentence a person reads, in both languages: `t("launch.start")` from `assets/i18n/<language>.toml`."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import Any, Literal

from studio.places import ASSETS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Language = Literal["en", "zh"]
LANGUAGES: tuple[Language, ...] = ("en", "zh")

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
    """All texts of a language by their dotted key."""
    with (ASSETS / "i18n" / f"{chosen}.toml").open("rb") as file:
        return _flat(tomllib.load(file))


def has(key: str) -> bool:
    return key in catalogue(language())


def t(key: str, /, **args: Any) -> str:
    """The text of a key, its `{placeholders}` filled. An unknown key, of a newer run, comes back as it is."""
    text = catalogue(language()).get(key)
    if text is None:
        return f"{key} {args}" if args else key
    try:
        return text.format(**args)
    except (KeyError, IndexError, ValueError, TypeError):
        return text
