from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.timeline.tables.communication import communications
from backends.timeline.tables.companion_rows import CompanionRow, find_companion_rows
from backends.timeline.tables.kernels import kernel_rows
from backends.timeline.tables.operators import operator_rows
from tests.timeline.hostile_files import mutated
from tests.timeline.profile_data import TEXT_FOLDERS, profile
from tests.timeline.profile_folders import rank_folder
from tests.timeline.synthetic_profiles import COMMUNICATIONS, KERNELS

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("kernel_details.csv", "operator_details.csv", "operator_memory.csv", "l2_cache.csv", "api_statistic.csv",
         "communication.json")  # fmt: skip


def exact(microseconds: str) -> int:
    whole, _, rest = str(microseconds).partition(".")
    return int(whole + rest[:3].ljust(3, "0"))


def slices_of(name: str) -> tuple[Path, list[dict[str, Any]]]:
    folder = profile(name)
    events = json.loads((folder / "trace_view.json").read_text())
    return folder, [event for event in events if event["ph"] == "X"]


def joined(folder: Path, event: dict[str, Any], turn: int | None = None) -> tuple[CompanionRow, ...]:
    return find_companion_rows(
        folder,
        name=event["name"],
        start_ns=exact(event["ts"]),
        duration_ns=round(event["dur"] * 1000),
        args=event.get("args", {}),
        turn=turn,
    )


@pytest.mark.parametrize("name", TEXT_FOLDERS)
def test_that_every_kernel_row_finds_its_slice(name: str) -> None:
    folder, slices = slices_of(name)
    (kernels,) = kernel_rows(folder)
    tables_found = set()
    for event in slices:
        row = kernels.row(exact(event["ts"]), event["name"])
        if row is not None:
            assert abs(float(row["Duration(us)"]) - event["dur"]) < 0.002
            tables_found.add((row["Start Time(us)"], row["Name"]))
    assert len(tables_found) == len(kernels.start) == (191 if name.startswith("real") else KERNELS + COMMUNICATIONS)


@pytest.mark.parametrize("name", TEXT_FOLDERS)
def test_that_every_row_of_the_other_tables_finds_its_slice(name: str) -> None:
    folder, slices = slices_of(name)
    turns: Counter[tuple[str, float]] = Counter()
    tables: Counter[str] = Counter()
    for event in sorted(slices, key=lambda candidate: exact(candidate["ts"])):
        key = (event["name"], event["dur"])
        tables.update({candidate.table for candidate in joined(folder, event, turns[key])})
        turns[key] += 1
    operators = sum(len(places) for places in operator_rows(folder)[0].places.values())
    caches = (folder / "l2_cache.csv").read_text().count("\n") - 1
    assert (tables["operator_details.csv"], tables["l2_cache.csv"], tables["communication.json"]) == (
        operators,
        caches,
        4,
    )


@pytest.mark.parametrize("name", TEXT_FOLDERS[::2])
def test_that_a_communication_says_its_bandwidth(name: str) -> None:
    folder, slices = slices_of(name)
    event = next(one for one in slices if one["name"].startswith("hcom_allReduce__586_1"))
    cells = next(one.cells for one in joined(folder, event) if one.table == "communication.json")
    figures = ("12.9217", "0.0557") if name.startswith("real") else ("15.75", "0.2857")
    assert (cells["HCCS Bandwidth(GB/s)"], cells["Wait Time Ratio"]) == figures
    assert not any(name.startswith("RDMA") for name in cells)  # it carried nothing


def test_that_kernels_of_today_are_joined(tmp_path: Path) -> None:
    folder = rank_folder(tmp_path / "rank0_ascend_pt") / "ASCEND_PROFILER_OUTPUT"
    events = json.loads((folder / "trace_view.json").read_text())
    kernels = [one for one in events if one.get("args", {}).get("Task Type") == "AI_CORE" and one["ph"] == "X"]
    assert kernels
    for event in kernels:
        (row,) = joined(folder, event)
        assert (row.cells["Input Shapes"], row.cells["cube_utilization(%)"]) == ("4096,1024;1024,512", "91.5")
        assert "Context ID" not in row.cells


