"""result.xlsx of `msprobe config_check`: one sheet per part, and one with a verdict for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.precision.config.result import CheckRow, part
from backends.precision.msprobe.table import sheet_rows
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.config.result import Level, Part

SUMMARY = "summary"
# msprobe/core/config_check/checkers: the column that says whether a row is equal, by sheet.
LEVELS = {
    "env": "level", "hyperparameters": "level", "dataset": "equal", "weights": "equal", "random": "check_result",
}  # fmt: skip
MAX_SHEET_ROWS = 200_000
MAX_CELL_LENGTH = 2_000


def read_sheets(path: Path) -> tuple[dict[str, str], tuple[Part, ...]]:
    """Its verdict by part, pip among them, and the tables but pip's: ours says more. Raises StudioError."""
    try:
        rows = [row for row in sheet_rows(path, SUMMARY) if len(row) > 1][1:]
        summary: dict[str, str] = {name: level_of(verdict) for name, verdict, *_ in rows}
        content = tuple(_part(path, name, summary[name]) for name in LEVELS if name in summary)
    except OSError as error:
        raise from_os(error, path) from error
    except (ValueError, IndexError, KeyError, StopIteration) as error:
        raise StudioError("precision.config.no_table", place=str(path), reason=str(error)[:200]) from error
    return summary, content


def _part(path: Path, name: str, verdict: str) -> Part:
    rows = sheet_rows(path, name)
    header = next(rows)
    column = header.index(LEVELS[name])
    content = [
        CheckRow(level_of(cells[column]), _short(cells)) for _, cells in zip(range(MAX_SHEET_ROWS), rows, strict=False)
    ]
    return part(name, header, content, "msprobe", verdict)


def _short(cells: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(cell[:MAX_CELL_LENGTH] for cell in cells)


def level_of(text: str) -> Level:
    """Return the level that a cell says: true or false, which 8.1 says in its summary too, "only bench have", or a
    level."""
    word = text.strip().lower()
    if word in ("true", "pass", "yes", "equal"):
        return "pass"
    return "warning" if word == "warning" else "error"
