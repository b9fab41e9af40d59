"""The cache: whole or not there, whoever else is at it and whatever happens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from backends.timeline.build import cache
from backends.timeline.build.content_key import key_of
from backends.timeline.build.seal import write_seal
from backends.timeline.profile_reader import (
    Opened,
    open_cached,
    read_profile,
    root_of,
)
from backends.timeline.source_discovery import find_sources
from backends.timeline.trace import Trace, open_trace
from studio.errors import StudioError
from studio.paths import ROOT, state_home
from tests.timeline.command_runs import LINE, run_timeline
from tests.timeline.profile_folders import ranks
from tests.timeline.torch_npu_trace import torch_npu, write_array

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

HALF = """
import pathlib, sys, time
sys.path.insert(0, sys.argv[1])
from backends.timeline.build import cache
with cache.reading(sys.argv[2]), cache.unfinished(sys.argv[2], "build") as folder:
    folder.mkdir()
    (folder / "start.npy").write_bytes(b"half")
    print("half", flush=True)
    time.sleep(60)
"""
TINY = 'ulimit -f 4; exec "$@"'  # files of at most 4 kB


@pytest.fixture
def trace_file(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "trace_view.json"
    write_array(path, torch_npu())
    return path


def quiet(_done: int, _total: int) -> None:
    pass


def key(path: Path) -> str:
    return key_of(find_sources(path), root_of(path))


def left(*, but: tuple[str, ...] = ()) -> list[str]:
    """What lies in the cache beside entries and locks."""
    names = sorted(os.listdir(cache.home()))
    return [name for name in names if "." in name and not name.endswith((".lock", ".use")) and name not in but]


def entries() -> list[str]:
    return sorted(name for name in os.listdir(cache.home()) if "." not in name)


def kill_unfinished(key: str) -> None:
    child = subprocess.Popen((sys.executable, "-c", HALF, str(ROOT), key), stdout=subprocess.PIPE)
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == b"half\n"
    child.kill()
    child.wait()


def test_that_the_second_time_nothing_is_read(trace_file: Path) -> None:
    assert open_cached(trace_file) is None
    first = read_profile(trace_file, quiet)
    again = open_cached(trace_file)
    assert again is not None
    assert (first.fresh, again.fresh, again.cache) == (True, False, first.cache)
    assert again.trace.meta == first.trace.meta
    assert not read_profile(trace_file, quiet).fresh


def test_that_what_was_killed_half_way_is_removed_by_the_next(trace_file: Path) -> None:
    kill_unfinished(key(trace_file))
    assert len(left()) == 1
    assert read_profile(trace_file, quiet).fresh
    assert not left()


def test_that_what_was_killed_half_way_is_removed_by_the_next_of_another_profile(trace_file: Path) -> None:
    kill_unfinished("0" * 32)
    assert read_profile(trace_file, quiet).fresh
    assert not left()


def test_that_eight_openers_at_once_read_once(trace_file: Path) -> None:
    children = [
        subprocess.Popen((*LINE, str(trace_file), "--json"), cwd=ROOT, stdout=subprocess.PIPE) for _ in range(8)
    ]
    answers: list[dict[str, Any]] = [json.loads(child.communicate(timeout=300)[0]) for child in children]
    assert [child.returncode for child in children] == [0] * 8
    assert sum(answer["fresh"] for answer in answers) == 1
    assert len({(answer["slices"], answer["cache"]) for answer in answers}) == 1
    assert len(entries()) == 1
    assert not left()


def shortened(folder: Path) -> None:
    os.truncate(folder / "start.npy", (folder / "start.npy").stat().st_size - 8)


def emptied(folder: Path) -> None:
    (folder / "arrow.npy").write_bytes(b"")


def without_names(folder: Path) -> None:
    (folder / "names.bin").unlink()


def garbled(folder: Path) -> None:
    (folder / "meta.json").write_bytes(b'{"format": 1')


def of_another_profile(folder: Path) -> None:
    (folder / "end.npy").write_bytes((folder / "row_begin.npy").read_bytes())


def changed(folder: Path, column: str, change: Callable[[NDArray[Any]], None]) -> None:
    """Change numbers of a column; its length and type stay."""
    values = np.load(folder / f"{column}.npy")
    change(values)
    np.save(folder / f"{column}.npy", values)


def with_halved_times(folder: Path) -> None:
    def halve(end: NDArray[Any]) -> None:
        end //= 2

    changed(folder, "end", halve)


def with_a_page_of_zeros(folder: Path) -> None:
    changed(folder, "start", lambda start: start[:512].fill(0))


def with_names_out_of_range(folder: Path) -> None:
    changed(folder, "name", lambda name: name[:100].fill(10**9))


def with_a_row_far_away(folder: Path) -> None:
    changed(folder, "row_begin", lambda begin: begin[1:2].fill(10**12))


def with_arrows_out_of_range(folder: Path) -> None:
    changed(folder, "arrow", lambda arrow: arrow[:, 2].fill(-7))


def with_other_names(folder: Path) -> None:
    data = (folder / "names.bin").read_bytes()
    (folder / "names.bin").write_bytes(data[::-1])


def with_other_counts(folder: Path) -> None:
    meta = json.loads((folder / "meta.json").read_bytes())
    meta["origin_ns"] += 1_000_000
    (folder / "meta.json").write_text(json.dumps(meta))


def without_seal(folder: Path) -> None:
    (folder / "seal.json").unlink()


def of_somebody_else(folder: Path) -> None:
    """All columns fit together and are sealed, but under another user's key."""
    with_halved_times(folder)
    (folder / "seal.json").unlink()
    key = state_home() / "timeline" / "cache.key"
    own = key.read_bytes()
    key.write_bytes(b"x" * len(own))
    write_seal(folder)
    key.write_bytes(own)


