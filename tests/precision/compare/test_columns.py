"""A comparison as files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from backends.precision.compare import comparison_files
from backends.precision.compare.alignment import manual_matches
from backends.precision.compare.comparison import FIRST, FOLDER, MISSING
from studio import files
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.precision.compare.conftest import Compared


def test_that_what_was_written_is_opened(compared: Callable[..., Compared], tmp_path: Path) -> None:
    found = compared("cast", "ulp").comparison
    comparison_files.write_comparison(found, tmp_path / "copy")
    again = comparison_files.open_comparison(tmp_path / "copy")
    assert tuple(again.names) == tuple(found.names)
    assert [*map(again.names.__getitem__, range(len(again.names)))] == list(found.names)
    assert again.names[-1] == found.names[-1:][0]
    assert again.first == found.first
    assert again.passes == found.passes
    assert all(np.array_equal(again.columns[key], found.columns[key], equal_nan=True) for key in found.columns
               if found.columns[key].dtype.kind == "f")  # fmt: skip


def test_that_a_comparison_of_an_earlier_version_is_opened(compared: Callable[..., Compared], tmp_path: Path) -> None:
    found = compared("cast", "ulp").comparison
    comparison_files.write_comparison(found, tmp_path)
    header = files.read_json(tmp_path / comparison_files.HEADER_FILE)
    header |= {"format": 1, "octets": header.pop("size")}
    files.write_json(tmp_path / comparison_files.HEADER_FILE, header)
    again = comparison_files.open_comparison(tmp_path)
    assert (again.first, again.passes) == (found.first, found.passes)


def test_that_the_columns_cannot_be_written_to(compared: Callable[..., Compared]) -> None:
    with pytest.raises(ValueError, match="read-only"):
        compared("cast", "ulp").comparison.error[0] = 1


def test_that_the_first_is_marked(compared: Callable[..., Compared]) -> None:
    found = compared("cast", "ulp").comparison
    assert found.first is not None
    assert found.verdict[found.first.row] == FIRST
    assert found.call_verdict[found.first.call] == FIRST
    assert found.names[found.first.call] == found.first.name
    missing = compared("missing", "ulp").comparison
    assert missing.first is not None
    assert missing.call_verdict[missing.first.call] == MISSING


def test_that_calls_and_rows_lie_in_order(compared: Callable[..., Compared]) -> None:
    found = compared("steps", "steps_ulp").comparison
    assert (np.diff(found.call) >= 0).all()
    assert [one.first_call for one in found.passes] == sorted(one.first_call for one in found.passes)
    assert found.call[found.passes[1].first_row] == found.passes[1].first_call
    inside = found.parent >= 0
    assert inside.any()
    assert found.is_module[found.parent[inside]].all()


@pytest.mark.parametrize("byte_count", [0, 100, -1])
def test_that_what_is_not_whole_is_refused(compared: Callable[..., Compared], byte_count: int) -> None:
    folder = compared("cast", "ulp").run.folder / FOLDER
    (data,) = folder.glob("*.bin")
    data.write_bytes(data.read_bytes()[:byte_count])
    with pytest.raises(StudioError) as refused:
        comparison_files.open_comparison(folder)
    assert refused.value.key == "precision.compare.damaged"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"size": 1}', "null"])
def test_that_a_damaged_header_is_refused(compared: Callable[..., Compared], text: str) -> None:
    folder = compared("cast", "ulp").run.folder / FOLDER
    (folder / comparison_files.HEADER_FILE).write_text(text)
    with pytest.raises(StudioError) as refused:
        comparison_files.open_comparison(folder)
    assert refused.value.key == "precision.compare.damaged"


def test_that_a_newer_one_is_told_as_that(tmp_path: Path) -> None:
    (tmp_path / comparison_files.HEADER_FILE).write_text('{"format": 99}', encoding="utf-8")
    with pytest.raises(StudioError) as refused:
        comparison_files.open_comparison(tmp_path)
    assert refused.value.key == "precision.compare.newer"


def test_that_no_comparison_says_so(tmp_path: Path) -> None:
    with pytest.raises(StudioError):
        comparison_files.open_comparison(tmp_path)


def test_that_a_match_made_by_hand_is_remembered(compared: Callable[..., Compared]) -> None:
    before = compared("relu", "healthy")
    place = manual_matches.path_of(before.run)
    pair = {"Functional.relu.0.forward": "Functional.gelu.1.forward"}
    manual_matches.store_matches(place, manual_matches.mark_of(before.comparison, 0), dict(pair))
    found = compared("relu", "healthy")
    assert (found.first["name"], found.first["place"]) == ("Functional.relu.0.forward", "output")
    call = found.comparison.names.index("Functional.relu.0.forward")
    assert manual_matches.golden_name(found.comparison, call) == "Functional.gelu.1.forward"
    manual_matches.store_matches(place, manual_matches.mark_of(before.comparison, 0), dict.fromkeys(pair))
    assert compared("relu", "healthy").first["place"] == "extra"


def test_that_matches_of_another_model_are_left_alone(tmp_path: Path) -> None:
    place = tmp_path / manual_matches.MATCHES_FILE
    manual_matches.store_matches(place, manual_matches.mark(["a"], ["b"]), {"a": "b"})
    assert manual_matches.read_matches(place, manual_matches.mark(["a", "c"], ["b"])) == {}
    assert manual_matches.read_matches(place, manual_matches.mark(["a"], ["b"])) == {"a": "b"}


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"matches": 3}', '{"matches": {"x": {"a": 1}}}'])
def test_that_a_damaged_memory_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / manual_matches.MATCHES_FILE).write_text(text)
    assert manual_matches.read_matches(tmp_path / manual_matches.MATCHES_FILE, "x") == {}
