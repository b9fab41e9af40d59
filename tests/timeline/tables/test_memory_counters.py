from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.timeline.gathering import Gathering
from backends.timeline.tables.memory_counters import counter_files, read_counter_file
from tests.timeline.profile_data import SETS, TEXT_FOLDERS, profile
from tests.timeline.profile_folders import rank_folder
from tests.timeline.tables.assembled_traces import add_counters, opened

if TYPE_CHECKING:
    from pathlib import Path


HEAD = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\n"


def gathered(folder: Path, text: str | bytes, name: str = "memory_record.csv") -> Gathering:
    (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    gather = Gathering()
    add_counters(folder, gather, 3)
    return gather


def samples(gather: Gathering) -> list[tuple[str, int, float]]:
    return [
        (gather.series[series].name, time, value)
        for chunk in gather.samples
        for series, time, value in zip(*(column.tolist() for column in chunk), strict=True)
    ]


def test_that_memory_becomes_series_by_component_and_device(tmp_path: Path) -> None:
    gather = gathered(
        tmp_path,
        HEAD
        + "APP,1736408883573957.920\t,,2109.6015625,,,NPU:0\r\n"
        + "PTA,1736408883573958.001\t,1.5,2,3,1,NPU:0\r\nPTA,1736408883573958.001\t,9,,,1,NPU:1\r\n",
    )
    assert sorted(samples(gather)) == sorted(
        [
            ("APP Reserved", 1736408883573957920, 2109.6015625),
            ("PTA Allocated", 1736408883573958001, 1.5),
            ("PTA Reserved", 1736408883573958001, 2.0),
            ("PTA Active", 1736408883573958001, 3.0),
            ("PTA Allocated", 1736408883573958001, 9.0),
        ]
    )
    assert [(process.pid, process.name, process.label, process.rank) for process in gather.processes] == [
        ("memory NPU:0", "Memory", "NPU 0", 3),
        ("memory NPU:1", "Memory", "NPU 1", 3),
    ]
    assert [column.dtype for column in gather.samples[0]] == [np.int32, np.int64, np.float64]
    assert (gather.events, gather.metadata) == (0, 0)


def test_that_rows_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    bad = ("PTA,inf,1,1,1,1,NPU:0", "PTA,0,1,1,1,1,NPU:0", "PTA,1", "PTA,1.0,nan,,,1,NPU:0", "PTA,,1,1,1,1,NPU:0")
    gather = gathered(tmp_path, HEAD + "".join(f"{row}\n" for row in bad) + "PTA,1.0,1,1,1,1,NP")
    assert samples(gather) == []
    assert gather.set_aside == {"timeline.aside.table_row": 6}
    assert gather.events == 6


def test_that_a_file_of_other_columns_gives_nothing(tmp_path: Path) -> None:
    for text in ("", "a,b\n1,2\n", "Timestamp(us)\n1.0\n", b"\xff\xfe\x00"):
        gather = gathered(tmp_path, text)
        assert samples(gather) == []
        assert gather.series == []


def test_that_a_file_of_a_million_components_does_not_fill_the_view(tmp_path: Path) -> None:
    gather = gathered(tmp_path, HEAD + "".join(f"c{number},1.000,1,,,1,d{number}\n" for number in range(5000)))
    assert len(gather.series) == len(gather.processes) == 2000
    assert gather.set_aside["timeline.aside.table_row"] == 3000


def test_that_a_missing_file_is_told(tmp_path: Path) -> None:
    gather = Gathering()
    path = tmp_path / "memory_record.csv"
    read_counter_file(path, gather.source(path, "table"), gather)
    assert gather.sources[0].truncated


@pytest.mark.parametrize("name", TEXT_FOLDERS[::2])
def test_that_the_memory_of_a_rank_is_read_whole(name: str) -> None:
    folder = profile(name)
    assert [path.name for path in counter_files(folder)] == ["memory_record.csv", "npu_module_mem.csv"]
    assert counter_files(folder.parent) == counter_files(folder)
    gather = Gathering()
    add_counters(folder, gather, 0)
    assert not gather.set_aside
    lines = (folder / "npu_module_mem.csv").read_text().count("\n") - 1
    modules = {number for number, counter in enumerate(gather.series) if counter.source == 1}
    assert sum(int(np.isin(chunk[0], list(modules)).sum()) for chunk in gather.samples) == lines
    first = (folder / "memory_record.csv").read_text().splitlines()[1].split(",")
    assert (f"{first[0]} Reserved", int(first[1].strip().replace(".", "")), 2109.6015625) in samples(gather)


@pytest.mark.parametrize("kind", SETS)
def test_that_the_memory_of_mindspore_on_a_cpu_is_found_beside_its_output(kind: str) -> None:
    folder = profile(f"{kind}/mindspore_cpu/run_ascend_ms")
    gather = Gathering()
    add_counters(folder / "ASCEND_PROFILER_OUTPUT", gather)
    assert {(counter.name, counter.unit) for counter in gather.series} == {
        (n, "Byte") for n in ("Allocated", "Reserved", "Active")
    }
    assert samples(gather)[0] == ("Allocated", 1795198560127575382, 38912.0)
    assert not gather.set_aside


@settings(max_examples=80, deadline=None)
@given(body=st.lists(st.text('PT,"\t\r0123.', max_size=40), max_size=8), head=st.sampled_from([HEAD, HEAD[:40], ""]))
def test_that_no_body_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, body: list[str], head: str) -> None:
    gather = gathered(tmp_path_factory.mktemp("t"), head + "\n".join(body))
    assert all(0 < time < 2**62 for _, time, _ in samples(gather))
    assert sum(gather.set_aside.values()) == gather.events


def test_that_rows_far_from_the_trace_are_set_aside_and_no_counter_is_subtracted(tmp_path: Path) -> None:
    output = rank_folder(tmp_path / "rank0_ascend_pt") / "ASCEND_PROFILER_OUTPUT"
    path = output / "memory_record.csv"
    head, first, *_ = path.read_text("utf-8").splitlines()
    cells = first.split(",")
    path.write_text("\n".join([head, ",".join([cells[0], "1895198560127575.382", *cells[2:]]), ""]), "utf-8")
    meta = opened(output / "trace_view.json", tmp_path / "cache").meta
    assert meta.set_aside["timeline.aside.far"] == 1
    assert meta.events == meta.slices + meta.instants + meta.flow_ends + meta.counters + meta.metadata + 1
    assert meta.counters >= 0
