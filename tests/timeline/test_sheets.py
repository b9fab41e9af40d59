"""Tables beside a trace, and those of an analysis alone: all of a file is there, and nothing of it stops a reader."""

from __future__ import annotations

import csv
import json
import math
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.timeline.profile_reader import open_cached, read_profile
from backends.timeline.tables import sheet_builder
from backends.timeline.tables.sheet_reader import read_sheet
from backends.timeline.tables.sheet_slices import row_name, slice_of_row
from backends.timeline.tables.sheets import Sheet, holds_tables_only, sheets
from studio.errors import StudioError
from tests.timeline.cluster_tables import (
    LINK,
    TIMES,
    write_cluster,
    write_cluster_texts,
)
from tests.timeline.command_runs import run_timeline
from tests.timeline.profile_data import DB_FOLDERS, PROFILES, RANK, SETS, TEXT_FOLDERS, profile, synthetic_root
from tests.timeline.profile_folders import rank_folder, ranks

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.profile_reader import Opened
    from backends.timeline.tables.sheet_rows import SheetRows

TIME, BANDWIDTH = "Communication Time Info", "Communication Bandwidth Info"


def opened(path: Path) -> Opened:
    return read_profile(path, lambda _done, _total: None)


def csv_sheet(path: Path, data: bytes) -> Sheet:
    path.write_bytes(data)
    return Sheet(path=path, table="", rank=None)


def column(rows: SheetRows, name: str) -> list[str]:
    return next(column.cells() for column in rows.columns if column.name == name)


def everything(rows: SheetRows) -> list[tuple[str, ...]]:
    return [tuple(column.cell(row) for column in rows.columns) for row in range(rows.count)]


# Real files


def _csv_files() -> list[Path]:
    roots = [synthetic_root(), *([PROFILES] if "real" in SETS else [])]
    return [path for root in roots for path in sorted(root.rglob("*.csv"))]


def _csv_label(path: Path) -> str:
    return f"{'real' if path.is_relative_to(PROFILES) else 'synthetic'} {path.parts[-3][:5]} {path.name}"


