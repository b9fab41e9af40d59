"""The text of a file with offsets for its lines and columns."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from functools import cached_property

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, kw_only=True)
class SourceText:
    """A text whose lines end as in Python: after \\n, \\r\\n or \\r, and nowhere else."""

    path: str
    text: str

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    @property
    def newline(self) -> str:
        """The file's first line end, "\\n" where it has none."""
        match = _LINE_END.search(self.text)
        return match[0] if match else "\n"

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a column counted in characters."""
        return min(self.starts[line - 1] + column, len(self.text))

    def byte_offset(self, line: int, column: int) -> int:
        """Return the offset of a column counted in bytes of UTF-8, as ast counts."""
        begin = self.starts[line - 1]
        head = self.text[begin : begin + column]
        return begin + (column if head.isascii() else len(_utf8_head(self.line(line), column)))

    def line(self, number: int) -> str:
        """Return a line with its end."""
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : end]

    def lines(self, first: int, last: int) -> str:
        return "".join(self.line(number) for number in range(first, last + 1))

    def line_at(self, offset: int) -> int:
        return bisect.bisect_right(self.starts, offset)

    @property
    def count(self) -> int:
        """The number of lines; text after the last line end counts as one only if there is any."""
        return len(self.starts) - (self.starts[-1] == len(self.text) and len(self.starts) > 1)


def _utf8_head(line: str, length: int) -> str:
    return line.encode("utf-8", "surrogatepass")[:length].decode("utf-8", "surrogatepass")
