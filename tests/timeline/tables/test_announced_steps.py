"""Which steps a trace should have, by the files next to it, and what is said where nothing tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.timeline.profile_reader import Opened, read_profile
from backends.timeline.tables.announced_steps import step_names
from backends.timeline.tables.summary_sentence import coverage_texts
from tests.planted.verdicts.timeline import cut_after, of_torch, text

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("homes")


def opened(path: Path) -> Opened:
    return read_profile(path, lambda _done, _total: None)


def gap(profile: Opened) -> tuple[str, dict[str, object]]:
    ((_, error),) = profile.coverage.gaps
    return error.key.rpartition(".")[2], error.values


def test_that_steps_of_the_table_that_the_trace_lacks_are_named(tmp_path: Path) -> None:
    profile = opened(cut_after(tmp_path, step=1))
    assert gap(profile) == ("named_steps", {"steps": "2-3", "have": "0-1"})
    assert not profile.is_whole
    assert coverage_texts(profile.coverage) == []


def test_that_a_schedule_that_asked_for_more_steps_is_named(tmp_path: Path) -> None:
    assert gap(opened(cut_after(tmp_path, step=1, tables=False, asked=3))) == ("asked_steps", {"n": 3, "have": "0-1"})


def test_that_a_table_is_looked_at_each_time(tmp_path: Path) -> None:
    """Tables are no part of what the cache goes by."""
    folder = cut_after(tmp_path, step=1)
    opened(folder)
    next(folder.rglob("step_trace_time.csv")).unlink()
    again = opened(folder)
    assert (again.fresh, again.coverage.gaps) == (False, ())


def test_that_a_trace_alone_says_which_steps_it_has_and_that_there_may_be_more(tmp_path: Path) -> None:
    profile = opened(text(tmp_path, steps=3))
    (sentence,) = coverage_texts(profile.coverage)
    assert profile.is_whole
    assert sentence.startswith("Steps in the file: 0-2. Nothing in it or next to it tells how many were recorded")


@pytest.mark.parametrize("asked", [0, 4])
def test_that_a_whole_capture_says_nothing_of_it(tmp_path: Path, asked: int) -> None:
    profile = opened(cut_after(tmp_path, step=3, asked=asked))
    assert (profile.is_whole, profile.coverage.is_announced, coverage_texts(profile.coverage)) == (True, True, [])


def test_that_the_end_of_a_recording_of_torch_tells_that_no_step_follows(tmp_path: Path) -> None:
    assert opened(of_torch(tmp_path)).coverage.is_announced


def test_that_ranges_of_steps_are_short() -> None:
    assert step_names([3, 4, 5, 8]) == "3-5, 8"
    assert step_names(range(0, 40, 2)) == "0, 2, 4, 6, 8, 10, 12, 14 …"


@pytest.mark.parametrize("content", ['{"a":', "", "\0" * 40])
def test_that_settings_that_cannot_be_read_are_named(tmp_path: Path, content: str) -> None:
    """Without them nothing tells which steps were asked for."""
    folder = cut_after(tmp_path, step=3, asked=4)
    next(folder.rglob("profiler_info_*.json")).write_text(content)
    profile = opened(folder)
    assert "timeline.remark.settings_damaged" in [note.key for note in profile.notes]
    assert not profile.is_whole