@pytest.mark.parametrize("path", _csv_files(), ids=_csv_label)
def test_that_a_real_csv_is_read_as_the_csv_module_reads_it(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    found = read_sheet(Sheet(path=path, table="", rank=None))
    assert [column.name for column in found.columns] == [name.strip() for name in head]
    assert everything(found) == [tuple(cell.strip().strip('"') for cell in row) for row in rows]
    assert (found.total, found.damaged, found.is_cut) == (len(rows), 0, False)


@pytest.mark.parametrize("folder", TEXT_FOLDERS)
def test_that_every_operation_and_link_of_a_real_communication_json_is_a_row(folder: str) -> None:
    path = profile(folder) / "communication.json"
    content = json.loads(path.read_text("utf-8"))
    parts = [op for step in content.values() for kind in step.values() for op in kind.values()]
    times, links = (read_sheet(Sheet(path=path, table=table, rank=0)) for table in (TIME, BANDWIDTH))
    assert times.count == len(parts)
    assert links.count == sum(len(part[BANDWIDTH]) for part in parts)
    elapsed = sum(part[TIME]["Elapse Time(ms)"] for part in parts)
    assert math.fsum(map(float, column(times, "Elapse Time(ms)"))) == pytest.approx(elapsed, rel=1e-12)
    sizes = sum(link["Transit Size(MB)"] for part in parts for link in part[BANDWIDTH].values())
    assert math.fsum(map(float, column(links, "Transit Size(MB)"))) == pytest.approx(sizes, rel=1e-12)
    assert set(column(links, "Link")) == {"RDMA", "HCCS", "PCIE", "SDMA", "SIO"}


@pytest.mark.parametrize("folder", TEXT_FOLDERS)
def test_that_every_pair_of_a_real_communication_matrix_is_a_row(folder: str) -> None:
    path = profile(folder) / "communication_matrix.json"
    content = json.loads(path.read_text("utf-8"))
    pairs = [pair for step in content.values() for kind in step.values() for op in kind.values() for pair in op.items()]
    rows = read_sheet(Sheet(path=path, table="", rank=0))
    assert column(rows, "Link") == [name for name, _ in pairs]
    assert list(map(float, column(rows, "Bandwidth(GB/s)"))) == [operator["Bandwidth(GB/s)"] for _, operator in pairs]


@pytest.mark.parametrize("folder", DB_FOLDERS)
def test_that_a_real_analysis_db_is_read_as_sqlite_reads_it(folder: str) -> None:
    path = profile(folder) / "analysis.db"
    listed = sheets(opened(path).trace)
    assert [one.table for one in listed] == ["CommAnalyzerBandwidth", "CommAnalyzerMatrix", "CommAnalyzerTime",
                                             "StepTraceTime"]  # fmt: skip
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as base:
        for sheet in listed:
            rows = base.execute(f'SELECT * FROM "{sheet.table}"').fetchall()
            assert everything(read_sheet(sheet)) == [
                tuple("" if cell is None else str(cell) for cell in row) for row in rows
            ]


@pytest.mark.parametrize("kind", SETS)
def test_that_a_profile_lists_its_tables_by_rank(kind: str) -> None:
    listed = sheets(opened(profile(f"{kind}/{RANK}") / "text").trace)
    for rank in (0, 1):
        names = [sheet.path.name for sheet in listed if sheet.rank == rank]
        assert names[0] == "kernel_details.csv"
        folder = profile(f"{kind}/{RANK}/text/rank{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT")
        assert set(names) == {path.name for path in folder.iterdir()} - {"trace_view.json"}
    assert {sheet.title for sheet in sheets(opened(profile(f"{kind}/{RANK}") / "db").trace)} == {
        "CommAnalyzerBandwidth · analysis.db", "CommAnalyzerMatrix · analysis.db", "CommAnalyzerTime · analysis.db",
        "StepTraceTime · analysis.db",
    }  # fmt: skip


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("rank", [0, 1])
def test_that_every_kernel_of_the_table_is_found_in_the_lanes(rank: int, kind: str) -> None:
    trace = opened(profile(f"{kind}/{RANK}") / "text").trace
    sheet = next(one for one in sheets(trace) if (one.rank, one.path.name) == (rank, "kernel_details.csv"))
    rows = read_sheet(sheet)
    names, durations = column(rows, "Name"), column(rows, "Duration(us)")
    for number in range(rows.count):
        index = slice_of_row(trace, rank, rows, number)
        assert trace.name_text(int(trace.name[index])) == names[number] == row_name(rows, number)
        lasts = int(trace.end[index]) - int(trace.start[index])
        assert lasts / 1000 == pytest.approx(float(durations[number]), abs=0.002)
        assert trace.meta.processes[trace.meta.lanes[trace.lane_of(index)].process].rank == rank


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("form", ["text", "db"])
def test_that_a_communication_of_an_analysis_is_found_in_the_lanes(form: str, kind: str) -> None:
    trace = opened(profile(f"{kind}/{RANK}") / form).trace
    title = "CommAnalyzerTime" if form == "db" else TIME
    rows = read_sheet(next(sheet for sheet in sheets(trace) if sheet.table == title and sheet.rank == 1))
    named = [number for number in range(rows.count) if row_name(rows, number).startswith("hcom_")]
    assert len(named) == 4
    for number in named:
        index = slice_of_row(trace, 1, rows, number)
        assert trace.name_text(int(trace.name[index])) == row_name(rows, number)


# Analyses alone


def test_that_an_analysis_alone_opens_with_its_tables_and_a_note(tmp_path: Path) -> None:
    write_cluster(tmp_path / "cluster_analysis.db")
    answer = run_timeline(tmp_path / "cluster_analysis.db").answer
    assert [answer[name] for name in ("slices", "flows", "counters", "lanes", "set_aside", "first_ns")] == [0] * 6
    [note] = answer["notes"]
    assert "no events over time" in note
    again = open_cached(tmp_path / "cluster_analysis.db")
    assert again is not None
    assert [one.key for one in again.notes] == ["timeline.remark.tables_only"]
    assert holds_tables_only(again.trace.meta)
    assert [one.table for one in sheets(again.trace)] == ["ClusterStepTraceTime", "HcclTopOpStats"]


@pytest.mark.parametrize("location", [".", "cluster_analysis_output", "out/cluster_analysis_output"])
def test_that_a_folder_with_nothing_but_an_analysis_opens(tmp_path: Path, location: str) -> None:
    (tmp_path / location).mkdir(parents=True, exist_ok=True)
    write_cluster(tmp_path / location / "cluster_analysis.db")
    profile_opened = opened(tmp_path)
    assert (profile_opened.trace.meta.slices, len(profile_opened.trace.meta.lanes)) == (0, 0)
    rows = read_sheet(sheets(profile_opened.trace)[0])
    assert column(rows, "index") == list("01234567")


@pytest.mark.parametrize("name", ["kernel_details.csv", "communication.json", "communication_matrix.json"])
def test_that_a_table_alone_and_a_folder_of_such_open(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes((profile(TEXT_FOLDERS[1]) / name).read_bytes())
    for path in (tmp_path / name, tmp_path):
        profile_opened = opened(path)
        assert holds_tables_only(profile_opened.trace.meta)
        assert {sheet.path for sheet in sheets(profile_opened.trace)} == {tmp_path / name}


def test_that_an_empty_table_alone_is_refused(tmp_path: Path) -> None:
    for name, data in (("kernel_details.csv", b"Name,Type\n"), ("communication.json", b"")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(StudioError, match="only empty tables"):
            opened(tmp_path / name)


@pytest.mark.parametrize("name", ["analysis.db", "cluster_analysis.db", "communication_analyzer.db"])
def test_that_an_analysis_without_rows_is_refused(tmp_path: Path, name: str) -> None:
    with closing(sqlite3.connect(tmp_path / name)) as base:
        base.execute("CREATE TABLE StepTraceTime (step TEXT)")
        base.commit()
    with pytest.raises(StudioError, match=name):
        opened(tmp_path / name)
    (tmp_path / name).write_bytes(b"no database")
    with pytest.raises(StudioError, match=name):
        opened(tmp_path / name)


def test_that_other_databases_without_events_are_refused(tmp_path: Path) -> None:
    for name in ("mindstudio_insight_data.db", "mine.db"):
        write_cluster(tmp_path / name)
        with pytest.raises(StudioError):
            opened(tmp_path / name)


def test_that_a_changed_analysis_is_looked_at_anew(tmp_path: Path) -> None:
    path = tmp_path / "cluster_analysis.db"
    write_cluster(path)
    first = opened(path)
    write_cluster(path, ranks=9)
    assert open_cached(path) is None
    assert opened(path).cache != first.cache


def test_that_the_analysis_of_a_cluster_comes_behind_its_ranks(tmp_path: Path) -> None:
    folder = ranks(tmp_path / "data", 2)
    output = folder / "cluster_analysis_output"
    (output / "ComputeOpSum").mkdir(parents=True)
    write_cluster(output / "cluster_analysis.db")
    write_cluster_texts(output)
    (output / "ComputeOpSum" / "all_stats.csv").write_text("OP Type,Count\nMatMul,3\n")
    listed = [sheet for sheet in sheets(opened(folder).trace) if sheet.rank is None]
    assert [sheet.title for sheet in listed] == [
        "ClusterStepTraceTime · cluster_analysis.db", "HcclTopOpStats · cluster_analysis.db",
        "cluster_step_trace_time.csv", f"{TIME} · cluster_communication.json",
        f"{BANDWIDTH} · cluster_communication.json", "cluster_communication_matrix.json", "communication_group.json",
        "all_stats.csv",
    ]  # fmt: skip
    assert {sheet.rank for sheet in sheets(opened(folder).trace)} == {0, 1, None}
    assert {sheet.rank for sheet in sheets(opened(min(folder.glob("*_ascend_pt"))).trace)} == {0}


def test_that_the_json_of_a_cluster_is_flat(tmp_path: Path) -> None:
    write_cluster_texts(tmp_path)

    def read(name: str, table: str) -> tuple[list[str], list[tuple[str, ...]]]:
        rows = read_sheet(Sheet(path=tmp_path / name, table=table, rank=None))
        return [column.name for column in rows.columns], everything(rows)

    keys = ("collective", "step1", "hcom_allReduce__1_0", "77")
    heads, rows = read("cluster_communication.json", TIME)
    assert heads == ["Kind", "Step", "Operation", "Group", "Rank", *TIMES]
    assert rows == [(*keys, rank, *map(str, TIMES.values())) for rank in "01"]
    heads, rows = read("cluster_communication.json", BANDWIDTH)
    assert heads == ["Kind", "Step", "Operation", "Group", "Rank", "Link", *LINK]
    assert rows[1] == (*keys, "0", "RDMA", "20.5", "0.75", "20.5: 1, 0.75")
    heads, rows = read("cluster_communication_matrix.json", "")
    assert dict(zip(heads, rows[0], strict=True))["Link"] == "0-1"
    assert read("communication_group.json", "") == (
        ["Kind", "Ranks"], [("collective", "0, 1"), ("collective", "0"), ("p2p", "0, 1")],
    )  # fmt: skip


# Order and filter


def test_that_figures_are_sorted_as_figures_and_exactly(tmp_path: Path) -> None:
    cells = [
        "10",
        "9",
        "N/A",
        "-3.5",
        "1736412474730135.223",
        "1736412474730135.222",
        "",
        "1e3",
        "18446744073709551615",
    ]
    rows = read_sheet(csv_sheet(tmp_path / "a.csv", ("figure,b\n" + "".join(f"{cell},x\n" for cell in cells)).encode()))
    assert rows.columns[0].is_number
    order = rows.arranged(by=0).tolist()
    assert [cells[row] for row in order] == ["-3.5", "9", "10", "1e3", "1736412474730135.222", "1736412474730135.223",
                                             "18446744073709551615", "N/A", ""]  # fmt: skip
    falling = [cells[row] for row in rows.arranged(by=0, falling=True).tolist()]
    assert falling[:2] == ["18446744073709551615", "1736412474730135.223"]
    assert falling[-2:] == ["N/A", ""]


def test_that_texts_that_look_like_figures_to_python_alone_stay_texts(tmp_path: Path) -> None:
    rows = read_sheet(csv_sheet(tmp_path / "a.csv", b"a,b,c,d\n1_000,inf,nan,0x10\n"))
    assert [column.is_number for column in rows.columns] == [False] * 4
    assert everything(rows) == [("1_000", "inf", "nan", "0x10")]


def test_that_a_filter_finds_letters_of_both_sizes_in_one_cell_only(tmp_path: Path) -> None:
    rows = read_sheet(csv_sheet(tmp_path / "a.csv", "a,b\nMatMul,ü\nadd,MATMUL\nmat,mul\n卷积,x\n".encode()))
    assert rows.arranged("matmul").tolist() == [0, 1]
    assert rows.arranged("卷").tolist() == [3]
    assert rows.arranged("Ü").tolist() == [0]
    assert rows.arranged("mat", by=0).tolist() == [2, 0, 1] or rows.arranged("mat", by=0).tolist() == [1, 2, 0]
    assert rows.arranged("\0").tolist() == [0, 1, 2, 3]


@given(st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), min_size=1, max_size=30), st.text(max_size=3))
@settings(max_examples=60, deadline=None)
def test_that_arranging_keeps_every_row_that_holds_the_text(cells: list[tuple[str, str]], text: str) -> None:
    making = sheet_builder.SheetBuilder(["a", "b"], 100)
    making.add(list(zip(*cells, strict=True)))
    rows = making.rows()
    for by in (-1, 0, 1):
        assert sorted(rows.arranged(by=by).tolist()) == list(range(len(cells)))
        matching = set(rows.arranged(text, by).tolist())
        needle = text.replace("\0", "").strip().casefold()
        plain = {row for row, one in enumerate(everything(rows)) if any(needle in cell.casefold() for cell in one)}
        assert matching <= set(range(len(cells)))
        if needle.isascii() and all(cell.isascii() for one in cells for cell in one):
            assert matching == plain


# Bad input


def test_that_a_long_table_is_cut_and_says_of_how_many(tmp_path: Path) -> None:
    quoted = b"name,stack\n" + b'mm,"line 1\nline 2"\n' * 5000
    rows = read_sheet(csv_sheet(tmp_path / "a.csv", quoted), max_rows=1000)
    assert (rows.count, rows.total, rows.is_cut) == (1000, 5000, True)
    rows = read_sheet(csv_sheet(tmp_path / "a.csv", b"a,b\n" + b"1,2\n" * 70_000), max_rows=1000)
    assert (rows.count, rows.total) == (1000, 70_000)
    write_cluster(tmp_path / "cluster_analysis.db", ranks=3000)
    rows = read_sheet(
        Sheet(path=tmp_path / "cluster_analysis.db", table="ClusterStepTraceTime", rank=None), max_rows=10
    )
    assert (rows.count, rows.total) == (10, 3000)


def test_that_memory_is_bounded_by_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet_builder, "MAX_LETTERS", 100_000)
    rows = read_sheet(
        csv_sheet(tmp_path / "a.csv", b"a,b\n" + b"x" * 1000 + b",2\n" * 1 + (b"y" * 1000 + b",2\n") * 2000)
    )
    assert rows.is_cut
    assert sum(len(column.text) for column in rows.columns) < 600_000
    assert rows.total == 2001


