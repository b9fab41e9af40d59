"""A step that the profiler's own table has with other figures than the events of the trace sum up to."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from backends.timeline.command import timeline
from backends.timeline.spec import Profile, TimelineSpec
from tests.timeline.profile_folders import OUTPUT, rank_folder
from tests.timeline.synthetic_profiles import write_profiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("homes")


def answered(path: Path) -> tuple[int, str]:
    """Return the exit code, and the sentences without the one on what is incomplete."""
    code, answer = timeline(TimelineSpec(profile=Profile(profile_path=path)), lambda _line: None)
    assert (code == 0) == (answer["state"] == "whole")
    return code, " ".join(answer["sentences"])


def thinned(folder: Path, keeps: Callable[[dict[str, Any], set[int]], bool]) -> Path:
    """A rank whose trace lacks events. `keeps`: takes an event and the processes of Overlap Analysis."""
    rank = rank_folder(folder / "rank0_ascend_pt", steps=4)
    path = rank / OUTPUT / "trace_view.json"
    events = json.loads(path.read_text())
    overlap = {each["pid"] for each in events if each.get("args", {}).get("name") == "Overlap Analysis"}
    assert overlap
    path.write_text(json.dumps([event for event in events if keeps(event, overlap)]))
    return rank


def test_that_a_table_with_the_same_figures_is_whole(tmp_path: Path) -> None:
    code, sentences = answered(thinned(tmp_path, lambda _event, _overlap: True))
    assert code == 0
    assert "step_trace_time.csv" not in sentences


def test_that_a_trace_without_its_overlap_analysis_is_held_against_its_table(tmp_path: Path) -> None:
    code, sentences = answered(thinned(tmp_path, lambda event, overlap: event["pid"] not in overlap))
    assert code == 3
    assert "step_trace_time.csv next to the trace says otherwise" in sentences


def test_that_device_time_that_was_cut_off_a_step_is_told(tmp_path: Path) -> None:
    kept = iter(range(1 << 20))
    code, sentences = answered(
        thinned(tmp_path, lambda event, overlap: event["pid"] not in overlap or event["ph"] != "X" or next(kept) % 2)
    )
    assert code == 3
    assert "says otherwise" in sentences


@pytest.mark.parametrize("damage", ["", "DELETE FROM COMPUTE_TASK_INFO WHERE rowid % 2 = 0"])
def test_that_a_database_is_held_against_its_analysis(tmp_path: Path, damage: str) -> None:
    """The rows that are gone have nothing that refers to them; what the analysis counted shows them."""
    path = next((write_profiles(tmp_path) / "ascend_pytorch_2rank" / "db").rglob("ascend_pytorch_profiler_0.db"))
    with closing(sqlite3.connect(path)) as base:
        base.execute(damage)
        base.commit()
    code, sentences = answered(path)
    assert code == (3 if damage else 0)
    assert ("analysis.db next to the trace says otherwise" in sentences) == bool(damage)
