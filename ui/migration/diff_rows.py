"""A plan as rows of one height: a head for each file and hunk, and their lines with - and +."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backends.migration.migrate.changes import FileChanges, Hunk
    from ui.migration.deciding import Deciding

Kind = Literal["file", "hunk", "gone", "come", "same"]
CONTEXT = 2


@dataclass(frozen=True, kw_only=True)
class Row:
    """`old`, `new`: the number of the line in the file as it is and as it becomes, 0 where it is not in it. `hunk`:
    whose row it is, None for a file's head. `span`: the characters that differ from the line beside it."""

    kind: Kind
    text: str = ""
    old: int = 0
    new: int = 0
    file: FileChanges
    hunk: Hunk | None = None
    span: tuple[int, int] = (0, 0)


def rows(files: Iterable[FileChanges], decided: Deciding, lines: dict[str, tuple[str, ...]]) -> list[Row]:
    """`lines`: of the files whose text is at hand, for two lines of context around each hunk."""
    return [row for file in files for row in _File(file, decided, lines.get(file.path, ())).rows()]


class _File:
    """`_moved`: by how many lines what follows is moved by the hunks before that are accepted. `_shown`: the last line
    that has its row."""

    def __init__(self, file: FileChanges, decided: Deciding, lines: tuple[str, ...]) -> None:
        self._file, self._decided, self._lines = file, decided, lines
        self._moved = self._shown = 0

    def rows(self) -> Iterator[Row]:
        yield Row(kind="file", text=self._file.path, file=self._file)
        hunks = self._file.hunks
        for place, hunk in enumerate(hunks):
            end = hunks[place + 1].first if place + 1 < len(hunks) else len(self._lines) + 1
            yield Row(kind="hunk", file=self._file, hunk=hunk)
            yield from self._context(hunk, max(hunk.first - CONTEXT, self._shown + 1), hunk.first)
            yield from self._changed(hunk)
            if self._decided.is_accepted(hunk):
                self._moved += len(lines_of(self._decided.text_of(hunk))) - len(lines_of(hunk.before))
            self._shown = min(hunk.last + CONTEXT, end - 1)
            yield from self._context(hunk, hunk.last + 1, self._shown + 1)

    def _context(self, hunk: Hunk, begin: int, end: int) -> Iterator[Row]:
        for number in range(begin, min(end, len(self._lines) + 1)):
            yield self._same(hunk, self._lines[number - 1], number)

    def _same(self, hunk: Hunk, text: str, old: int, moved: int = 0) -> Row:
        return Row(kind="same", text=text, old=old, new=old + self._moved + moved, file=self._file, hunk=hunk)

    def _changed(self, hunk: Hunk) -> Iterator[Row]:
        """Lines that stay the same at both ends of a hunk are no change."""
        old, new = lines_of(hunk.before), lines_of(self._decided.text_of(hunk))
        head, tail = common_ends(old, new)
        for at in range(head):
            yield self._same(hunk, old[at], hunk.first + at)
        gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
        is_paired = len(gone) == len(come)
        first = hunk.first + head
        for at, text in enumerate(gone):
            span = differing(text, come[at]) if is_paired else (0, len(text))
            yield Row(kind="gone", text=text, old=first + at, file=self._file, hunk=hunk, span=span)
        for at, text in enumerate(come):
            span = differing(text, gone[at]) if is_paired else (0, len(text))
            yield Row(kind="come", text=text, new=first + at + self._moved, file=self._file, hunk=hunk, span=span)
        moved = len(new) - len(old) if self._decided.is_accepted(hunk) else 0
        for at in range(len(old) - tail, len(old)):
            yield self._same(hunk, old[at], hunk.first + at, moved)


def lines_of(text: str) -> list[str]:
    """Without their line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n") if text else []


def common_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    """How many lines are the same at the beginning and, of the rest, at the end."""
    most = min(len(old), len(new))
    head = next((at for at in range(most) if old[at] != new[at]), most)
    rest = most - head
    tail = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    return head, tail


def differing(text: str, other: str) -> tuple[int, int]:
    """The part of a line between what both have at their beginning and at their end."""
    most = min(len(text), len(other))
    head = next((at for at in range(most) if text[at] != other[at]), most)
    rest = most - head
    tail = next((at for at in range(rest) if text[-1 - at] != other[-1 - at]), rest)
    return head, len(text) - tail
