"""Reading of counter tables into samples."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.cells import ABSENT
from backends.timeline.db.counter_layouts import LAYOUTS, Layout
from backends.timeline.db.lookup import coded
from backends.timeline.db.names import strings
from backends.timeline.db.row_blocks import read_blocks
from backends.timeline.db.slices import BAD_TIME, LATEST, set_aside

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from backends.timeline.db.columns import ColumnBlock
    from backends.timeline.db.database import Database
    from backends.timeline.db.lanes import DbLanes
    from backends.timeline.db.names import Names

    Numbers = NDArray[np.int64]

NO_FIGURE = "timeline.aside.row_figure"


def read_db_counters(base: Database, places: DbLanes, names: Names) -> None:
    modules = strings(base, "ENUM_MODULE", "name")
    for layout in LAYOUTS:
        label = partial(_label, layout, names, modules)
        for rows in read_blocks(base, layout.table, ("timestampNs", "deviceId", *layout.labels), tuple(layout.figures)):
            _add(layout, rows, places, label)


def _label(layout: Layout, names: Names, modules: dict[int, str], column: str, number: int) -> str:
    if column in layout.texts:
        return names.text(number)
    if column == layout.module:
        return modules.get(number, f"#{number}")
    return "" if number == ABSENT else str(number)


def _add(layout: Layout, rows: ColumnBlock, places: DbLanes, label: Callable[[str, int], str]) -> None:
    """Add each figure of each row as a sample; a row without any is set aside."""
    gather = places.gather
    gather.events += len(rows)
    sound = rows.where((rows["timestampNs"] > 0) & (rows["timestampNs"] < LATEST))
    set_aside(gather, BAD_TIME, len(rows) - len(sound))
    if not len(sound):
        return
    groups, codes = _groups(sound, ("deviceId", *layout.labels))
    some = np.zeros(len(sound), bool)
    for column, (called, unit) in layout.figures.items():
        good = np.isfinite(sound.figures[column])
        if not good.any():
            continue
        some |= good
        series = np.array([_series(layout, group, called, unit, places, label) for group in groups], np.int32)
        gather.samples.append((series[codes[good]], sound["timestampNs"][good], sound.figures[column][good]))
    gather.counter_events += int(some.sum())
    set_aside(gather, NO_FIGURE, int(len(some) - some.sum()))


def _groups(rows: ColumnBlock, columns: tuple[str, ...]) -> tuple[list[dict[str, int]], Numbers]:
    """Return the distinct combinations of these columns, and for each row the number of its own."""
    together = np.zeros(len(rows), np.int64)
    for column in columns:
        values, codes = coded(rows[column])
        _, together = coded(together * len(values) + codes)
    _, first = np.unique(together, return_index=True)
    return [{column: int(rows[column][at]) for column in columns} for at in first.tolist()], together


def _series(
    layout: Layout, group: dict[str, int], called: str, unit: str, places: DbLanes, label: Callable[[str, int], str]
) -> int:
    texts = {column: label(column, number) for column, number in group.items()}
    name = layout.name.format(figure=called, **texts).strip()
    pid = places.host(layout.process, 0) if layout.host else places.device(layout.process, group["deviceId"])
    return places.gather.series_of(places.source, pid, name, unit)
