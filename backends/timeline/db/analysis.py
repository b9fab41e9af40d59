"""analysis.db and cluster_analysis.db: figures of communications and steps, without times on a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.timeline.db.base import quoted
from backends.timeline.db.opening import opened

if TYPE_CHECKING:
    from pathlib import Path

PARTS = ("COMMANALYZER", "STEPTRACETIME", "CLUSTER", "COMMUNICATIONGROUP")
MOST = 100_000  # rows of a table


def analysis_rows(path: Path) -> dict[str, tuple[dict[str, object], ...]]:
    """Table -> its rows, of the tables that an analysis writes. Raises StudioError as `opened` does."""
    with opened(path) as base:
        return {
            table.name: tuple(
                dict(zip([name for _, name in sorted(table.columns.values())], row, strict=True))
                for row in base.rows(f"SELECT * FROM {quoted(table.name)} LIMIT {MOST}")
            )
            for key, table in base.tables.items()
            if key.startswith(PARTS)
        }