def test_that_of_two_kernels_at_one_time_the_one_of_the_name_is_found(tmp_path: Path) -> None:
    head = "Name,Start Time(us),Block Dim\n"
    (tmp_path / "kernel_details.csv").write_text(head + '"a,b",5.001\t,1\nc,5.001\t,2\nc,9.000\t,3\nd,4.999\t,4\n')
    (kernels,) = kernel_rows(tmp_path)
    assert [kernels.row(at, name) for at, name in ((5001, "c"), (5000, "c"), (5002, "a,b"))] == [
        {"Name": "c", "Start Time(us)": "5.001", "Block Dim": "2"},
        {"Name": "c", "Start Time(us)": "5.001", "Block Dim": "2"},
        {"Name": "a,b", "Start Time(us)": "5.001", "Block Dim": "1"},
    ]
    assert [kernels.row(at, name) for at, name in ((5003, "c"), (5001, "x"), (0, "c"), (2**62, "c"))] == [None] * 4


def test_that_a_table_that_changed_is_read_anew(tmp_path: Path) -> None:
    table = tmp_path / "kernel_details.csv"
    query = {"name": "c", "start_ns": 5000, "duration_ns": 1, "args": {}}
    assert find_companion_rows(tmp_path, **query) == ()
    table.write_text("Name,Start Time(us),Type\nc,5.000,Old\n")
    assert find_companion_rows(tmp_path, **query)[0].cells["Type"] == "Old"
    table.write_text("Name,Start Time(us),Type\nc,5.000,Newer\n")
    assert find_companion_rows(tmp_path, **query)[0].cells["Type"] == "Newer"
    table.unlink()
    assert find_companion_rows(tmp_path, **query) == ()


def test_that_equal_operators_are_told_apart_only_by_their_turn(tmp_path: Path) -> None:
    head = "Name,Input Shapes,Host Total Duration(us)\n"
    (tmp_path / "operator_details.csv").write_text(head + 'add,"""1""",2.5\nadd,"""2""",2.5\nadd,"""3""",7\n')
    (operators,) = operator_rows(tmp_path)
    assert operators.row("add", 2500) is None
    assert [operators.row("add", 2500, turn) for turn in (0, 1, 2)] == [
        {"Name": "add", "Input Shapes": shape, "Host Total Duration(us)": "2.5"} for shape in "12"
    ] + [None]
    assert operators.row("add", 7000) == {"Name": "add", "Input Shapes": "3", "Host Total Duration(us)": "7"}


@pytest.mark.parametrize("profile_name", TEXT_FOLDERS[::2])
@pytest.mark.parametrize("name", NAMES)
def test_that_mutated_and_cut_files_break_nothing(tmp_path: Path, name: str, profile_name: str) -> None:
    folder, slices = slices_of(profile_name)
    data = (folder / name).read_bytes()
    some = slices[::97] + [event for event in slices if event["name"].startswith("hcom")]
    whole = {(id(event), row.table, tuple(row.cells.items())) for event in some for row in joined(folder, event, 0)}
    for length in range(0, len(data), len(data) // 6 + 1):
        (tmp_path / name).write_bytes(data[:length])
        for event in some:  # what is left is what the whole file says
            assert {(id(event), row.table, tuple(row.cells.items())) for row in joined(tmp_path, event, 0)} <= whole
    for seed in range(12):
        (tmp_path / name).write_bytes(mutated(data, seed))
        for event in some:
            joined(tmp_path, event)


@settings(max_examples=80, deadline=None)
@given(
    data=st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=4) | st.just(1e300),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["step", "p2p", "a@1", "Communication Time Info", "Start Timestamp(us)", "HCCS",
                             "Communication Bandwidth Info", "Transit Size(MB)"]), inner, max_size=3,
        ),
        max_leaves=12,
    )
)  # fmt: skip
def test_that_no_shape_of_json_breaks_communication(tmp_path_factory: pytest.TempPathFactory, data: object) -> None:
    folder = tmp_path_factory.mktemp("t")
    (folder / "communication.json").write_text(json.dumps(data))
    for file in communications(folder):
        file.find("a", 1000)


def test_that_deeply_nested_json_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "communication.json").write_text("[" * 100_000)
    assert communications(tmp_path) == ()
    (tmp_path / "communication.json").write_text('{"a":' * 100_000 + "1" + "}" * 100_000)
    assert communications(tmp_path) == ()
