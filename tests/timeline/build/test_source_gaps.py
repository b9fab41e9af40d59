"""What a trace lacks although it can be read to its end, and what stands in it twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from backends.timeline.profile_reader import read_profile
from tests.planted.verdicts.timeline import joined, thinned, without_lanes
from tests.timeline.profile_folders import OUTPUT, ranks
from tests.timeline.torch_npu_trace import torch_npu, write_array

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

    from backends.timeline.profile_reader import Opened

pytestmark = pytest.mark.usefixtures("homes")


def opened(path: Path) -> Opened:
    return read_profile(path, lambda _done, _total: None)


def gaps(profile: Opened) -> dict[str, dict[str, str | int]]:
    return {gap.key.rpartition(".")[2]: gap.args for source in profile.trace.meta.sources for gap in source.gaps}


def without(folder: Path, keeps: Callable[[int, dict[str, Any]], bool]) -> dict[str, dict[str, str | int]]:
    profile = opened(thinned(folder, keeps))
    assert profile.is_whole is not bool(gaps(profile))
    return gaps(profile)


def test_that_flows_with_one_end_are_counted_by_their_kind(tmp_path: Path) -> None:
    found = without(tmp_path, lambda _number, event: event["ph"] != "f" or event["cat"] != "async_task_queue")
    assert found == {"flows": {"kind": "async_task_queue", "n": 120, "total": 120}}


def test_that_kernels_are_missing_where_flows_lead_to_none(tmp_path: Path) -> None:
    found = without(tmp_path, lambda _number, event: "Task Type" not in event.get("args", {}))
    assert found["kernels"]["total"] == found["kernels"]["n"] > 100


def test_that_steps_between_the_first_and_the_last_are_named(tmp_path: Path) -> None:
    found = without(tmp_path, lambda _number, event: event["name"] not in ("ProfilerStep#1", "ProfilerStep#2"))
    assert found == {"steps": {"steps": "1-2"}}


def test_that_a_rank_without_lanes_that_others_have_is_named(tmp_path: Path) -> None:
    found = gaps(opened(without_lanes(tmp_path / "data", 1, 15)))
    assert found["lanes"]["rank"] == 1


def test_that_a_whole_trace_has_no_gap(tmp_path: Path) -> None:
    assert without(tmp_path, lambda _number, _event: True) == {}


def test_that_a_trace_that_was_appended_to_itself_is_counted_once(tmp_path: Path) -> None:
    once = opened(write_array(tmp_path / "once" / "trace_view.json", torch_npu(steps=3, kernels=12)))
    for number, is_array_each in enumerate((True, False)):
        twice = opened(joined(tmp_path / str(number), is_array_each=is_array_each))
        meta, single = twice.trace.meta, once.trace.meta
        assert (meta.slices, meta.flow_ends, meta.arrows, meta.steps) == (
            single.slices, single.flow_ends, single.arrows, single.steps
        )  # fmt: skip
        assert int(twice.trace.cover[-1]) == int(once.trace.cover[-1])
        assert meta.counters == single.counters
        assert "repeats" in gaps(twice)
        assert ("arrays" in gaps(twice)) == is_array_each
        counted = meta.slices + meta.instants + meta.flow_ends + meta.counters + meta.metadata
        assert counted + sum(meta.set_aside.values()) == meta.events


def test_that_some_calls_of_one_name_and_time_are_all_kept(tmp_path: Path) -> None:
    """In whole microseconds a call may begin and end with another of its name."""
    events = torch_npu(steps=2, kernels=12)
    alike = [event for event in events if event["name"] == "aten::mm"][:3]
    profile = opened(write_array(tmp_path / "trace_view.json", [*events, *alike]))
    assert "repeats" not in gaps(profile)
    assert json.dumps(profile.trace.meta.set_aside).count("repeat") == 0


def flow_events(kind: str, count: int, phases: str) -> list[dict[str, Any]]:
    """Calls of 5 µs, each with the ends of a flow: `phases`, "s", "f" or both."""
    lane = {"pid": 1, "tid": 1}
    calls = [{"ph": "X", "name": "call", **lane, "ts": 100 + 10 * n, "dur": 5} for n in range(count)]
    return calls + [
        {"ph": phase, "name": kind, "cat": kind, "id": n, **lane, "ts": 101 + 10 * n}
        for n in range(count)
        for phase in phases
    ]


@pytest.mark.parametrize("phases", ["s", "f"])
@pytest.mark.parametrize("kind", ["fwdbwd", "ac2g", "own"])
def test_that_flows_of_every_kind_that_all_have_one_end_are_a_gap(tmp_path: Path, kind: str, phases: str) -> None:
    profile = opened(write_array(tmp_path / "trace.json", flow_events(kind, 35, phases)))
    assert gaps(profile) == {"flows": {"kind": kind, "n": 35, "total": 35}}
    assert not profile.is_whole


def test_that_calls_of_a_runtime_that_start_nothing_are_no_gap(tmp_path: Path) -> None:
    """libkineto begins a flow at a call that waits, too, or that is recorded into a graph."""
    end = {"ph": "f", "name": "ac2g", "cat": "ac2g", "id": 7, "pid": 0, "tid": 7, "ts": 500, "bp": "e"}
    assert opened(write_array(tmp_path / "trace.json", [*flow_events("ac2g", 30, "s"), end])).is_whole


@pytest.mark.parametrize(("seconds", "is_apart"), [(1700, True), (5, False)])
def test_that_ranks_whose_recordings_do_not_overlap_are_named(tmp_path: Path, seconds: int, is_apart: bool) -> None:
    """Clocks of hosts differ by some seconds; a step is not recorded half an hour apart."""
    folder = ranks(tmp_path, 2)
    path = next(folder.glob("*1_ascend_pt")) / OUTPUT / "trace_view.json"
    events = json.loads(path.read_text())
    for event in events:
        if "ts" in event:
            whole, _, rest = str(event["ts"]).partition(".")
            event["ts"] = f"{int(whole) + seconds * 10**6}.{rest or '000'}"
    path.write_text(json.dumps(events))
    profile = opened(folder)
    assert ("apart" in gaps(profile)) == is_apart
    assert profile.is_whole is not is_apart
