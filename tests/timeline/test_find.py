"""Which files are profiles, and of which rank."""

from __future__ import annotations

import gzip
import os
from typing import TYPE_CHECKING

import pytest

from backends.timeline import find as finding
from backends.timeline.find import find, find_sources
from studio.errors import StudioError
from tests.timeline.made import torch_npu, write_array
from tests.timeline.made_folders import rank_folder, ranks
from tests.timeline.shared_data import profile

if TYPE_CHECKING:
    from pathlib import Path

SQLITE = b"SQLite format 3\0" + b"\0" * 100
EVENTS = b'[{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": "1.000", "dur": 1}]'


def make(path: Path, data: bytes = EVENTS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def found(path: Path) -> list[tuple[str, str, int | None]]:
    """(name, kind, rank) of what is no table."""
    return [(one.path.name, one.kind, one.rank) for one in find_sources(path) if one.kind != "table"]


def test_that_a_folder_of_ranks_holds_them_in_order(tmp_path: Path) -> None:
    sources = find_sources(ranks(tmp_path, 3))
    assert [(one.rank, one.kind) for one in sources][:3] == [(0, "text"), (1, "text"), (2, "text")]
    assert {one.path.name for one in sources[3:]} == {"memory_record.csv"}
    assert [one.rank for one in sources[3:]] == [0, 1, 2]


def test_that_each_place_of_a_rank_opens_the_same(tmp_path: Path) -> None:
    folder = rank_folder(tmp_path / "x_ascend_pt", rank=5)
    output = folder / "ASCEND_PROFILER_OUTPUT"
    assert find_sources(folder) == find_sources(output) == find_sources(output / "trace_view.json")
    assert found(output) == [("trace_view.json", "text", 5)]


def test_that_the_db_is_preferred_to_the_text_and_told(tmp_path: Path) -> None:
    folder = rank_folder(tmp_path / "x_ascend_pt")
    make(folder / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db", SQLITE)
    make(folder / "ASCEND_PROFILER_OUTPUT" / "analysis.db", SQLITE)
    assert found(folder) == [("ascend_pytorch_profiler_0.db", "db", 0)]
    assert [remark.key for remark in find(folder).remarks] == ["timeline.remark.db_preferred"]
    text = folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    assert found(text) == [("trace_view.json", "text", 0)]


def test_that_msprof_s_own_files_count_only_where_the_framework_made_none(tmp_path: Path) -> None:
    folder = tmp_path / "x_ascend_pt"
    raw = folder / "PROF_000001_2026"
    make(raw / "mindstudio_profiler_output" / "msprof_20260101.json")
    make(raw / "device_0" / "sqlite" / "ascend_task.db", SQLITE)
    assert found(folder) == [("msprof_20260101.json", "text", None)]
    make(folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
    assert found(folder) == [("trace_view.json", "text", None)]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("rank3/trace.json", 3),
        ("rank_12/x_ascend_ms/ASCEND_PROFILER_OUTPUT/trace_view.json", 12),
        ("trace_rank-7.pt.trace.json", 7),
        ("frank3/trace.json", None),
        ("host_123/trace.json", None),
    ],
)
def test_that_the_rank_is_in_the_names(tmp_path: Path, name: str, rank: int | None) -> None:
    make(tmp_path / name)
    assert found(tmp_path) == [(name.rpartition("/")[2], "text", rank)]


def test_that_only_traces_among_json_files_are_opened(tmp_path: Path) -> None:
    make(tmp_path / "a.pt.trace.json.gz", gzip.compress(b'{"schemaVersion": 1, "traceEvents": []}'))
    make(tmp_path / "broken.json.gz", b"\x1f\x8b\x08garbage")
    make(tmp_path / "config.json", b'{"phase": 1}')
    make(tmp_path / "communication.json", b'{"step": {}}')
    assert found(tmp_path) == [("a.pt.trace.json.gz", "text", None)]


def test_that_an_analysis_is_opened_where_there_is_nothing_else(tmp_path: Path) -> None:
    make(tmp_path / "cluster_analysis.db", SQLITE)
    assert found(tmp_path) == [("cluster_analysis.db", "analysis", None)]


def test_that_links_in_a_circle_end(tmp_path: Path) -> None:
    make(tmp_path / "a" / "trace_view.json")
    (tmp_path / "a" / "b").symlink_to(tmp_path)
    assert len(find_sources(tmp_path)) == 1


def test_that_a_folder_without_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "ENTRIES", 20)
    for number in range(30):
        make(tmp_path / f"{number:02}.json")
    assert len(found(tmp_path)) == 20
    assert [remark.key for remark in find(tmp_path).remarks] == ["timeline.remark.too_many_files"]


@pytest.mark.parametrize("data", [b"", b"hello", b"\x89PNG\r\n", b"\x1f\x8b"])
def test_that_what_is_no_profile_is_told(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(StudioError, match="neither a trace"):
        find_sources(make(tmp_path / "file.bin", data))


def test_that_an_empty_folder_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match=r"ascend_pytorch_profiler_\*\.db"):
        find_sources(tmp_path)


def test_that_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    make(tmp_path / "trace_view.json")
    for name in ("x.json", "msprof_1.db"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "ascend_pytorch_profiler_0.db").symlink_to(tmp_path / "nowhere")
    assert found(tmp_path) == [("trace_view.json", "text", None)]
    with pytest.raises(StudioError):
        find_sources(tmp_path / "x.json")


def test_that_real_profiles_are_found() -> None:
    folder = profile("ascend_pytorch_2rank")
    assert found(folder / "text") == [("trace_view.json", "text", 0), ("trace_view.json", "text", 1)]
    assert [row[1:] for row in found(folder / "db")] == [("db", 0), ("db", 1)]
    assert found(profile("mindspore_cpu")) == [("trace_view.json", "text", None)]


def test_that_a_trace_is_known_by_its_events_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "ascend_timeline_display_0.json"
    write_array(path, torch_npu(steps=1))
    assert found(tmp_path) == [(path.name, "text", None)]
