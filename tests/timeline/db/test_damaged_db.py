"""Databases that are empty, foreign, locked, in use, cut short or damaged."""

from __future__ import annotations

import hashlib
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.timeline.db.row_details import row_of
from studio.errors import StudioError
from tests.timeline.db.small_databases import (
    BASE,
    CANN_API,
    STRING_IDS,
    THREAD,
    Slice,
    accounted,
    gathered,
    slices,
    tasks,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOLD = """
import sqlite3, sys
base = sqlite3.connect(sys.argv[1], isolation_level=None)
for line in sys.argv[2:]:
    base.execute(line)
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path: Path) -> Callable[..., Path]:
    """A database that another process has open, with these statements done."""
    children = []

    def hold(*lines: str) -> Path:
        path = sample(tmp_path / "held.db", 2000)
        child = subprocess.Popen(
            [sys.executable, "-c", HOLD, path, *lines], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        children.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        return path

    yield hold  # type: ignore[misc]
    for child in children:
        child.kill()
        child.communicate()


def sample(path: Path, count: int) -> Path:
    rows = [(BASE + 10 * at, BASE + 10 * at + 7, at % 5) for at in range(count)]
    calls = [(BASE + 10 * at, BASE + 10 * at + 3, 0, THREAD, 900 + at, at % 3) for at in range(count)]
    names = (STRING_IDS, [(0, "a"), (1, "b"), (2, "c"), (5, "d")])
    return write(path, {"TASK": tasks(*rows), "CANN_API": (CANN_API, calls), "STRING_IDS": names})


def key_of(path: Path) -> str:
    with pytest.raises(StudioError) as caught:
        gathered(path)
    assert str(path) in str(caught.value)
    return caught.value.key


def test_that_an_empty_a_foreign_and_an_encrypted_file_are_said_to_be_so(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"")
    assert key_of(path) == "timeline.db.empty"
    path.write_bytes(random.Random(1).randbytes(8192))
    assert key_of(path) == "timeline.db.foreign"
    path.write_bytes(b"SQLite format 3\0" + bytes(20))
    assert key_of(path) == "timeline.db.foreign"
    path.write_bytes(b"SQLite format 3\0" + random.Random(2).randbytes(8176))
    assert key_of(path) in ("timeline.db.foreign", "timeline.db.damaged")
    assert key_of(tmp_path) == "error.file"
    path.unlink()
    assert key_of(path) == "error.no_such_file"


def test_that_a_database_that_is_being_written_is_said_to_be(held: Callable[..., Path]) -> None:
    assert key_of(held("BEGIN EXCLUSIVE")) == "timeline.db.locked"


def test_that_a_database_that_others_read_is_read(held: Callable[..., Path]) -> None:
    path = held("BEGIN", "SELECT count(*) FROM TASK")
    assert len(slices(gathered(path))) == 4000


def test_that_what_stands_in_a_write_ahead_log_is_read_without_touching_it(held: Callable[..., Path]) -> None:
    path = held(
        "PRAGMA journal_mode=WAL",
        "DELETE FROM TASK WHERE rowid > 100",
        "UPDATE STRING_IDS SET value = 'new' WHERE id = 5",
    )
    before = state(path.parent)
    read_slices = slices(gathered(path))
    assert [name for process, *_, name, _ in read_slices if process == "Ascend Hardware"] == ["new"] * 100
    assert len(read_slices) == 2100
    assert row_of(path, "TASK", 100) is not None
    assert row_of(path, "TASK", 101) is None
    assert state(path.parent) == before


def test_that_a_transaction_that_was_broken_off_is_taken_back(tmp_path: Path, held: Callable[..., Path]) -> None:
    path = held("PRAGMA cache_size=5", "PRAGMA cache_spill=5", "BEGIN", "UPDATE TASK SET startNs = 1, endNs = 2")
    copy = tmp_path / "killed.db"
    for ending in ("", "-journal"):
        copy.with_name(copy.name + ending).write_bytes(path.with_name(path.name + ending).read_bytes())
    before = state(tmp_path)
    read_slices = slices(gathered(copy))
    assert [start for process, _, start, *_ in read_slices if process != "CANN"] == [
        BASE + 10 * at for at in range(2000)
    ]
    assert state(tmp_path) == before


def test_that_copies_of_databases_in_use_are_removed(held: Callable[..., Path], homes: Path) -> None:
    gathered(held("PRAGMA journal_mode=WAL", "DELETE FROM TASK"))
    assert list((homes / "cache/ascend-studio/timeline-db").iterdir()) == []


def test_that_a_log_for_which_there_is_no_room_is_said(
    held: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = held("PRAGMA journal_mode=WAL", "DELETE FROM TASK")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("Usage", (), {"free": 1000}))
    assert key_of(path) == "timeline.db.no_room"


def test_that_a_read_only_database_in_a_read_only_folder_is_read(tmp_path: Path) -> None:
    path = sample(tmp_path / "folder.db", 10)
    path.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        assert len(slices(gathered(path))) == 20
    finally:
        tmp_path.chmod(0o700)


def state(folder: Path) -> dict[str, tuple[int, str]]:
    files = [path for path in folder.iterdir() if path.is_file()]
    return {path.name: (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files}


@pytest.fixture(scope="module")
def whole_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, set[Slice]]:
    path = sample(tmp_path_factory.mktemp("whole") / "whole.db", 1500)
    return path.read_bytes(), set(slices(gathered(path)))


MANY = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@MANY
@given(part=st.floats(0, 1))
def test_that_a_database_cut_short_gives_what_is_whole(
    tmp_path: Path, whole_file: tuple[bytes, set[Slice]], part: float
) -> None:
    data, expected = whole_file
    path = tmp_path / "cut.db"
    path.write_bytes(data[: int(len(data) * part)])
    if (read_slices := _slices_or_none(path)) is not None:
        assert {row[2:4] + row[5:] for row in read_slices} <= {row[2:4] + row[5:] for row in expected}
        gather = gathered(path)
        assert accounted(gather)
        assert gather.sources[0].truncated or part == 1


def test_that_the_first_half_of_a_database_has_its_first_rows(
    tmp_path: Path, whole_file: tuple[bytes, set[Slice]]
) -> None:
    data, _ = whole_file
    path = tmp_path / "half.db"
    path.write_bytes(data[: len(data) // 2 + 100])
    gather = gathered(path)
    assert len(slices(gather)) > 1000
    assert gather.sources[0].truncated


@MANY
@given(seed=st.integers(0, 2**32), count=st.sampled_from([1, 5, 50, 2000]), reach=st.sampled_from([100, 8192, 10**9]))
def test_that_a_mutated_database_is_read_or_refused(
    tmp_path: Path, whole_file: tuple[bytes, set[Slice]], seed: int, count: int, reach: int
) -> None:
    chance, data = random.Random(seed), bytearray(whole_file[0])
    for _ in range(count):
        data[chance.randrange(min(reach, len(data)))] = chance.randrange(256)
    _read_or_refused(tmp_path / "mutated.db", data, len(whole_file[1]))


@MANY
@given(seed=st.integers(0, 2**32))
def test_that_pages_in_wrong_places_invent_nothing(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "moved.db"
    path.unlink(missing_ok=True)
    write(path, {"TASK": tasks(*((BASE + 10 * at, BASE + 10 * at + 7, 3) for at in range(700)))})
    chance, data = random.Random(seed), bytearray(path.read_bytes())
    pages = len(data) // 4096
    for _ in range(chance.randrange(1, 6)):
        first, second = chance.randrange(1, pages), chance.randrange(1, pages)
        data[4096 * first : 4096 * first + 4096] = data[4096 * second : 4096 * second + 4096]
    _read_or_refused(path, data, 700)
    if (read_slices := _slices_or_none(path)) is not None:
        assert all(start == BASE + 10 * (event - 1) for _, _, start, _, _, event in read_slices)
        assert len(read_slices) == len(set(read_slices))


def _slices_or_none(path: Path) -> list[Slice] | None:
    try:
        return slices(gathered(path))
    except StudioError:
        return None


def _read_or_refused(path: Path, data: bytes, limit: int) -> None:
    path.write_bytes(data)
    try:
        gather = gathered(path)
        row_of(path, "TASK", 5)
    except StudioError:
        return
    assert accounted(gather)
    assert len(slices(gather)) <= limit
    assert all(row[2] <= row[3] for row in slices(gather))


def test_that_a_table_whose_pages_lead_in_a_circle_ends(tmp_path: Path) -> None:
    path = sample(tmp_path / "circle.db", 3000)
    with closing(sqlite3.connect(path)) as base:
        (root,) = base.execute("SELECT rootpage FROM sqlite_master WHERE name = 'TASK'").fetchone()
    data = bytearray(path.read_bytes())
    data[4096 * (root - 1) + 8 : 4096 * (root - 1) + 12] = root.to_bytes(4, "big")
    path.write_bytes(data)
    (gap,) = gathered(path).sources[0].gaps
    assert gap.key == "timeline.gap.pages"
