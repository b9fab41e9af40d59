"""Which files are profiles, and of which rank."""

from __future__ import annotations

import gzip
import os
from typing import TYPE_CHECKING

import pytest

from backends.timeline import source_discovery as finding
from backends.timeline.source_discovery import find, find_sources
from studio.errors import StudioError
from tests.timeline.profile_data import RANK, SETS, profile
from tests.timeline.profile_folders import rank_folder, ranks
from tests.timeline.torch_npu_trace import torch_npu, write_array

if TYPE_CHECKING:
    from pathlib import Path

SQLITE = b"SQLite format 3\0" + b"\0" * 100
EVENTS = b'[{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": "1.000", "dur": 1}]'


def make(path: Path, data: bytes = EVENTS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def discovered(path: Path) -> list[tuple[str, str, int | None]]:
    """(name, kind, rank) of what is no table."""
    return [(source.path.name, source.kind, source.rank) for source in find_sources(path) if source.kind != "table"]


def test_that_a_folder_of_ranks_holds_them_in_order(tmp_path: Path) -> None:
    sources = find_sources(ranks(tmp_path, 3))
    assert [(source.rank, source.kind) for source in sources][:3] == [(0, "text"), (1, "text"), (2, "text")]
    assert {source.path.name for source in sources[3:]} == {"memory_record.csv"}
    assert [source.rank for source in sources[3:]] == [0, 1, 2]


def test_that_each_place_of_a_rank_opens_the_same(tmp_path: Path) -> None:
    folder = rank_folder(tmp_path / "x_ascend_pt", rank=5)
    output = folder / "ASCEND_PROFILER_OUTPUT"
    assert find_sources(folder) == find_sources(output) == find_sources(output / "trace_view.json")
    assert discovered(output) == [("trace_view.json", "text", 5)]


def test_that_the_db_is_preferred_to_the_text_and_told(tmp_path: Path) -> None:
    folder = rank_folder(tmp_path / "x_ascend_pt")
    make(folder / "ASCEND_PROFILER_OUTPUT" / "ascend_pytorch_profiler_0.db", SQLITE)
    make(folder / "ASCEND_PROFILER_OUTPUT" / "analysis.db", SQLITE)
    assert discovered(folder) == [("ascend_pytorch_profiler_0.db", "db", 0)]
    assert [remark.key for remark in find(folder).remarks] == ["timeline.remark.db_preferred"]
    text = folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    assert discovered(text) == [("trace_view.json", "text", 0)]


def test_that_msprof_s_own_files_count_only_where_the_framework_made_none(tmp_path: Path) -> None:
    folder = tmp_path / "x_ascend_pt"
    raw = folder / "PROF_000001_2026"
    make(raw / "mindstudio_profiler_output" / "msprof_20260101.json")
    make(raw / "device_0" / "sqlite" / "ascend_task.db", SQLITE)
    assert discovered(folder) == [("msprof_20260101.json", "text", None)]
    make(folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
    assert discovered(folder) == [("trace_view.json", "text", None)]


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
    assert discovered(tmp_path) == [(name.rpartition("/")[2], "text", rank)]


def test_that_only_traces_among_json_files_are_opened(tmp_path: Path) -> None:
    make(tmp_path / "a.pt.trace.json.gz", gzip.compress(b'{"schemaVersion": 1, "traceEvents": []}'))
    make(tmp_path / "broken.json.gz", b"\x1f\x8b\x08garbage")
    make(tmp_path / "config.json", b'{"phase": 1}')
    make(tmp_path / "communication.json", b'{"step": {}}')
    assert discovered(tmp_path) == [("a.pt.trace.json.gz", "text", None)]


def test_that_an_analysis_is_opened_where_there_is_nothing_else(tmp_path: Path) -> None:
    make(tmp_path / "cluster_analysis.db", SQLITE)
    assert discovered(tmp_path) == [("cluster_analysis.db", "analysis", None)]


def test_that_links_in_a_circle_end(tmp_path: Path) -> None:
    make(tmp_path / "a" / "trace_view.json")
    (tmp_path / "a" / "b").symlink_to(tmp_path)
    assert len(find_sources(tmp_path)) == 1


def test_that_a_folder_without_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "ENTRIES", 20)
    for number in range(30):
        make(tmp_path / f"{number:02}.json")
    assert len(discovered(tmp_path)) == 20
    assert [remark.key for remark in find(tmp_path).remarks] == ["timeline.remark.too_many_files"]


@pytest.mark.parametrize("data", [b"hello", b"\x89PNG\r\n", b"\x1f\x8b"])
def test_that_what_is_no_profile_is_told(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(StudioError, match="neither a JSON trace"):
        find_sources(make(tmp_path / "file.bin", data))


def test_that_a_file_of_no_bytes_says_that_the_export_did_not_finish(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match=r"x\.json is empty \(0 bytes\)\. The export did not finish"):
        find_sources(make(tmp_path / "x.json", b""))
    folder = tmp_path / "x_ascend_pt"
    make(folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json", b"")
    with pytest.raises(StudioError, match=r"trace_view\.json is empty \(0 bytes\)"):
        find_sources(folder)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is empty"),
        (b"garbage", "neither a JSON trace"),
        (b"[", "contains no events"),
        (b'{"a":1}', "contains no events"),
    ],
)
def test_that_one_rank_whose_trace_is_none_is_told(tmp_path: Path, data: bytes, why: str) -> None:
    folder = ranks(tmp_path, 2)
    broken = next(folder.glob("*0_ascend_pt")) / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    broken.write_bytes(data)
    assert discovered(folder) == [("trace_view.json", "text", 1)]
    (remark,) = find(folder).remarks
    assert remark.key == "timeline.remark.not_read"
    assert remark.args["reason"].startswith(str(broken))
    assert why in remark.args["reason"]


@pytest.mark.parametrize("name", ["nowhere", "nowhere/below", "x.json/below"])
def test_that_a_path_that_is_gone_is_told_as_such(tmp_path: Path, name: str) -> None:
    make(tmp_path / "x.json")
    with pytest.raises(StudioError, match=r"does not exist\. Check the path"):
        find_sources(tmp_path / name)


def at(seconds: int) -> bytes:
    return EVENTS.replace(b"1.000", b"%d.000" % (1_760_000_000_000_000 + seconds * 1_000_000))


def relative_paths(folder: Path) -> list[str]:
    return [str(source.path.relative_to(folder)) for source in find_sources(folder)]


def test_that_of_several_captures_of_the_same_ranks_the_newest_is_opened(tmp_path: Path) -> None:
    for name, begin in (("old", 0), ("new", 1700), ("mid", 900)):
        for rank in (0, 1):
            make(tmp_path / name / f"rank{rank}" / "trace_view.json", at(begin + rank))
    assert relative_paths(tmp_path) == ["new/rank0/trace_view.json", "new/rank1/trace_view.json"]
    (remark,) = find(tmp_path).remarks
    assert remark.key == "timeline.remark.captures"
    assert (remark.args["n"], remark.args["shown"], remark.args["others"]) == (3, "new", "mid, old")


def test_that_the_names_of_folders_tell_captures_of_one_process_apart(tmp_path: Path) -> None:
    stamps = {0: ("20260101120000123", "20260101120007123"), 1: ("20260101120001123", "20260101120008123")}
    for rank, times in stamps.items():
        for stamp in times:
            folder = tmp_path / f"rank{rank}" / f"host_{100 + rank}_{stamp}_ascend_pt"
            make(folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
    assert [source.path.parts[-3][9:23] for source in find_sources(tmp_path)] == ["20260101120007", "20260101120008"]


def test_that_a_rank_that_is_not_in_the_last_capture_does_not_join_it(tmp_path: Path) -> None:
    for name, begin in (("a/rank0", 0), ("a/rank1", 1), ("b/rank0", 2000)):
        make(tmp_path / name / "trace_view.json", at(begin))
    assert relative_paths(tmp_path) == ["b/rank0/trace_view.json"]


def test_that_hosts_that_start_together_stay_together(tmp_path: Path) -> None:
    for name, begin in (("node0/rank0", 0), ("node1/rank0", 2), ("node1/rank1", 3)):
        make(tmp_path / name / "trace_view.json", at(begin))
    assert len(relative_paths(tmp_path)) == 3
    assert find(tmp_path).remarks == ()


def test_that_single_cards_without_a_rank_are_captures_by_their_stamps(tmp_path: Path) -> None:
    for pid, stamp in ((1, "20260101120000123"), (2, "20260102120000123"), (3, "99999999999999123")):
        make(tmp_path / f"host_{pid}_{stamp}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json", at(0))
    assert [path.split("_")[1] for path in relative_paths(tmp_path)] == ["2"]


@pytest.mark.parametrize("kind", SETS)
def test_that_a_folder_of_two_collections_opens_the_newest(kind: str) -> None:
    folder = profile(f"{kind}/{RANK}")
    assert [(source.kind, source.rank) for source in find_sources(folder)] == [("db", 0), ("db", 1)]
    (remark,) = find(folder).remarks
    assert (remark.args["n"], remark.args["shown"], remark.args["others"]) == (2, "db", "text")


def test_that_an_empty_folder_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match=r"ascend_pytorch_profiler_\*\.db"):
        find_sources(tmp_path)


def test_that_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    make(tmp_path / "trace_view.json")
    for name in ("x.json", "msprof_1.db"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "ascend_pytorch_profiler_0.db").symlink_to(tmp_path / "nowhere")
    assert discovered(tmp_path) == [("trace_view.json", "text", None)]
    with pytest.raises(StudioError):
        find_sources(tmp_path / "x.json")


@pytest.mark.parametrize("kind", SETS)
def test_that_profiles_are_found(kind: str) -> None:
    folder = profile(f"{kind}/{RANK}")
    assert discovered(folder / "text") == [("trace_view.json", "text", 0), ("trace_view.json", "text", 1)]
    assert [row[1:] for row in discovered(folder / "db")] == [("db", 0), ("db", 1)]
    assert discovered(profile(f"{kind}/mindspore_cpu")) == [("trace_view.json", "text", None)]


def test_that_a_trace_is_known_by_its_events_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "ascend_timeline_display_0.json"
    write_array(path, torch_npu(steps=1))
    assert discovered(tmp_path) == [(path.name, "text", None)]


def test_that_a_rank_with_tables_and_no_trace_is_named(tmp_path: Path) -> None:
    folder = ranks(tmp_path, 2)
    assert find(folder).remarks == ()
    path = next(folder.glob("*1_ascend_pt")) / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    path.unlink()
    assert [(remark.key, remark.args) for remark in find(folder).remarks] == [
        ("timeline.remark.unparsed", {"place": str(path.parent.parent)})
    ]
