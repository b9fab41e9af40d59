"""assets/errors.toml: the failures that are known by what they print."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from studio.places import ASSETS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True, kw_only=True)
class Says:
    """A line that tells of a failure. `example`: one such line; `source`: where it was seen, by us or by others."""

    pattern: re.Pattern[str]
    example: str
    source: str
    seen_here: bool


@dataclass(frozen=True, kw_only=True)
class Known:
    """A failure. `signals`: those that end a process in this way; `follows`: it is what the others see when one of
    several processes fails, so another cause comes first."""

    id: str
    says: tuple[Says, ...]
    signals: tuple[int, ...]
    follows: bool


@lru_cache(maxsize=1)
def known() -> tuple[Known, ...]:
    """In the order of the file: where several fit, the first."""
    with (ASSETS / "errors.toml").open("rb") as file:
        return tuple(map(_known, tomllib.load(file)["error"]))


def _known(entry: dict[str, Any]) -> Known:
    says = tuple(map(_says, entry.get("says", ())))
    return Known(
        id=entry["id"], says=says, signals=tuple(entry.get("signals", ())), follows=entry.get("follows", False)
    )


def _says(entry: dict[str, Any]) -> Says:
    return Says(
        pattern=re.compile(entry["pattern"]),
        example=entry["example"],
        source=entry["from"],
        seen_here=entry.get("seen_here", True),
    )