@pytest.mark.parametrize(
    ("data", "count", "damaged"),
    [
        (b"a,b\n1,2\n1,2,3\n1\n3,4\n", 2, 2),  # ragged
        (b"a,b\n1,2\n3,", 1, 1),  # cut off
        ("a,b\n卷积,2\n".encode("gbk"), 1, 0),
        ("a,b\n1,2\n".encode("utf-16"), 1, None),
        (b"a,b\n1\0,2\n", 1, 0),
        (b"a,b\n" + b"x" * 200_000 + b",1\n2,3\n", 2, 0),
        (b'a,b\n"' + b"x" * 200_000 + b'",1\n2,3\n', 1, 1),
        (b'a,b\n"' + b"x\n" * 100_000, 0, None),
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n", 1, 0),
    ],
)
def test_that_a_damaged_csv_gives_the_rows_that_are_whole(
    tmp_path: Path, data: bytes, count: int, damaged: int | None
) -> None:
    rows = read_sheet(csv_sheet(tmp_path / "a.csv", data))
    assert rows.count == count
    if damaged is not None:
        assert rows.damaged == damaged


@given(st.binary(max_size=300) | st.text(alphabet='ab1.,"\n\r\t\0-é卷', max_size=200).map(str.encode))
@settings(max_examples=150, deadline=None)
def test_that_any_csv_gives_rows_or_a_sentence(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    _any(csv_sheet(tmp_path_factory.getbasetemp() / "any.csv", data))


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["step1", "p2p", "a@b", "0-1", "3", TIME, BANDWIDTH, "Ranks", "x"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)


@given(VALUES, st.sampled_from(["", TIME, BANDWIDTH]), st.floats(0.0, 1.0))
@settings(max_examples=150, deadline=None)
def test_that_any_json_gives_rows_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, value: Any, table: str, share: float
) -> None:
    path = tmp_path_factory.getbasetemp() / "communication.json"
    text = json.dumps(value)
    path.write_text(text[: round(len(text) * share)] if share < 0.5 else text, "utf-8")
    _any(Sheet(path=path, table=table, rank=None))


