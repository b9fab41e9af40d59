"""A plan as diff rows of one height: a head for each file and hunk, and their lines with - and +."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backends.migration.migrate.changes import FileChanges, Hunk
    from ui.migration.changes.plan import PlanDecisions

RowKind = Literal["file", "hunk", "removed", "added", "same"]
CONTEXT_LINES = 2


@dataclass(frozen=True, kw_only=True)
class DiffRow:
    """`old`, `new`: the line's number before and after, 0 where it is absent; `hunk`: the hunk it belongs to, None for
    a file's head; `span`: the characters that differ from the line it replaces."""

    kind: RowKind
    text: str = ""
    old: int = 0
    new: int = 0
    file: FileChanges
    hunk: Hunk | None = None
    span: tuple[int, int] = (0, 0)


def diff_rows(
    files: Iterable[FileChanges], decisions: PlanDecisions, lines: dict[str, tuple[str, ...]]
) -> list[DiffRow]:
    """Return the rows of some files. `lines`: the text of files that could be read, for lines of context around each
    hunk."""
    return [row for file in files for row in _FileDiff(file, decisions, lines.get(file.path, ())).rows()]


class _FileDiff:
    """The rows of one file. `_line_shift`: by how many lines accepted hunks so far move what follows; `_last_line`:
    the last line that has its row."""

    def __init__(self, file: FileChanges, decisions: PlanDecisions, lines: tuple[str, ...]) -> None:
        self._file, self._decisions, self._lines = file, decisions, lines
        self._line_shift = self._last_line = 0

    def rows(self) -> Iterator[DiffRow]:
        yield DiffRow(kind="file", text=self._file.path, file=self._file)
        hunks = self._file.hunks
        for index, hunk in enumerate(hunks):
            end = hunks[index + 1].first if index + 1 < len(hunks) else len(self._lines) + 1
            yield DiffRow(kind="hunk", file=self._file, hunk=hunk)
            yield from self._context(hunk, max(hunk.first - CONTEXT_LINES, self._last_line + 1), hunk.first)
            yield from self._changed(hunk)
            if self._decisions.is_accepted(hunk):
                self._line_shift += len(split_lines(self._decisions.text_of(hunk))) - len(split_lines(hunk.before))
            self._last_line = min(hunk.last + CONTEXT_LINES, end - 1)
            yield from self._context(hunk, hunk.last + 1, self._last_line + 1)

    def _context(self, hunk: Hunk, begin: int, end: int) -> Iterator[DiffRow]:
        for number in range(begin, min(end, len(self._lines) + 1)):
            yield self._same(hunk, self._lines[number - 1], number)

    def _same(self, hunk: Hunk, text: str, old: int, moved: int = 0) -> DiffRow:
        return DiffRow(kind="same", text=text, old=old, new=old + self._line_shift + moved, file=self._file, hunk=hunk)

    def _changed(self, hunk: Hunk) -> Iterator[DiffRow]:
        """Yield the lines of a hunk; lines that are the same at either end of it count as unchanged."""
        old, new = split_lines(hunk.before), split_lines(self._decisions.text_of(hunk))
        head, tail = common_ends(old, new)
        for at in range(head):
            yield self._same(hunk, old[at], hunk.first + at)
        removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
        is_paired = len(removed) == len(added)
        first = hunk.first + head
        for at, text in enumerate(removed):
            span = differing_span(text, added[at]) if is_paired else (0, len(text))
            yield DiffRow(kind="removed", text=text, old=first + at, file=self._file, hunk=hunk, span=span)
        for at, text in enumerate(added):
            span = differing_span(text, removed[at]) if is_paired else (0, len(text))
            yield DiffRow(
                kind="added", text=text, new=first + at + self._line_shift, file=self._file, hunk=hunk, span=span
            )
        moved = len(new) - len(old) if self._decisions.is_accepted(hunk) else 0
        for at in range(len(old) - tail, len(old)):
            yield self._same(hunk, old[at], hunk.first + at, moved)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text without their ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n") if text else []


def common_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    """Count the lines that are the same at the beginning and, of the rest, at the end."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    rest = shorter - head
    tail = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    return head, tail


def differing_span(text: str, other: str) -> tuple[int, int]:
    """Return the span of `text` between what both texts have in common at the beginning and at the end."""
    shorter = min(len(text), len(other))
    head = next((at for at in range(shorter) if text[at] != other[at]), shorter)
    rest = shorter - head
    tail = next((at for at in range(rest) if text[-1 - at] != other[-1 - at]), rest)
    return head, len(text) - tail
