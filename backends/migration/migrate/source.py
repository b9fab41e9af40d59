"""A file as edits see it: its text as it stands, and offsets into it for lines and columns."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from functools import cached_property

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Lines end as in Python: after \\n, \\r\\n or \\r, and nowhere else."""

    path: str
    text: str

    @cached_property
    def starts(self) -> list[int]:
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @property
    def newline(self) -> str:
        """The first line end of the file."""
        found = _LINE_END.search(self.text)
        return found[0] if found else "\n"

    def offset(self, line: int, column: int) -> int:
        """Of a column in characters."""
        return min(self.starts[line - 1] + column, len(self.text))

    def byte_offset(self, line: int, column: int) -> int:
        """Of a column in bytes of UTF-8, as ast counts."""
        begin = self.starts[line - 1]
        head = self.text[begin : begin + column]
        return begin + (column if head.isascii() else len(_head(self.line(line), column)))

    def line(self, number: int) -> str:
        """With its end."""
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : end]

    def lines(self, first: int, last: int) -> str:
        return "".join(self.line(number) for number in range(first, last + 1))

    def line_at(self, offset: int) -> int:
        return bisect.bisect_right(self.starts, offset)

    @property
    def count(self) -> int:
        """Lines; what follows the last line end counts only where there is something."""
        return len(self.starts) - (self.starts[-1] == len(self.text) and len(self.starts) > 1)


def _head(line: str, octets: int) -> str:
    return line.encode("utf-8", "surrogatepass")[:octets].decode("utf-8", "surrogatepass")