DAMAGES = [
    shortened, emptied, without_names, garbled, of_another_profile, with_halved_times, with_a_page_of_zeros,
    with_names_out_of_range, with_a_row_far_away, with_arrows_out_of_range, with_other_names, with_other_counts,
    without_seal, of_somebody_else,
]  # fmt: skip


@pytest.mark.parametrize("damage", [with_names_out_of_range, with_a_row_far_away, with_arrows_out_of_range])
def test_that_a_number_that_leads_beyond_a_column_is_refused_even_if_sealed(
    trace_file: Path, damage: Callable[[Path], None]
) -> None:
    folder = read_profile(trace_file, quiet).cache
    damage(folder)
    write_seal(folder)
    assert open_cached(trace_file) is None


def test_that_the_cache_is_this_users_alone(trace_file: Path) -> None:
    cache.home().chmod(0o755)
    read_profile(trace_file, quiet)
    assert cache.home().stat().st_mode & 0o077 == 0
    assert (state_home() / "timeline" / "cache.key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", DAMAGES)
def test_that_a_damaged_profile_is_read_anew(trace_file: Path, damage: Callable[[Path], None]) -> None:
    first = read_profile(trace_file, quiet)
    damage(first.cache)
    assert open_cached(trace_file) is None
    again = read_profile(trace_file, quiet)
    assert (again.fresh, again.trace.meta) == (True, first.trace.meta)
    assert not left()


def test_that_a_changed_file_is_another_profile(trace_file: Path) -> None:
    first = read_profile(trace_file, quiet)
    write_array(trace_file, torch_npu(steps=3))
    assert open_cached(trace_file) is None
    assert read_profile(trace_file, quiet).trace.meta.slices > first.trace.meta.slices


def test_that_a_copy_of_the_same_time_is_the_same_profile(trace_file: Path, tmp_path: Path) -> None:
    first = read_profile(trace_file, quiet)
    copy = tmp_path / "elsewhere" / trace_file.name
    copy.parent.mkdir()
    copy.write_bytes(trace_file.read_bytes())
    state = trace_file.stat()
    os.utime(copy, ns=(state.st_atime_ns, state.st_mtime_ns))
    again = open_cached(copy)
    assert again is not None
    assert (again.cache, again.trace.root) == (first.cache, copy.parent)


def test_that_a_file_that_changes_once_while_it_is_read_is_read_again(trace_file: Path) -> None:
    changes = [torch_npu(steps=3)]

    def change(_done: int, _total: int) -> None:
        if changes:
            write_array(trace_file, changes.pop())

    opened = read_profile(trace_file, change)
    assert (opened.notes, opened.trace.meta.slices) == ((), expected(trace_file).trace.meta.slices)
    assert not left()


