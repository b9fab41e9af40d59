"""Columns that lie in a file: whatever is added, read and cut, as an array would have it."""

from __future__ import annotations

import os
import tracemalloc
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio import columns as columns_module
from studio import paths
from studio.columns import BlockFile, Column

if TYPE_CHECKING:
    from pathlib import Path

ascending = st.lists(st.integers(0, 5), max_size=60).map(lambda differences: np.cumsum(differences, dtype=np.int64))
pieces = st.lists(st.tuples(ascending, st.integers(0, 80)), max_size=6)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "BLOCK", 8)


@given(pieces, st.booleans())
def test_that_a_column_holds_what_an_array_would(given_pieces: list[tuple[np.ndarray, int]], has_file: bool) -> None:
    column, expected = Column(np.int64, BlockFile() if has_file else None), np.empty(0, np.int64)
    for values, size in given_pieces:
        column.extend(values)
        column.cut(size)
        expected = np.concatenate((expected, values))[:size]
        assert column.size == len(expected)
        for begin, end in ((0, 100), (3, 21), (8, 16), (9, 9), (90, 100)):
            np.testing.assert_array_equal(column.read(begin, end), expected[begin:end])
        assert [column.item(index) for index in range(column.size)] == expected.tolist()


@given(ascending, st.integers(-5, 310))
def test_that_a_search_gives_what_numpy_gives(values: np.ndarray, value: int) -> None:
    column = Column(np.int64, BlockFile())
    column.extend(values)
    assert column.search(value, "left") == np.searchsorted(values, value, "left")
    assert column.search(value, "right") == np.searchsorted(values, value, "right")


def test_that_the_room_of_what_was_cut_is_used_again() -> None:
    file = BlockFile()
    column = Column(np.float64, file)
    for _ in range(50):
        column.extend(np.arange(80.0))
        column.cut(4)
    assert os.fstat(file._descriptor or 0).st_size == 80 * columns_module.ITEM


def test_that_the_file_has_no_name_and_goes_with_its_last_user() -> None:
    file = BlockFile()
    Column(np.float64, file).extend(np.arange(80.0))
    assert os.listdir(paths.cache_home()) == []
    descriptor = file._descriptor
    assert descriptor is not None
    os.fstat(descriptor)
    del file
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(descriptor)


def test_that_without_a_place_for_the_file_the_numbers_stay_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    column = Column(np.float64, BlockFile())
    column.extend(np.arange(20.0))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    column.extend(np.arange(20.0, 80.0))
    column.cut(70)
    np.testing.assert_array_equal(column.read(0, 70), np.arange(70.0))


def test_that_memory_does_not_grow_with_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns_module, "BLOCK", 1024)
    tracemalloc.start()
    column = Column(np.float64, BlockFile())
    column.extend(np.arange(100_000.0))
    before, _ = tracemalloc.get_traced_memory()
    for _ in range(20):
        column.extend(np.zeros(100_000))
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 100_000, "2 million numbers take 16 MB"
