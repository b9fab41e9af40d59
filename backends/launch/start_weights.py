"""Which names of a network started from given weights: artifacts/weights.json of a run, as the training left it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from studio import files

if TYPE_CHECKING:
    from studio.run import Run

FILE = "artifacts/weights.json"
STATUSES = ("other_shape", "missing", "left_over", "matched")  # what to look at comes first


@dataclass(frozen=True, kw_only=True)
class Row:
    """`here`: the shape in the network, `there`: in the file; None where it is not in it."""

    name: str
    status: str
    here: tuple[int, ...] | None = None
    there: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Table:
    file: str
    rows: tuple[Row, ...]

    def counts(self) -> dict[str, int]:
        return {status: sum(row.status == status for row in self.rows) for status in STATUSES}

    def worth_seeing(self) -> list[Row]:
        """What did not match before what did, each in the network's order."""
        listed = [row for row in self.rows if row.status in STATUSES]
        return sorted(listed, key=lambda row: STATUSES.index(row.status))


def table_in(run: Run) -> Table | None:
    """None where the file is missing, or of another studio."""
    return files.read_as(run.folder / FILE, Table)
