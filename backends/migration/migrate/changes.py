"""The changes of a migration as values: files, their hunks, and what a person decided on them.

artifacts/changes.json holds one `Changes`; a file of decisions holds one `Decisions`.
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
    """Replaces characters `begin` to `end` of a hunk's `before` by `text`."""

    begin: int
    end: int
    text: str


class Hunk(msgspec.Struct, frozen=True, kw_only=True):
    """Whole lines of a file, and what they become.

    `first`, `last`: line numbers from 1, in a notebook those of its JSON. `before`, `after`: the text with its line
    ends. `state`: ready is accepted unless somebody rejects it; offered is rejected unless somebody accepts it; yours
    has no edit, so `after` equals `before` and `rule.<rule>.todo` says what to do. `needs`: ids of hunks without which
    this one cannot be applied. `group`: hunks of all files that are accepted together or not at all; "" for none.
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
    """The hunks of one file. `digest`: SHA-256 of the file that was planned from, "" for a file that is new, whose one
    hunk has no line before it; `withdrawn`: a text key that says why none of it is edited."""

    path: str
    encoding: str
    digest: str
    hunks: tuple[Hunk, ...]
    withdrawn: str = ""


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a migration, and its result once applied. `before`, `after`: findings per state, `after` by a scan
    of the result and empty until it was applied. `target` or `branch`: where the result is. `applied`: ids of the
    hunks in it. `changed`: files that differ from what the decisions were made on."""

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
    """What a person decided on hunks, by id: accept, reject, or other text in place of `after`. All other hunks follow
    their state. `digests`: SHA-256 of the files as that person saw them, by path."""

    accept: tuple[str, ...] = ()
    reject: tuple[str, ...] = ()
    edited: dict[str, str] = {}
    digests: dict[str, str] = {}


def hunk_id(path: str, first: int, before: str, after: str) -> str:
    """Return an id that stays the same as long as the location and the text of a hunk do."""
    text = "\0".join((path, str(first), before, after))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
