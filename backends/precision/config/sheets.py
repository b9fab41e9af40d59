"""result.xlsx of `msprobe config_check`: one sheet per part, and one with a verdict for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.precision.config.checked import Row, part
from backends.precision.msprobe.table import sheet_rows
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.config.checked import Level, Part

SUMMARY = "summary"
# msprobe/core/config_check/checkers: the column that says whether a row is equal, by sheet.
LEVELS = {
    "env": "level", "hyperparameters": "level", "dataset": "equal", "weights": "equal", "random": "check_result",
}  # fmt: skip
MOST_CELLS = 200_000
LONGEST = 2_000


def read_result(path: Path) -> tuple[dict[str, str], tuple[Part, ...]]:
    """Its verdict by part, pip among them, and the tables but pip's: ours says more. Raises StudioError."""
    try:
        rows = [row for row in sheet_rows(path, SUMMARY) if len(row) > 1][1:]
        summary: dict[str, str] = {name: level_of(verdict) for name, verdict, *_ in rows}
        found = tuple(_part(path, name, summary[name]) for name in LEVELS if name in summary)
    except OSError as error:
        raise from_os(error, path) from error
    except (ValueError, IndexError, KeyError, StopIteration) as error:
        raise StudioError("precision.config.no_table", place=str(path), reason=str(error)[:200]) from error
    return summary, found


def _part(path: Path, name: str, verdict: str) -> Part:
    rows = sheet_rows(path, name)
    header = next(rows)
    column = header.index(LEVELS[name])
    found = [Row(level_of(cells[column]), _short(cells)) for _, cells in zip(range(MOST_CELLS), rows, strict=False)]
    return part(name, header, found, "msprobe", verdict)


def _short(cells: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(cell[:LONGEST] for cell in cells)


def level_of(text: str) -> Level:
    """Of a cell: true or false, which 8.1 says in its summary too, "only bench have", or a level."""
    word = text.strip().lower()
    if word in ("true", "pass", "yes", "equal"):
        return "pass"
    return "warning" if word == "warning" else "error"
