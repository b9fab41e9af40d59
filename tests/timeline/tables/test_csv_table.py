from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.timeline.tables.cell_values import (
    cell_figure,
    cell_figures,
    cell_nanoseconds,
    cell_times,
)
from backends.timeline.tables.csv_table import LONGEST_RECORD, CsvTable, plain

if TYPE_CHECKING:
    from pathlib import Path

LINES = ("1,2\n", "3,\t4 \r\n", "\n", "5\n", '"6","7\n8"\n', '"', "9,0", "中,\0\n")
TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=12)


def table(folder: Path, data: bytes | str) -> CsvTable:
    path = folder / "some.csv"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return CsvTable(path)


def rows(folder: Path, data: bytes | str) -> list[list[str] | None]:
    return list(table(folder, data).rows())


def test_that_times_keep_their_nanoseconds() -> None:
    assert cell_nanoseconds("1736412474714258.990\t") == 1736412474714258990
    assert cell_nanoseconds("1736412474714258.9996") == 1736412474714259000
    assert cell_nanoseconds("53.7") == 53700
    assert cell_nanoseconds("7.") == 7000
    assert cell_nanoseconds("1795198560127575382", 0) == 1795198560127575382


@pytest.mark.parametrize("text", ["", "N/A", "inf", "nan", "-1.0", "1.2.3", "0x10", "9" * 20, "1" + "0" * 400])
def test_that_what_is_no_time_is_none(text: str) -> None:
    assert cell_nanoseconds(text) is None


def test_that_only_finite_figures_count() -> None:
    assert cell_figure(" 2109.6") == 2109.6
    assert [cell_figure(text) for text in ("inf", "nan", "x", "", "1e999")] == [None] * 5


def test_that_old_and_new_columns_are_the_same(tmp_path: Path) -> None:
    for head in (
        "Name,Block Dim,Start Time(us)",
        "Name,Block Num,Start Time(us)",
        "Op Name,block_num,Task Start Time(us)",
    ):
        csv = table(tmp_path, f"{head}\na,8,1.0\t\n")
        assert (csv.column("Block Num"), csv.column("Name"), csv.column("Start Time(us)")) == (1, 0, 2)
        assert list(csv.rows()) == [["a", "8", "1.0"]]
    assert plain("Step Id") == plain("Step ID") == plain("step_id")


def test_that_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    assert table(tmp_path, b"\xef\xbb\xbfName,Count\n").columns == ("Name", "Count")


def test_that_shapes_and_stacks_are_read_whole(tmp_path: Path) -> None:
    text = 'Name,Shapes,Stack\r\na,"""32,3,224,224""","x.py(1): f;\ny.py(2): g;"\r\nb,N/A,\r\n'
    assert rows(tmp_path, text) == [["a", "32,3,224,224", "x.py(1): f;\ny.py(2): g;"], ["b", "N/A", ""]]


def test_that_line_ends_may_be_mixed_and_lines_empty(tmp_path: Path) -> None:
    assert rows(tmp_path, "A,B\r\n1,2\n\n3,4\r\n\r\n5,6\n") == [["1", "2"], ["3", "4"], ["5", "6"]]


def test_that_a_row_that_was_cut_is_not_taken(tmp_path: Path) -> None:
    assert rows(tmp_path, "A,B\n1,2\n3,45") == [["1", "2"], None]
    assert rows(tmp_path, "A,B\n1,2\n3\n5,6\n") == [["1", "2"], None, ["5", "6"]]


def test_that_a_quote_that_never_closes_takes_no_more_than_a_record(tmp_path: Path) -> None:
    text = 'A,B\n1,"2\n' + "3,4\n" * LONGEST_RECORD
    cells = rows(tmp_path, text)
    assert cells[0] is None
    assert cells[1:] == [["3", "4"]] * (len(cells) - 1)
    assert len(cells) > LONGEST_RECORD // 2


def test_that_an_endless_line_is_one_bad_row(tmp_path: Path) -> None:
    assert rows(tmp_path, "A,B\n" + "x" * 5 * LONGEST_RECORD + "\n1,2\n") == [None, ["1", "2"]]


