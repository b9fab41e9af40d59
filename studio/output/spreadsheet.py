"""Cells for a spreadsheet, in a CSV file or on the clipboard: text that it would evaluate stays text.

https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_FIRST = frozenset((*_FORMULA, " ", "\0"))
_NUMBER = re.compile(r"[+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)? ?%?|-", re.ASCII)
_BORDERS = str.maketrans("\t\r\n", "   ")


def safe_text(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would evaluate. Numbers stay as they are; NUL, which no CSV
    holds, is left out.
    """
    text = text.replace("\0", "")
    return "'" + text if text.lstrip(" ").startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def safe_row(row: Iterable[object]) -> tuple[object, ...]:
    """Return a row of a table with all its text safe."""
    return tuple(safe_text(cell) if isinstance(cell, str) else cell for cell in row)


def safe_column(cells: Iterable[str]) -> list[str]:
    """Return the cells of a column of any length as they go to the clipboard: safe, and each on one line."""
    lines = (cell.translate(_BORDERS) if not cell.isprintable() else cell for cell in cells)
    return [safe_text(cell) if cell[:1] in _FIRST else cell for cell in lines]


def tab_separated(rows: Iterable[Iterable[str]]) -> str:
    """Return a table as the clipboard hands it to a spreadsheet."""
    return "\n".join("\t".join(safe_column(row)) for row in rows)
