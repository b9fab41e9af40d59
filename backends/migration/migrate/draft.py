"""An edit before it is part of a hunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Name = Literal["device_type", "accelerator", "backend", "ranges"]
NOTHING: frozenset[Name] = frozenset()
DEVICE_TYPE: frozenset[Name] = frozenset({"device_type"})
ACCELERATOR: frozenset[Name] = frozenset({"accelerator"})
BACKEND: frozenset[Name] = frozenset({"backend"})
RANGES: frozenset[Name] = frozenset({"ranges"})


@dataclass(frozen=True, kw_only=True)
class Draft:
    """Characters `begin` to `end` of the file become `text`. `needs`: names that the prelude of the file has to give.
    `group` as in a hunk. `offered`: not accepted unless somebody accepts it."""

    begin: int
    end: int
    text: str
    needs: frozenset[Name] = NOTHING
    group: str = ""
    offered: bool = False


def overlap(one: Draft, other: Draft) -> bool:
    """Two insertions at one place, or an insertion at the edge of a replacement, do not."""
    return (one.begin < other.end and other.begin < one.end) or (one.begin, one.end) == (other.begin, other.end)


def fits(drafts: Iterable[Draft], known: list[Draft]) -> bool:
    return not any(overlap(one, other) and one != other for one in drafts for other in known)
