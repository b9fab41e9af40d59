from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from backends.timeline.query.notes import Mark, merge_notes, notes_file, read_notes, write_notes
from studio.errors import StudioError
from studio.paths import ROOT
from tests.timeline.memory_traces import LaneSpec, trace_of

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.trace import Trace

MARKS = (Mark(begin=5, end=5, text="慢 🐢\n", color=3), Mark(begin=1 << 60, end=(1 << 60) + 1))


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def _trace(folder: Path) -> Trace:
    return trace_of(folder, [LaneSpec(slices=[(0, 7, "x")])])


def test_that_notes_come_back_as_they_were_and_in_order(tmp_path: Path) -> None:
    file = notes_file(_trace(tmp_path / "profile"))
    assert file.is_relative_to(tmp_path / "state")
    assert read_notes(file) == ()
    write_notes(file, reversed(MARKS))
    assert read_notes(file) == MARKS


def test_that_notes_on_a_profile_of_a_run_lie_in_the_run_and_not_in_the_profile(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    profile = tmp_path / "artifacts" / "captures" / "rank0"
    file = notes_file(_trace(profile))
    assert file.parent == tmp_path / "timeline"
    write_notes(file, MARKS)
    assert read_notes(file) == MARKS
    assert [path.name for path in profile.iterdir()] == ["names.bin"]


def test_that_a_copy_has_the_same_notes_and_another_trace_has_its_own(tmp_path: Path) -> None:
    original, copy = (notes_file(_trace(tmp_path / name)) for name in ("one", "copy"))
    assert original == copy
    assert notes_file(trace_of(tmp_path / "other", [LaneSpec(slices=[(0, 8, "x")])])) != original


def test_that_of_a_file_somebody_edited_what_is_a_mark_stays(tmp_path: Path) -> None:
    marks: list[object] = [
        {"begin": 1, "end": 2, "color": 999, "new": 1}, {"begin": 3, "end": 1}, {"begin": "x", "end": 1}, 7, None,
        {"begin": 10**30, "end": 10**30}, {"begin": 1.5, "end": 2},
    ]  # fmt: skip
    path = tmp_path / "notes.json"
    path.write_text(json.dumps({"format": 9, "marks": marks}))
    assert read_notes(path) == (Mark(begin=1, end=2, color=999 % 8),)


@pytest.mark.parametrize("text", ["", "[", "[]", "null", '{"marks": 3}', '{"marks": {"a": 1}}', "\ud800"])
def test_that_a_damaged_file_holds_no_notes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert read_notes(path) == ()


def test_that_where_they_cannot_be_kept_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StudioError) as raised:
        write_notes(tmp_path / "file" / "notes.json", MARKS)
    assert raised.value.key.startswith("error.")


def note(text: str, begin: int = 1) -> Mark:
    return Mark(begin=begin, end=begin, text=text)


def test_that_a_note_of_another_window_stays_when_this_one_writes(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    merge_notes(path, (), (note("second window"),))
    assert merge_notes(path, (), (note("first window"),)) == (note("first window"), note("second window"))
    assert read_notes(path) == (note("first window"), note("second window"))


def test_that_what_one_window_deletes_or_edits_is_merged_with_what_the_other_adds(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    both = (note("a"), note("b"))
    write_notes(path, (*both, note("c of another window")))
    assert merge_notes(path, both, (note("a, edited"),)) == (note("a, edited"), note("c of another window"))
    assert merge_notes(path, (), (note("a, edited"),)) == read_notes(path)  # known already: not twice
    assert len(read_notes(path)) == 2


def test_that_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    line = "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; "
    line += "from backends.timeline.query.notes import *; n = int(sys.argv[3]); path = Path(sys.argv[2])\n"
    line += "for i in range(n, n + 20): merge_notes(path, (), (Mark(begin=i, end=i, text=str(i)),))"
    words = (sys.executable, "-c", line, str(ROOT), str(path))
    children = [subprocess.Popen((*words, str(number))) for number in (0, 100, 200)]
    assert [child.wait() for child in children] == [0, 0, 0]
    assert len(read_notes(path)) == 60