def test_that_an_empty_file_has_no_columns(tmp_path: Path) -> None:
    assert table(tmp_path, b"").columns == ()
    assert rows(tmp_path, b"") == []


def test_that_a_row_is_found_again_by_its_place(tmp_path: Path) -> None:
    csv = table(tmp_path, 'A,B\n1,"x\ny"\n中,4\n')
    places = [place for place, _ in csv.records()]
    assert [csv.row_at(place) for place in places] == [{"A": "1", "B": "x\ny"}, {"A": "中", "B": "4"}]
    csv.path.write_bytes(b"A,B\n")
    assert csv.row_at(places[1]) is None
    csv.path.unlink()
    assert csv.row_at(places[1]) is None


@settings(max_examples=60, deadline=None)
@given(written=st.lists(st.tuples(TEXTS, TEXTS), max_size=6))
def test_that_what_python_writes_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, written: list[tuple[str, str]]
) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([("A", "B"), *written])
    cells = rows(tmp_path_factory.mktemp("t"), text.getvalue())
    expected = [[cell.replace("\0", "\ufffd").strip().strip('"') for cell in row] for row in written]
    assert cells == expected


@settings(max_examples=120, deadline=None)
@given(data=st.binary(max_size=300) | st.text('a,"\n\r\t0', max_size=60).map(str.encode))
def test_that_no_bytes_break_a_table(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    csv = table(tmp_path_factory.mktemp("t"), data)
    for row in csv.rows():
        assert row is None or len(row) == len(csv.columns)
    for offset, record in csv.records():
        cells = csv.cells(record)
        assert (csv.row_at(offset) is None) == (cells is None)


@settings(max_examples=150, deadline=None)
@given(
    body=st.lists(
        st.sampled_from(["1,2\n", "3,\t4 \r\n", "\n", "5\n", '"6","7\n8"\n', '"', "9,0", "中,\0\n"]), max_size=9
    )
)
def test_that_blocks_hold_what_rows_hold(tmp_path_factory: pytest.TempPathFactory, body: list[str]) -> None:
    csv = table(tmp_path_factory.mktemp("t"), "A,B\n" + "".join(body))
    whole, bad = [], 0
    for columns, more in csv.blocks():
        whole += [[cell.strip().replace("\0", "\ufffd") for cell in row] for row in zip(*columns, strict=True)]
        bad += more
    assert whole == [row for row in csv.rows() if row is not None]
    assert bad == sum(row is None for row in csv.rows())


def test_that_large_blocks_hold_every_row_once(tmp_path: Path) -> None:
    lines = [f"{number},{'x' * (number % 97)}" for number in range(20_000)]
    for last in ("", '"q","r"\n1,2\n', "1,2"):
        csv = table(tmp_path, "A,B\n" + "\r\n".join(lines) + "\r\n" + last)
        read = [list(row) for columns, _ in csv.blocks() for row in zip(*columns, strict=True)]
        assert read == [row for row in csv.rows() if row is not None]
        assert len(read) >= 20_000


@settings(max_examples=150, deadline=None)
@given(cells=st.lists(st.from_regex(r"[0-9]{0,18}\.?[0-9]{3}|[0-9.]{0,20}|inf|", fullmatch=True), max_size=5))
def test_that_a_column_of_times_is_each_of_them(cells: list[str]) -> None:
    assert cell_times(cells).tolist() == [cell_nanoseconds(cell) or 0 for cell in cells]
    assert cell_times(cells * 2).tolist() == [cell_nanoseconds(cell) or 0 for cell in cells * 2]
    assert [None if value != value else value for value in cell_figures(cells).tolist()] == [
        cell_figure(cell) for cell in cells
    ]


def test_that_a_column_of_real_times_is_exact() -> None:
    times = [1736408883573957920, 1736408883573957921, 3999999999999999999]
    assert cell_times([f"{time // 1000}.{time % 1000:03}" for time in times]).tolist() == times
    assert cell_times(["9736408883573957.920"]).tolist() == [0]
    assert cell_times(["17364088835739中7.920", "17364088835739中7.920"]).tolist() == [0, 0]
