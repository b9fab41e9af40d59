"""A capture is done when it can be read: what counts as that, over folders as the tools leave them."""

from __future__ import annotations

import sqlite3
import sys
from typing import TYPE_CHECKING

import pytest

from tests.guest.recording import GUEST

if TYPE_CHECKING:
    from pathlib import Path

sys.path.append(str(GUEST))
from ascend_studio import captures_readable

PROFILE = "host_1_2_ascend_pt"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_that_the_two_small_files_of_torch_npu_are_no_profile(tmp_path: Path) -> None:
    write(tmp_path / PROFILE / "profiler_info.json", "{}")
    write(tmp_path / PROFILE / "profiler_metadata.json", "{}")
    assert not list(captures_readable.npu_profiles(str(tmp_path)))
    assert not captures_readable.has_raw_data(str(tmp_path))


@pytest.mark.parametrize(("text", "is_whole"), [("[{}]", True), ("[{}]\n", True), ("[{}, {", False), ("", False)])
def test_that_a_trace_is_a_profile_where_it_is_whole(tmp_path: Path, text: str, is_whole: bool) -> None:
    write(tmp_path / PROFILE / "ASCEND_PROFILER_OUTPUT" / "trace_view.json", text)
    assert bool(list(captures_readable.npu_profiles(str(tmp_path)))) == is_whole


def test_that_a_database_is_a_profile_where_it_has_tables(tmp_path: Path) -> None:
    path = tmp_path / PROFILE / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db"
    write(path, "SQLite format 3")
    assert not list(captures_readable.npu_profiles(str(tmp_path)))
    path.unlink()
    sqlite3.connect(path).close()
    assert not list(captures_readable.npu_profiles(str(tmp_path)))
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE TASK (startNs INTEGER)")
    assert list(captures_readable.npu_profiles(str(tmp_path))) == [str(path)]


def test_that_raw_data_is_told_from_nothing(tmp_path: Path) -> None:
    write(tmp_path / PROFILE / "PROF_000001_2026" / "device_0" / "data" / "ts_track.bin.slice_0", "")
    assert not captures_readable.has_raw_data(str(tmp_path))
    write(tmp_path / PROFILE / "PROF_000001_2026" / "device_0" / "data" / "ts_track.bin.slice_1", "raw")
    assert captures_readable.has_raw_data(str(tmp_path))


def test_that_a_dump_that_was_cut_off_is_half(tmp_path: Path) -> None:
    for step in (1, 2):
        for name in ("dump.json", "stack.json", "construct.json"):
            write(tmp_path / f"step{step}" / "proc7" / name, '{"data": {}}')
    (tmp_path / "step1" / "proc7" / "dump_tensor_data").mkdir()
    assert not list(captures_readable.half_dumps(str(tmp_path)))
    write(tmp_path / "step2" / "proc7" / "dump.json", '{"data": {"Functional.li')
    assert list(captures_readable.half_dumps(str(tmp_path))) == [str(tmp_path / "step2/proc7/dump.json")]


def test_that_a_step_without_its_list_is_half(tmp_path: Path) -> None:
    write(tmp_path / "step1" / "rank0" / "stack.json", "{}")
    assert list(captures_readable.half_dumps(str(tmp_path))) == [str(tmp_path / "step1/rank0/dump.json")]
