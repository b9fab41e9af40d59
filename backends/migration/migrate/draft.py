"""A draft: an edit at offsets of the file, before it becomes part of a hunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

PreludeName = Literal["device_type", "accelerator", "backend", "ranges"]
NO_NAMES: frozenset[PreludeName] = frozenset()
DEVICE_TYPE: frozenset[PreludeName] = frozenset({"device_type"})
ACCELERATOR: frozenset[PreludeName] = frozenset({"accelerator"})
BACKEND: frozenset[PreludeName] = frozenset({"backend"})
RANGES: frozenset[PreludeName] = frozenset({"ranges"})


@dataclass(frozen=True, kw_only=True)
class Draft:
    """Replaces characters `begin` to `end` of the file by `text`. `needs`: names that the file's prelude has to
    define; `group`: as in a hunk; `offered`: applied only if somebody accepts it."""

    begin: int
    end: int
    text: str
    needs: frozenset[PreludeName] = NO_NAMES
    group: str = ""
    offered: bool = False


def overlaps(draft: Draft, other: Draft) -> bool:
    """Tell whether two drafts touch the same characters; two different insertions at one offset, or one at the edge of
    a replacement, do not."""
    return (draft.begin < other.end and other.begin < draft.end) or (draft.begin, draft.end) == (other.begin, other.end)


def are_compatible(drafts: Iterable[Draft], others: list[Draft]) -> bool:
    """Tell whether no draft overlaps another one, identical drafts aside."""
    return not any(overlaps(draft, other) and draft != other for draft in drafts for other in others)


def option_group(option: str) -> str:
    """Name the group of a command line option: the same for --device, device and trainer.device."""
    return f"option {option.lstrip('-').rpartition('.')[2].replace('-', '_')}" if option.strip("-") else ""


def variable_group(variable: str) -> str:
    """Name the group of an environment variable: who sets it and who reads it change together."""
    return f"environment {variable}"
