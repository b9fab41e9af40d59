"""What a migration would change: files, their hunks, and what a person decided on them. All of it is a value.

artifacts/changes.json is one `Changes`. A file of decisions is one `Decisions`.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

Style: TypeAlias = Literal["minimal", "explicit"]
HunkState: TypeAlias = Literal["ready", "offered", "yours"]


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """Characters `begin` to `end` of a hunk's `before` become `text`."""

    begin: int
    end: int
    text: str


class Hunk(msgspec.Struct, frozen=True, kw_only=True):
    """Some whole lines of a file, and what they become.

    `first`, `last`: lines of the file from 1, of the JSON in a notebook. `before`, `after`: their text with its line
    ends. `state`: ready is accepted unless somebody rejects it, offered is not accepted unless somebody accepts it,
    yours has no edit: `after` is `before`, and the recipe is `rule.<rule>.todo`. `needs`: hunks without which this
    one cannot be. `group`: hunks of all files that are accepted together or not at all; empty for none.
    """

    id: str
    path: str
    first: int
    last: int
    before: str
    after: str
    edits: tuple[Edit, ...] = ()
    rules: tuple[str, ...]
    state: HunkState
    needs: tuple[str, ...] = ()
    group: str = ""
    cell: int | None = None


class FileChanges(msgspec.Struct, frozen=True, kw_only=True):
    """`digest`: SHA-256 of the file as planned from. `withdrawn`: a key that says why nothing of it is edited."""

    path: str
    encoding: str
    digest: str
    hunks: tuple[Hunk, ...]
    withdrawn: str = ""


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """`before`, `after`: places per state, after as a scan of the result says; empty until it was applied. `target`:
    the folder or the branch that has the result. `applied`: ids of the hunks in it. `changed`: files that were others
    when the decisions were made."""

    folder: str
    style: Style
    files: tuple[FileChanges, ...]
    before: dict[str, int] = {}
    after: dict[str, int] = {}
    target: str = ""
    branch: str = ""
    applied: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def hunks(self) -> Iterator[Hunk]:
        for file in self.files:
            yield from file.hunks


class Decisions(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says of hunks, by id: accept, reject, or other lines in place of `after`. Of the rest each has
    what its state says. `digests`: SHA-256 of the files as that person saw them, by path."""

    accept: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()
    edited: dict[str, str] = {}
    digests: dict[str, str] = {}


def hunk_id(path: str, first: int, before: str, after: str) -> str:
    text = "\0".join((path, str(first), before, after))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
