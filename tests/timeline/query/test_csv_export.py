from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from backends.timeline.query import csv_export
from backends.timeline.query.csv_export import write_slices, write_statistics
from backends.timeline.query.lane_groups import grouped_statistics, lane_groups
from studio.errors import StudioError
from tests.timeline.memory_traces import (
    ORIGIN,
    LaneSpec,
    many,
    trace_of,
)

if TYPE_CHECKING:
    from pathlib import Path


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_that_the_slices_of_a_range_are_written_whole_and_exact(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [LaneSpec(name="流 3", slices=[(0, 10, "a"), (20, 1 << 60, "动,作"), (5, 8, "=1+1")])])
    path = tmp_path / "out.csv"
    assert write_slices(trace, path, 4, 30) == 3
    head, *rows = _rows(path)
    assert head == list(csv_export.SLICE_HEAD)
    assert rows == [
        ["0", "Ascend Hardware", "流 3", "a", "compute", str(ORIGIN), "10", "0"],
        ["0", "Ascend Hardware", "流 3", "动,作", "compute", str(ORIGIN + 20), str((1 << 60) - 20), "20"],
        ["0", "Ascend Hardware", "流 3", "'=1+1", "compute", str(ORIGIN + 5), "3", "5"],
    ]


def test_that_many_slices_are_written_row_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_export, "_CHUNK", 100)
    trace = many(tmp_path, 3000, lanes=7)
    write_slices(trace, tmp_path / "all.csv", 0, 2 * 10**10)
    assert [int(row[-1]) for row in _rows(tmp_path / "all.csv")[1:]] == trace.start.tolist()
    write_slices(trace, tmp_path / "some.csv", 0, 2 * 10**10, rows=[2, 9])
    where = [*range(trace.row_begin[2], trace.row_begin[3]), *range(trace.row_begin[9], trace.row_begin[10])]
    assert [int(row[-1]) for row in _rows(tmp_path / "some.csv")[1:]] == trace.start[where].tolist()


def test_that_statistics_are_written_as_they_are_shown(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 10, "a"), (20, 21, "a"), (30, 30, "b\0")])])
    write_statistics(trace, tmp_path / "s.csv", grouped_statistics(trace, 0, 100, lane_groups(trace)))
    assert _rows(tmp_path / "s.csv")[1:] == [
        ["0", "device", "a", "2", "11", "11", "11", "5.5", "1", "10"],
        ["0", "device", "b", "1", "0", "0", "0", "0.0", "0", "0"],
    ]


def test_that_an_empty_range_is_a_table_without_rows(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [])
    assert write_slices(trace, tmp_path / "none.csv", 0, 10) == 0
    assert _rows(tmp_path / "none.csv") == [list(csv_export.SLICE_HEAD)]


def test_that_where_nothing_can_be_written_it_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    trace = trace_of(tmp_path / "trace", [LaneSpec(slices=[(0, 10, "a")])])
    (tmp_path / "folder.csv").mkdir()
    for path in (tmp_path / "gone" / "x.csv", tmp_path / "folder.csv"):
        with pytest.raises(StudioError) as raised:
            write_slices(trace, path, 0, 10)
        assert raised.value.key.startswith("error.")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.csv", "trace"]
