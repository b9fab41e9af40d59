"""Records out of pages: every type, every size, every layout that sqlite3 writes."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.timeline.db.cells import ABSENT, real_number, whole
from backends.timeline.db.lookup import Lookup, coded, paired
from backends.timeline.db.opening import open_database
from backends.timeline.db.overlap import merged, subtract_spans
from backends.timeline.db.row_blocks import read_blocks, read_columns
from tests.timeline.db.small_databases import write

if TYPE_CHECKING:
    from pathlib import Path

CELLS = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([0, 1, -1, 127, 128, 255, 256, 2**15, 2**23, 2**31, 2**47, -(2**23) - 1, 2**63 - 1]),
    st.floats(),
    st.text(max_size=80),
    st.binary(max_size=80),
    st.integers(-(10**25), 10**25).map(str),
)
MANY = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(path: Path, *columns: str) -> list[tuple[int, ...]]:
    with open_database(path) as base:
        return list(zip(*(column.tolist() for column in read_columns(base, "T", *columns)), strict=True))


@MANY
@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=30))
def test_that_any_cell_is_the_number_it_stands_for_or_absent(tmp_path: Path, rows: list[tuple[object, ...]]) -> None:
    path = tmp_path / "any.db"
    path.unlink(missing_ok=True)
    write(path, {"T": ("a, b, c", rows)})
    assert [row[1:] for row in sorted(read(path, "a", "b", "c"))] == [tuple(map(whole, row)) for row in rows]
    with open_database(path) as base:
        blocks = list(read_blocks(base, "T", ("a",), ("b",)))
    figures = {
        rowid: value for block in blocks for rowid, value in zip(block.rowid.tolist(), block.figures["b"], strict=True)
    }
    expected = [real_number(row[1]) for row in rows]
    assert np.array_equal([figures[at] for at in range(1, len(rows) + 1)], expected, equal_nan=True)


def test_that_signs_that_python_takes_for_blanks_make_no_number() -> None:
    assert whole(" 7\t") == 7
    assert {whole(f"7{chr(sign)}") for sign in (0x1C, 0x1D, 0x1E, 0x1F, 0x85, 0xA0)} == {ABSENT}


def test_that_whole_numbers_are_taken_from_what_stands_for_one() -> None:
    assert [whole(cell) for cell in (5, "1736410576395167660", " -7 ", 3.0, -(2**63))] == [
        5, 1736410576395167660, -7, 3, ABSENT,
    ]  # fmt: skip
    for nothing in (None, b"5", "", "5.0", "1_000", "٣", "9" * 19, str(2**63), float("nan"), float("inf"), 1e19):
        assert whole(nothing) == ABSENT


@pytest.mark.parametrize("size", [512, 4096, 65536])
def test_that_a_deep_tree_with_gaps_and_large_rowids_is_read_whole(tmp_path: Path, size: int) -> None:
    chance = random.Random(size)
    rowids = sorted(
        {chance.choice([chance.randrange(-(2**62), 2**62), chance.randrange(1 << 20)]) for _ in range(6000)}
    )
    rows = [
        (rowid, chance.randrange(2 ** chance.choice([1, 8, 31, 62])), "x" * chance.randrange(20)) for rowid in rowids
    ]
    path = write(tmp_path / "deep.db", {"T": ("id INTEGER PRIMARY KEY, a, b", rows)}, f"PRAGMA page_size={size}")
    assert read(path, "id", "a") == [(rowid, rowid, a) for rowid, a, _ in rows]


def test_that_records_spread_over_several_pages_are_read_too(tmp_path: Path) -> None:
    rows = [(number, "long" * (3000 if number % 3 == 0 else 1), number * 7) for number in range(300)]
    path = write(tmp_path / "spread.db", {"T": ("a, b, c", rows)})
    assert sorted(read(path, "a", "c")) == [(at, a, c) for at, (a, _, c) in enumerate(rows, 1)]


def test_that_rows_of_before_a_column_was_added_lack_it(tmp_path: Path) -> None:
    path = write(tmp_path / "added.db", {"T": ("a", [(1,), (2,)])})
    with closing(sqlite3.connect(path)) as base:
        base.executescript("ALTER TABLE T ADD COLUMN depth INTEGER; INSERT INTO T VALUES (3, 4);")
    assert read(path, "a", "depth") == [(1, 1, ABSENT), (2, 2, ABSENT), (3, 3, 4)]
    with closing(sqlite3.connect(path)) as base:
        base.executescript("ALTER TABLE T ADD COLUMN c INTEGER DEFAULT 9; UPDATE T SET c = 5 WHERE a = 2")
    assert read(path, "a", "c") == [(1, 1, 9), (2, 2, 5), (3, 3, 9)]


@pytest.mark.parametrize(
    ("columns", "before"),
    [
        ("a INTEGER PRIMARY KEY, b TEXT", "PRAGMA encoding='UTF-16le'"),
        ("a INTEGER, b INTEGER GENERATED ALWAYS AS (a + 1) VIRTUAL, c INTEGER", ""),
        ("a INTEGER, b TEXT, PRIMARY KEY (a)", "PRAGMA auto_vacuum=FULL"),
        ("a INTEGER PRIMARY KEY DESC, b TEXT", ""),
        ("b TEXT, a INTEGER PRIMARY KEY", "PRAGMA journal_mode=WAL"),
    ],
)
def test_that_unusual_tables_are_read_as_well(tmp_path: Path, columns: str, before: str) -> None:
    path = tmp_path / "unusual.db"
    with closing(sqlite3.connect(path)) as base:
        base.executescript(f"{before}; CREATE TABLE T ({columns});")
        base.executemany("INSERT INTO T (a) VALUES (?)", [(3,), (1,), (2,)])
        base.commit()
    assert sorted(row[1] for row in read(path, "a")) == [1, 2, 3]


def test_that_a_table_without_rowids_is_numbered(tmp_path: Path) -> None:
    path = write(tmp_path / "without.db", {})
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE T (a INTEGER PRIMARY KEY, b) WITHOUT\n ROWID")
        base.executemany("INSERT INTO T VALUES (?, 'x')", [(30,), (10,)])
        base.commit()
    assert read(path, "a", "b") == [(0, 10, ABSENT), (1, 30, ABSENT)]


def test_that_columns_are_found_in_any_case_and_by_their_old_names(tmp_path: Path) -> None:
    path = write(tmp_path / "names.db", {"t": ('TIMESTAMP, ddrUsage, "od""d"', [(1, 2, 3)])})
    assert read(path, "timestampNs", "ddr", "hbm", 'od"d') == [(1, 1, 2, ABSENT, 3)]


def test_that_views_and_virtual_tables_are_no_tables(tmp_path: Path) -> None:
    path = write(tmp_path / "views.db", {"X": ("a", [(1,)])}, "CREATE VIEW T AS SELECT 1 AS a")
    with open_database(path) as base:
        assert base.table("T") is None


@given(
    values=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 50), max_size=40),
    absent=st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 50), max_size=40),
)
def test_that_lookups_find_what_is_there(values: list[int], absent: list[int]) -> None:
    keys = np.array(values, np.int64)
    positions = Lookup.of(keys).find(np.array(absent + values, np.int64)).tolist()
    assert all(values[position] == value if position >= 0 else value not in values
               for position, value in zip(positions, absent + values, strict=True))  # fmt: skip
    distinct, codes = coded(keys)
    assert distinct.tolist() == sorted(set(values))
    assert distinct[codes].tolist() == values
    if values:
        numbers: dict[tuple[int, int], int] = {}
        both = paired(keys, keys[::-1], lambda a, b: numbers.setdefault((a, b), len(numbers)))
        assert both.tolist() == [numbers[pair] for pair in zip(values, values[::-1], strict=True)]


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 6)).map(lambda pair: (pair[0], sum(pair))), max_size=12)


@given(first=SPANS, second=SPANS)
def test_that_overlaps_are_those_of_each_nanosecond(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    def union(spans: list[tuple[int, int]]) -> set[int]:
        return {time for start, end in spans for time in range(start, end)}

    def arrays(spans: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
        both = np.array(spans, np.int64).reshape(-1, 2)
        return both[:, 0].copy(), both[:, 1].copy()

    def listed(spans: tuple[np.ndarray, np.ndarray]) -> list[tuple[int, int]]:
        return list(zip(spans[0].tolist(), spans[1].tolist(), strict=True))

    left, right = merged(*arrays(first)), merged(*arrays(second))
    assert union(listed(left)) == union(first)
    assert all(start > before for (_, before), (start, _) in zip(listed(left), listed(left)[1:], strict=False))
    rest = listed(subtract_spans(left, right))
    assert union(rest) == union(first) - union(second)
    assert sum(end - start for start, end in rest) == len(union(rest))
