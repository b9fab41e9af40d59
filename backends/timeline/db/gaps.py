"""What a database lacks although its own rows name it: rows of other tables, and tables that its capture collects.

The references hold in every database of torch_npu and msprof that was looked at (facts/profiler.md, 2.3); a single card
has no communication and so none of its references.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.cells import NONE
from backends.timeline.db.database import quoted
from backends.timeline.db.lookup import coded
from backends.timeline.db.row_blocks import read_columns
from studio.errors import StudioError
from studio.texts import t

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from backends.timeline.db.database import Database
    from backends.timeline.db.names import Names

    Numbers = NDArray[np.int64]

COLLECTIVE = 5500  # ENUM_API_TYPE of msprof: hccl
STEP_PREFIX = "ProfilerStep#"


@dataclass(frozen=True, kw_only=True)
class Reference:
    """The numbers of `table`.`column` stand in `target`.`key`. `every`: each of them does; else some do, since rows at
    the edges of a capture may have only one side. `only`: the value of column `type` of the rows that are meant."""

    table: str
    column: str
    target: str
    key: str
    every: bool = False
    only: int | None = None


REFERENCES = (
    Reference(table="COMMUNICATION_TASK_INFO", column="opId", target="COMMUNICATION_OP", key="opId", every=True),
    Reference(
        table="CANN_API", column="connectionId", target="COMMUNICATION_OP", key="connectionId", only=COLLECTIVE
    ),
    Reference(table="COMPUTE_TASK_INFO", column="globalTaskId", target="TASK", key="globalTaskId"),
    Reference(table="TASK_PMU_INFO", column="globalTaskId", target="TASK", key="globalTaskId"),
    Reference(table="TASK_PMU_INFO", column="globalTaskId", target="COMPUTE_TASK_INFO", key="globalTaskId"),
    Reference(table="PYTORCH_API", column="connectionId", target="CONNECTION_IDS", key="id", every=True),
    Reference(table="PYTORCH_API", column="callchainId", target="PYTORCH_CALLCHAINS", key="id", every=True),
    Reference(table="CONNECTION_IDS", column="id", target="PYTORCH_API", key="connectionId"),
    Reference(table="PYTORCH_CALLCHAINS", column="id", target="PYTORCH_API", key="callchainId"),
)  # fmt: skip
# Columns of ids of STRING_IDS that the lanes do not use.
TEXT_COLUMNS = {
    "COMPUTE_TASK_INFO": (
        "taskType", "opType", "inputFormats", "inputDataTypes", "inputShapes", "outputFormats", "outputDataTypes",
        "outputShapes", "attrInfo",
    ),
    "PYTORCH_API": ("inputDtypes", "inputShapes"),
    "PYTORCH_CALLCHAINS": ("stack",),
    "TASK_PMU_INFO": ("name",),
    "OP_MEMORY": ("name",),
}  # fmt: skip
LEVELS = ("Level1", "Level2")


class _Tables:
    """The numbers in columns of a database, each once. A table is read once: all its columns that are asked for."""

    def __init__(self, base: Database) -> None:
        self.base = base
        self._columns: dict[str, dict[str, Numbers]] = {}

    def numbers(self, table: str, column: str, only: int | None = None) -> Numbers:
        if only is not None:
            numbers, kind = _read(self.base, table, column, "type").values()
            return _used(numbers[kind == only])
        if table not in self._columns:
            self._columns[table] = {
                name: _used(values) for name, values in _read(self.base, table, *_wanted(table)).items()
            }
        return self._columns[table][column]


def _wanted(table: str) -> tuple[str, ...]:
    """Return the columns of a table that references and texts need."""
    sides = ((each.table, each.column) for each in REFERENCES if each.only is None)
    keys = ((each.target, each.key) for each in REFERENCES)
    wanted = (column for name, column in (*sides, *keys) if name == table)
    return tuple(dict.fromkeys((*wanted, *TEXT_COLUMNS.get(table, ()))))


def _read(base: Database, table: str, *columns: str) -> dict[str, Numbers]:
    """Read columns of a table. Rows that cannot be read are a part of the file here: whoever draws them counts them as
    events."""
    damaged = base.damaged
    _, *values = read_columns(base, table, *columns)
    base.lost, base.damaged = base.lost + (base.damaged > damaged), damaged
    return dict(zip(columns, values, strict=True))


def _used(column: Numbers) -> Numbers:
    return coded(column[(column >= 0) & (column != NONE)])[0]


def gaps_of(base: Database, names: Names, switches: Mapping[str, object]) -> tuple[StudioError, ...]:
    """Return a sentence for each table that lacks what it must have. `switches`: of the profiler, as profiler_info has
    them. `names`: of this database, after all lanes were named."""
    gaps: dict[str, StudioError] = {}
    tables = _Tables(base)
    for target, gap in (
        *_texts(tables, names), *_referred(tables), *_steps(base, names), *_collected(base, switches),
    ):  # fmt: skip
        gaps.setdefault(target, gap)
    return tuple(gaps.values())


def _texts(tables: _Tables, names: Names) -> Iterator[tuple[str, StudioError]]:
    """Yield the texts that are missing."""
    unknown = set(names.unknown)
    for table, columns in TEXT_COLUMNS.items():
        for column in columns:
            unknown |= set(tables.numbers(table, column).tolist()) - names.texts.keys()
    if unknown and not names.texts:
        yield "STRING_IDS", _empty("STRING_IDS", t("timeline.gap.other_tables"))
    elif unknown:
        yield "STRING_IDS", _partial("STRING_IDS", t("timeline.gap.other_tables"), len(unknown))


def _referred(tables: _Tables) -> Iterator[tuple[str, StudioError]]:
    for reference in REFERENCES:
        is_empty = not _has_rows(tables.base, reference.target)
        missing = _missing(tables, reference) if is_empty or reference.every else 0
        if missing:
            gap = _empty(reference.target, reference.table) if is_empty else _partial(
                reference.target, reference.table, missing
            )  # fmt: skip
            yield reference.target, gap


def _missing(tables: _Tables, reference: Reference) -> int:
    """Return how many of the numbers that a table refers to are not there."""
    numbers = tables.numbers(reference.table, reference.column, reference.only)
    return len(np.setdiff1d(numbers, tables.numbers(reference.target, reference.key), assume_unique=True))


def _steps(base: Database, names: Names) -> Iterator[tuple[str, StudioError]]:
    """Yield STEP_TIME where steps were recorded as calls alone."""
    if not _has_rows(base, "STEP_TIME") and any(text.startswith(STEP_PREFIX) for text in names.used):
        yield "STEP_TIME", _empty("STEP_TIME", "PYTORCH_API")


def _collected(base: Database, switches: Mapping[str, object]) -> Iterator[tuple[str, StudioError]]:
    """Yield the tables that a capture with these switches always writes. torch_npu alone is known to."""
    if "pytorch" in base.path.name.lower():
        for table, switch in _expected(switches):
            if not _has_rows(base, table):
                yield table, StudioError("timeline.gap.not_there", table=table, switch=switch, lost=_lost(table))


def _expected(switches: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield (table, the switch that collects it)."""
    activities, level = str(switches.get("activities")), str(switches.get("profiler_level"))
    yield "STRING_IDS", "torch_npu.profiler"
    if "ProfilerActivity.CPU" in activities:
        yield "PYTORCH_API", "ProfilerActivity.CPU"
    if "ProfilerActivity.NPU" in activities:
        yield "TASK", "ProfilerActivity.NPU"
    if "ProfilerActivity.NPU" in activities and level in LEVELS:
        yield from ((table, level) for table in ("CANN_API", "COMPUTE_TASK_INFO"))
        if switches.get("profile_memory") is True:
            yield from ((table, "profile_memory") for table in ("MEMORY_RECORD", "OP_MEMORY"))


def _has_rows(base: Database, name: str) -> bool:
    table = base.table(name)
    return table is not None and bool(base.rows(f"SELECT 1 FROM {quoted(table.name)} LIMIT 1"))


def _empty(table: str, source: str) -> StudioError:
    return StudioError("timeline.gap.empty", table=table, by=source, lost=_lost(table))


def _partial(table: str, source: str, count: int) -> StudioError:
    return StudioError("timeline.gap.partial", table=table, by=source, n=count, lost=_lost(table))


def _lost(table: str) -> str:
    return t(f"timeline.lost.{table.lower()}")