@pytest.mark.parametrize("data", [b"", b"{", b"[" * 100_000, b'{"a": ' * 100_000, b"\xff\xfe{}", b'{"a": 1e999999}'])
def test_that_json_that_is_none_is_told(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "communication_matrix.json"
    path.write_bytes(data)
    _any(Sheet(path=path, table="", rank=None))


def _any(sheet: Sheet) -> None:
    try:
        rows = read_sheet(sheet)
    except StudioError as error:
        str(error).encode()
        return
    for number in range(len(rows.columns)):
        rows.arranged("a", number, falling=True)
    for row in everything(rows):
        "".join(row).encode()
    assert rows.total >= rows.count


def test_that_what_is_gone_is_told(tmp_path: Path) -> None:
    folder = rank_folder(tmp_path / "rank0_ascend_pt")
    listed = sheets(opened(folder).trace)
    assert listed
    for sheet in listed:
        sheet.path.unlink(missing_ok=True)
    for sheet in listed:
        with pytest.raises(StudioError, match=sheet.path.name):
            read_sheet(sheet)
    assert sheets(opened(folder).trace) == ()
    write_cluster(tmp_path / "analysis.db")
    with pytest.raises(StudioError, match="no longer contains the table"):
        read_sheet(Sheet(path=tmp_path / "analysis.db", table="Gone", rank=None))


def test_that_a_damaged_database_gives_what_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "cluster_analysis.db"
    write_cluster(path, ranks=3000)
    data = path.read_bytes()
    for length in range(100, len(data), len(data) // 40):
        path.write_bytes(data[:length])
        _any(Sheet(path=path, table="ClusterStepTraceTime", rank=None))
    path.write_bytes(data[:5000] + bytes(4096) + data[9096:])
    _any(Sheet(path=path, table="ClusterStepTraceTime", rank=None))


def test_that_blobs_and_strange_names_of_a_database_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "analysis.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute('CREATE TABLE "a ""b"" 表\n" ("x ""y""" BLOB, "" INTEGER)')
        base.execute('INSERT INTO "a ""b"" 表\n" VALUES (?, ?)', (b"\1\2", 2**63 - 1))
        base.commit()
    [sheet] = sheets(opened(path).trace)
    assert everything(read_sheet(sheet)) == [("0102", "9223372036854775807")]
