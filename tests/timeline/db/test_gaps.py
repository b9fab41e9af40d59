"""A database that lacks what its own rows or its capture's settings name is incomplete, and says what is lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.planted.verdicts.timeline import NO_COMMUNICATION, overwritten, rank_db
from tests.timeline.db.small_databases import gathered
from tests.timeline.profile_data import DBS, profile
from tests.timeline.torch_npu_db import write_db

if TYPE_CHECKING:
    from pathlib import Path


def gaps(path: Path) -> list[tuple[str, str]]:
    """Return (kind of gap, table)."""
    return [(gap.key.rpartition(".")[2], str(gap.values.get("table", ""))) for gap in gathered(path).sources[0].gaps]


@pytest.mark.parametrize("name", DBS)
def test_that_a_database_of_a_profiler_lacks_nothing(name: str) -> None:
    assert gaps(profile(name)) == []


def test_that_a_card_without_communication_lacks_nothing(tmp_path: Path) -> None:
    assert gaps(write_db(tmp_path / "ascend_pytorch_profiler_0.db")) == []
    assert gaps(rank_db(tmp_path / "rank", NO_COMMUNICATION)) == []


@pytest.mark.parametrize("table", ["COMMUNICATION_OP", "STRING_IDS", "TASK", "CONNECTION_IDS", "STEP_TIME"])
def test_that_a_table_that_other_rows_name_is_missed(tmp_path: Path, table: str) -> None:
    assert ("empty", table) in gaps(rank_db(tmp_path, f"DROP TABLE {table}"))


@pytest.mark.parametrize("table", ["CANN_API", "MEMORY_RECORD", "OP_MEMORY"])
def test_that_a_table_that_the_capture_was_set_to_collect_is_missed(tmp_path: Path, table: str) -> None:
    assert gaps(rank_db(tmp_path, f"DROP TABLE {table}")) == [("not_there", table)]


def test_that_rows_that_are_named_and_missing_are_counted(tmp_path: Path) -> None:
    path = rank_db(tmp_path, "DELETE FROM CONNECTION_IDS WHERE id % 2")
    (gap,) = gathered(path).sources[0].gaps
    with closing(sqlite3.connect(path)) as base:
        query = "SELECT count(*) FROM PYTORCH_API WHERE connectionId NOT IN (SELECT id FROM CONNECTION_IDS)"
        assert base.execute(query).fetchone() == (gap.values["n"],)


def test_that_a_database_with_an_overwritten_page_is_damaged_and_not_cut_off(tmp_path: Path) -> None:
    path = overwritten(tmp_path, "TASK", leaf=True, noise=b"x")
    assert ("pages", "") in gaps(path)
    assert not gathered(path).sources[0].truncated
