"""assets/errors.toml: known failures, recognised by what they print."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from studio.paths import ASSETS

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
    is_observed: bool


@dataclass(frozen=True, kw_only=True)
class KnownError:
    """A failure. `signals`: those that end a process in this way; `follows`: it is what the others see when one of
    several processes fails, so another cause comes first."""

    id: str
    says: tuple[Says, ...]
    signals: tuple[int, ...]
    follows: bool


@lru_cache(maxsize=1)
def known_errors() -> tuple[KnownError, ...]:
    """Return the known failures in the order of the file: where several match, the first counts."""
    with (ASSETS / "errors.toml").open("rb") as file:
        return tuple(map(_known, tomllib.load(file)["error"]))


def _known(entry: dict[str, Any]) -> KnownError:
    says = tuple(map(_says, entry.get("says", ())))
    return KnownError(
        id=entry["id"], says=says, signals=tuple(entry.get("signals", ())), follows=entry.get("follows", False)
    )


def _says(entry: dict[str, Any]) -> Says:
    return Says(
        pattern=re.compile(entry["pattern"]),
        example=entry["example"],
        source=entry["from"],
        is_observed=entry.get("seen_here", True),
    )