def expected(path: Path) -> Opened:
    copy = path.with_name("copy.json")
    copy.write_bytes(path.read_bytes())
    return read_profile(copy, quiet)


def test_that_a_file_that_goes_on_changing_is_shown_and_told(trace_file: Path) -> None:
    steps = iter(range(3, 30))
    opened = read_profile(trace_file, lambda _done, _total: write_array(trace_file, torch_npu(steps=next(steps))))
    assert [note.key for note in opened.notes] == ["timeline.remark.changed"]
    assert open_cached(trace_file) is None


def test_that_a_file_that_goes_while_others_are_read_is_told(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "data")
    gone = next(folder.glob("*1_ascend_pt")) / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    opened = read_profile(folder, lambda _done, _total: gone.unlink(missing_ok=True))
    assert [note.key for note in opened.notes] == ["timeline.remark.not_read"]
    assert opened.trace.meta.slices > 0


def test_that_what_was_left_out_is_told_again_from_the_cache(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "data")
    aside = next(folder.glob("*1_ascend_pt")) / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    aside.write_text('[{"ph": "?", "ts": 1, "pid": 1, "name": "x"}]')
    opened = read_profile(folder, quiet)
    again = open_cached(folder)
    assert again is not None
    assert [note.key for note in opened.notes] == ["timeline.remark.not_read"]
    assert (again.notes, again.fresh) == (opened.notes, False)


def test_that_a_window_is_shown_a_first_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.timeline.profile_reader.PARTIAL_AFTER", 0.0)
    folder = ranks(tmp_path / "data", 4)
    parts: list[Trace] = []
    whole = read_profile(folder, quiet, lambda part: parts.append(open_trace(part, folder))).trace
    (first,) = parts
    assert first.meta.partial is not None
    assert 0 < first.meta.partial < 0.7
    assert 0 < first.meta.slices < whole.meta.slices
    assert not first.folder.exists()
    assert int(first.start[-1]) >= 0


def test_that_cancelling_leaves_nothing(trace_file: Path) -> None:
    def cancel(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_profile(trace_file, cancel)
    assert (left(), entries()) == ([], [])


def test_that_a_full_disk_is_told_and_leaves_nothing(trace_file: Path) -> None:
    write_array(trace_file, torch_npu(steps=40))
    process = subprocess.run(
        ("bash", "-c", TINY, "bash", *LINE, str(trace_file), "--json"), cwd=ROOT, capture_output=True, check=False
    )
    assert (process.returncode, process.stdout) == (1, b"")
    assert b"Traceback" not in process.stderr
    assert str(cache.home().parent).encode() in process.stderr
    assert (left(), entries()) == ([], [])


def test_that_a_cache_that_cannot_be_written_is_told(trace_file: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = run_timeline(trace_file, XDG_CACHE_HOME=str(tmp_path / "file"))
    assert run.code == 1
    assert "Traceback" not in run.error


def test_that_the_longest_unused_goes_and_what_is_open_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / "data" / f"{name}.json" for name in "abc"]
    for path in paths:
        write_array(path, torch_npu())
    opened = read_profile(paths[0], quiet)
    monkeypatch.setattr(cache, "MAX_BYTES", 1)
    unused = read_profile(paths[1], quiet).cache.name
    last = read_profile(paths[2], quiet)
    assert entries() == sorted([opened.cache.name, last.cache.name])
    assert not [name for name in os.listdir(cache.home()) if name.startswith(unused)]


def test_that_without_locks_each_builds_its_own(trace_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.timeline.build.locks._flock", lambda _descriptor, _how: False)
    first = read_profile(trace_file, quiet)
    with cache.unfinished(key(trace_file), "build") as folder:
        folder.mkdir()
        again = read_profile(trace_file, quiet)
        assert (first.fresh, again.fresh, folder.is_dir()) == (True, False, True)


def test_that_no_profile_is_told_with_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(StudioError, match=r"trace_view\.json"):
        open_cached(tmp_path)
