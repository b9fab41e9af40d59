"""The key of a profile's content."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from backends.timeline.build.content_key import key_of
from backends.timeline.source_discovery import SourceFile

if TYPE_CHECKING:
    from pathlib import Path

SIZE = 1 << 20


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    path.write_bytes(bytes(SIZE))
    os.utime(path, ns=(1, 1))
    return path


def key(path: Path, rank: int = 0) -> str:
    return key_of([SourceFile(path=path, kind="db", rank=rank, folder=path.parent)], path.parent)


@pytest.mark.parametrize("offset", [0, 4095, (SIZE - 4096) * 3 // 17, SIZE - 1])
def test_that_a_byte_that_differs_in_a_sample_makes_another(db: Path, offset: int) -> None:
    before = key(db)
    with db.open("r+b") as file:
        file.seek(offset)
        file.write(b"x")
    os.utime(db, ns=(1, 1))
    assert key(db) != before


def test_that_time_size_name_and_rank_belong_to_it(db: Path) -> None:
    keys = {key(db), key(db, rank=1)}
    os.utime(db, ns=(1, 2))
    keys.add(key(db))
    keys.add(key(db.rename(db.with_name("other.db"))))
    os.truncate(db.with_name("other.db"), SIZE - 1)
    keys.add(key(db.with_name("other.db")))
    assert len(keys) == 5


def test_that_what_is_not_yet_in_the_database_belongs_to_it(db: Path) -> None:
    before = key(db)
    db.with_name(db.name + "-wal").write_bytes(b"more")
    assert key(db) != before


def test_that_small_and_missing_files_have_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    assert key(tmp_path / "a") != key(tmp_path / "b")
