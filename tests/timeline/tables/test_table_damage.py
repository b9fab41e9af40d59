"""Tables that were cut off or damaged are told from those that were not, by their ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.timeline.tables.table_damage import PIECE, damage_of

if TYPE_CHECKING:
    from pathlib import Path

ROWS = "a,b,c\n" + "1,\u5f20\u91cf,3\n" * (PIECE // 4)
QUOTED = "a,b,c\n" + '1,"x\ny, ""z""",3\n' * (PIECE // 4)


@pytest.mark.parametrize("data", [ROWS, QUOTED, "a,b\n", "a,b\n1,2\n\n"])
def test_that_a_whole_table_is_whole(tmp_path: Path, data: str) -> None:
    (tmp_path / "l2_cache.csv").write_text(data, "utf-8")
    assert damage_of(tmp_path / "l2_cache.csv") is None


@pytest.mark.parametrize(
    ("data", "damage"),
    [
        (ROWS[:-1], "cut"),
        (ROWS[:-3], "cut"),
        (QUOTED[:-4], "cut"),
        (ROWS + "1,2\n", "cut"),
        ("a,b\n1\n1,2\n", "damaged"),
        ("", "cut"),
        (ROWS + "\0\n", "damaged"),
        ("\0" * len(ROWS) + "\n", "damaged"),
    ],
)
def test_that_damage_at_an_end_is_seen_in_large_tables_and_small(tmp_path: Path, data: str, damage: str) -> None:
    (tmp_path / "l2_cache.csv").write_text(data, "utf-8")
    assert damage_of(tmp_path / "l2_cache.csv") == damage


@pytest.mark.parametrize(("data", "damage"), [("{}", None), ('{"a": [1, 2', "cut"), ("x", "damaged"), ("[]\n", None)])
def test_that_the_ends_of_a_json_table_are_its_brackets(tmp_path: Path, data: str, damage: str | None) -> None:
    (tmp_path / "communication.json").write_text(data)
    assert damage_of(tmp_path / "communication.json") == damage
