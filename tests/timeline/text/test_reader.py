from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from backends.timeline.profile_reader import DAMAGED
from backends.timeline.text.reader import NO_DURATION
from tests.timeline.text.readings import (
    TS,
    read,
    read_data,
    x,
)

if TYPE_CHECKING:
    from pathlib import Path

SLICE = ("1/2", "a", TS, TS + 1500)


def named(count: int) -> list[dict[str, Any]]:
    return [x(f"n{number}") for number in range(count)]


def names_of(gathered: Any) -> list[str]:
    return [name for _, name, _, _ in gathered.slices]


LAYOUTS = {
    "one line": json.dumps(named(50)),
    "compact": json.dumps(named(50), separators=(",", ":")),
    "a line each": "[\n" + ",\n".join(map(json.dumps, named(50))) + "\n]\n",
    "windows": "[\r\n" + "\r\n,\r\n".join(map(json.dumps, named(50))) + "]\r\n",
    "pretty": json.dumps(named(50), indent=2),
    "kineto": json.dumps({"schemaVersion": 1, "traceEvents": named(50), "traceName": "x.json"}, indent=2),
    "byte order mark": "\ufeff" + json.dumps(named(50)),
    "trailing comma": json.dumps(named(50))[:-1] + ",]",
    "two arrays": json.dumps(named(50)[:20]) + "\n" + json.dumps(named(50)[20:]),
    "other keys first": json.dumps([dict(reversed(list(each.items()))) for each in named(50)]),
    "strange keys first": json.dumps(
        [{"zz": [{"ph": "X", "name": "no"}, {"name": "no"}]} | each for each in named(50)]
    ),
}


@pytest.mark.parametrize("piece", [64, 700, 1 << 18])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_that_every_layout_gives_the_same_events(tmp_path: Path, layout: str, piece: int) -> None:
    gathered = read_data(tmp_path, LAYOUTS[layout], piece)
    assert names_of(gathered) == [f"n{number}" for number in range(50)]
    assert (gathered.aside, gathered.truncated, gathered.gather.events) == ({}, False, 50)


@pytest.mark.parametrize("piece", [64, 1 << 18])
def test_that_a_slice_is_exact_whether_numbers_are_text_or_not(tmp_path: Path, piece: int) -> None:
    data = (
        b'[{"ph":"X","name":"a","pid":1,"tid":2,"ts":1736412474714258.990,"dur":"1.5"},'
        + json.dumps([x()])[1:].encode()
    )
    assert read_data(tmp_path, data, piece).slices == [SLICE, SLICE]


@pytest.mark.parametrize("piece", [64, 700, 1 << 18])
def test_that_each_of_many_long_durations_is_exact(tmp_path: Path, piece: int) -> None:
    events = [json.dumps(x(ts=0.5, dur="?")).replace('"?"', f"80000000000000.{n:03}") for n in range(0, 999, 7)]
    slices = read_data(tmp_path, f"[{', '.join(events)}]", piece).slices
    assert [end - start for _, _, start, end in slices] == [80_000_000_000_000_000 + n for n in range(0, 999, 7)]


def test_that_slices_without_a_duration_are_set_aside_and_make_the_profile_incomplete(tmp_path: Path) -> None:
    """The Trace Event Format demands one; as calls of no time they made every sum too small."""
    event = x()
    del event["dur"]
    gathered = read_data(tmp_path, [x(), event, x(dur=None), x(dur=-1), x(dur=0)])
    assert gathered.slices == [SLICE, ("1/2", "a", TS, TS)]
    assert gathered.aside == {"no_duration": 2, "bad_duration": 1}
    assert NO_DURATION in DAMAGED


def test_that_what_has_no_time_or_a_wrong_duration_is_set_aside_by_reason(tmp_path: Path) -> None:
    wrong = [x(ts=ts) for ts in ("inf", "", None, "-5", [], "1e30", True)] + [
        x(dur=dur) for dur in (-1, "inf", "x", [])
    ]
    gathered = read_data(tmp_path, [x(), *wrong])
    assert gathered.slices == [SLICE]
    assert gathered.aside == {"bad_time": 7, "bad_duration": 4}


def test_that_literals_that_are_no_json_cost_only_their_event(tmp_path: Path) -> None:
    event = json.dumps(x())
    data = f"[{event}, {event.replace('1.5', 'NaN')}, {event.replace('1.5', 'Infinity')}, {event}]"
    gathered = read_data(tmp_path, data)
    assert (gathered.slices, gathered.aside) == ([SLICE, SLICE], {"bad_duration": 2})


def test_that_an_event_at_zero_is_set_aside_where_the_others_count_from_1970(tmp_path: Path) -> None:
    counter = {"ph": "C", "name": "c", "pid": 1, "ts": 0, "args": {"a": 1, "b": 2}}
    begin = {"ph": "B", "name": "b", "pid": 1, "tid": 2, "ts": 0}
    for piece in (64, 1 << 18):
        gathered = read_data(tmp_path, [x(ts=0), counter, begin, x(), x(ts="0.000")], piece)
        assert (gathered.slices, gathered.samples, gathered.gather.counter_events) == ([SLICE], [], 0)
        assert gathered.aside == {"zero_time": 4}


def test_that_an_event_at_zero_stays_where_times_are_relative(tmp_path: Path) -> None:
    assert [start for _, _, start, _ in read_data(tmp_path, [x(ts=0), x(ts=7)]).slices] == [0, 7000]


@pytest.mark.parametrize("order", [1, -1])
def test_that_slices_at_zero_are_named_where_all_others_are_days_away(tmp_path: Path, order: int) -> None:
    """Behind the time base of torch.profiler a lost time of 0 looks like the day that it counts from."""
    lost = [x(ts=0), x(ts=0), {"ph": "C", "name": "c", "pid": 1, "ts": 0, "args": {"a": 1}}]
    content = [("baseTimeNanoseconds", 1790857026000000000), ("traceEvents", [*lost, x(ts=4341505727483.927), x(ts=0)])]
    gathered = read_data(tmp_path, dict(content[::order]))
    time = 1790857026000000000 + 4341505727483927
    assert gathered.slices == [("1/2", "a", time, time + 1500)]
    assert (gathered.samples, gathered.aside) == ([], {"zero_time": 4})
    assert [(gap.key, gap.values) for gap in gathered.gather.sources[0].gaps] == [("timeline.gap.zero_times", {"n": 3})]


def test_that_a_recording_that_begins_at_its_time_base_is_whole(tmp_path: Path) -> None:
    gathered = read_data(tmp_path, {"baseTimeNanoseconds": 1790857026000000000, "traceEvents": [x(ts=0), x(ts=7)]})
    assert (len(gathered.slices), gathered.aside) == (2, {})


@pytest.mark.parametrize("base_first", [True, False])
def test_that_times_are_added_to_their_base_wherever_it_stands(tmp_path: Path, base_first: bool) -> None:
    base = {"baseTimeNanoseconds": 1790857026000000000}
    events = {"traceEvents": [x("ProfilerStep#3", ts=4341505727483.927)]}
    gathered = read_data(tmp_path, base | events if base_first else events | base)
    time = 1790857026000000000 + 4341505727483927
    assert gathered.slices == [("1/2", "ProfilerStep#3", time, time + 1500)]
    assert gathered.gather.steps == [(3, time, time + 1500, 0)]


def test_that_one_broken_event_costs_only_itself(tmp_path: Path) -> None:
    good = [json.dumps(each) for each in named(6)]
    broken = [
        '{"ph": "X", "name": "a"b", "ts": 1}',
        '{"ph": "X", "ts": 1, "args": {"l": [{"ph": "X"}, {"x" 1}]}}',
        "{]}",
        "7",
        "null",
    ]
    for bad in broken:
        for piece in (64, 1 << 18):
            gathered = read_data(tmp_path, "[" + ", ".join([*good[:3], bad, *good[3:]]) + "]", piece)
            assert names_of(gathered) == [f"n{number}" for number in range(6)], (bad, piece)
            assert sum(gathered.aside.values()) == 1
            assert gathered.gather.events == 7


def test_that_an_event_that_never_closes_costs_only_itself(tmp_path: Path) -> None:
    good = ", ".join(map(json.dumps, named(5)))
    gathered = read_data(tmp_path, '[{"ph": "X", "args": {"list": [' + good + "]")
    assert names_of(gathered)[-4:] == ["n1", "n2", "n3", "n4"]


def test_that_strange_arguments_and_strings_do_not_cut_an_event(tmp_path: Path) -> None:
    strange = {"list": [{"ph": "X", "name": "no"}, {"name": "no"}], "text": '"}, {"ph": "X", "name": "no"}]', "s": "\\"}
    for piece in (50, 300, 1 << 18):
        gathered = read_data(tmp_path, [x(f"n{number}", args=strange) for number in range(9)], piece)
        assert names_of(gathered) == [f"n{number}" for number in range(9)]
        assert gathered.aside == {}


def test_that_a_truncated_file_gives_all_that_is_whole(tmp_path: Path) -> None:
    data = json.dumps(named(20), indent=1).encode()
    whole = [end + 1 for end in range(len(data)) if data[end : end + 2] in (b"},", b"}\n")]
    for cut in range(0, len(data) - 1, 11):
        gathered = read_data(tmp_path, data[:cut], 256)
        assert len(gathered.slices) == sum(end <= cut for end in whole)
        assert gathered.truncated == (cut > 0)


def test_that_a_pid_or_tid_may_be_text_or_missing(tmp_path: Path) -> None:
    events = [x(pid="Spans", tid="Trace"), x(pid="", tid=""), {"ph": "i", "name": "i", "ts": 1}, x(pid=0, tid=0)]
    gathered = read_data(tmp_path, events)
    assert [lane for lane, *_ in gathered.slices] == ["Spans/Trace", "/", "0/0"]
    assert gathered.instants == [("/", "i", 1000)]


def test_that_names_of_any_script_and_halves_of_characters_are_taken(tmp_path: Path) -> None:
    gathered = read_data(tmp_path, [x("算子"), x("🙂"), x("a\nb"), x("\ud800!"), x("x" * 5_000_000)])
    assert names_of(gathered)[:4] == ["算子", "🙂", "a\nb", "\ufffd!"]
    assert len(names_of(gathered)[4]) == 5_000_000


def test_that_bytes_that_are_no_utf_8_cost_nothing(tmp_path: Path) -> None:
    data = json.dumps([x(), x("QQ"), x()]).encode().replace(b"QQ", b"\xff\xc3")
    assert names_of(read_data(tmp_path, data)) == ["a", "\ufffd\ufffd", "a"]


def test_that_the_last_of_duplicate_keys_counts(tmp_path: Path) -> None:
    event = json.dumps(x())
    assert names_of(read_data(tmp_path, f'[{event[:-1]}, "name": "b"}}]')) == ["b"]


def test_that_begins_and_ends_of_a_thread_make_nested_slices(tmp_path: Path) -> None:
    marks = [("B", "out", 1), ("B", "in", 2), ("E", "", 5), ("E", "out", 9), ("E", "", 10), ("B", "open", 11)]
    events = [{"ph": ph, "name": name, "pid": 1, "tid": 2, "ts": ts} for ph, name, ts in marks]
    gathered = read_data(tmp_path, [events[3], *events[:3], *events[4:]])
    assert sorted(gathered.slices) == [("1/2", "in", 2000, 5000), ("1/2", "out", 1000, 9000)]
    assert gathered.aside == {"unopened": 1, "unclosed": 1}


def test_that_of_begins_and_ends_at_the_same_times_the_first_begin_comes_first(tmp_path: Path) -> None:
    marks = [("B", name) for name in "abc"] + [("E", name) for name in "cba"]
    events = [{"ph": ph, "name": name, "pid": 1, "tid": 2, "ts": 9 * (ph == "E")} for ph, name in marks]
    gathered = read_data(tmp_path, events)
    names = list(gathered.gather.names)
    assert [names[number] for _, _, _, name, _ in gathered.gather.slices for number in name.tolist()] == ["a", "b", "c"]


def test_that_asynchronous_events_are_matched_by_category_and_id(tmp_path: Path) -> None:
    def mark(ph: str, ts: int, **other: Any) -> dict[str, Any]:
        return {"ph": ph, "cat": "io", "name": "load", "pid": 1, "tid": 2, "ts": ts} | other

    events = [mark("b", 1, id=1), mark("b", 2, id="0x2"), mark("e", 3, id=1), mark("e", 4, id="0x2"), mark("b", 5)]
    events += [
        mark("b", 6, id2={"local": "7"}),
        mark("e", 8, id2={"local": "7"}),
        mark("S", 9, id=3),
        mark("F", 10, id=3),
    ]
    gathered = read_data(tmp_path, events)
    assert [(start, end) for _, _, start, end in gathered.slices] == [
        (1000, 3000),
        (2000, 4000),
        (6000, 8000),
        (9000, 10000),
    ]
    assert gathered.aside == {"no_id": 1}
    assert {lane.name for lane in gathered.gather.lanes} == {"io"}


def test_that_flows_are_told_apart_by_category_and_id(tmp_path: Path) -> None:
    def end(ph: str, number: Any, **other: Any) -> dict[str, Any]:
        return {"ph": ph, "id": number, "pid": 1, "tid": 2, "ts": 5, "name": "HostToDevice936"} | other

    big = 1736412474714258990
    events = [end("s", big, cat="a"), end("f", big + 1, cat="a"), end("f", str(big), cat="a"), end("t", big, cat="b")]
    gathered = read_data(tmp_path, [*events, end("s", 1), end("s", None), end("s", "9" * 40, cat="a")])
    ends = gathered.ends
    assert [(kind, phase) for *_, kind, phase in ends] == [
        ("a", 0),
        ("a", 2),
        ("a", 2),
        ("b", 1),
        ("HostToDevice", 0),
        ("a", 0),
    ]
    keys = [key for _, _, key, _, _ in ends]
    assert keys[0] == keys[2]
    assert len(set(keys)) == 5
    assert gathered.aside == {"no_id": 1}
    assert gathered.gather.next_key > max(keys)


def test_that_flows_of_two_files_are_never_joined(tmp_path: Path) -> None:
    from backends.timeline.gathering import Gathering
    from backends.timeline.text.reader import read_text
    from tests.timeline.text.readings import rows_of

    gather = Gathering()
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"ph": "s", "cat": "a", "id": 1, "ts": 1}]))
    for _ in range(2):
        read_text(path, gather.source(path, "text"), gather, lambda _done, _of: None)
    assert len({row[2] for row in rows_of(gather.ends)}) == 2


def test_that_counters_become_series_with_their_unit(tmp_path: Path) -> None:
    def counter(name: str, args: Any) -> dict[str, Any]:
        return {"ph": "C", "name": name, "pid": 1, "ts": 5, "args": args}

    names = [
        ("AI Core Freq", {"MHz": 1800}),
        ("HBM 0/Read", {"Read(MB/s)": "2.5"}),
        ("LLC", {"Hit Rate(%)": 0.5, "x": None}),
    ]
    names += [
        ("read_ost", {"value": 3, "acc_id": 1}),
        ("m", {}),
        ("m", {"a": "no"}),
        ("m", {"a": float("nan")}),
        ("m", 5),
    ]
    gathered = read_data(tmp_path, [counter(*each) for each in names])
    assert [sample[:3] + sample[4:] for sample in gathered.samples] == [
        ("1", "AI Core Freq", "MHz", 1800.0),
        ("1", "HBM 0/Read", "MB/s", 2.5),
        ("1", "LLC Hit Rate", "%", 0.5),
        ("1", "read_ost 1", "", 3.0),
    ]
    assert (gathered.aside, gathered.gather.counter_events) == ({"bad_value": 4}, 4)


def test_that_figures_of_alike_names_stay_apart(tmp_path: Path) -> None:
    args = ({"Read(MB/s)": 1}, {"Read(KB/s)": 2})
    gathered = read_data(tmp_path, [{"ph": "C", "name": "HBM/Read", "pid": 1, "ts": 5, "args": each} for each in args])
    assert len({sample[:2] for sample in gathered.samples}) == 2


def test_that_names_come_from_metadata_before_or_behind(tmp_path: Path) -> None:
    def metadata(name: str, args: Any, tid: int = 2) -> dict[str, Any]:
        return {"ph": "M", "name": name, "pid": 1, "tid": tid, "args": args}

    before = [metadata("process_name", {"name": "Python"}), metadata("thread_name", {"name": "main"})]
    behind = [metadata("process_labels", {"labels": "CPU"}), metadata("process_sort_index", {"sort_index": 3})]
    behind += [
        metadata("thread_sort_index", {"sort_index": "x"}),
        metadata("thread_name", {"name": "nobody"}, 99),
        metadata("odd", []),
    ]
    gathered = read_data(tmp_path, [*before, x(), x(cat="python_function"), *behind])
    process, lanes = gathered.gather.processes[0], gathered.gather.lanes
    assert (process.name, process.label, process.sort) == ("Python", "CPU", 3.0)
    assert [(lane.tid, lane.name, lane.kind, lane.table) for lane in lanes] == [
        ("2", "main", None, ""),
        ("2\x00python", "main", "host", "python"),
    ]
    assert gathered.gather.metadata == 7


def test_that_a_step_is_taken_once_and_not_from_the_gpu(tmp_path: Path) -> None:
    copy = x("ProfilerStep#2", cat="gpu_user_annotation")
    steps = [
        copy,
        x("ProfilerStep#2", ts=5, dur=1),
        x("ProfilerStep#2", ts=6),
        x("ProfilerStep#x"),
        x("ProfilerStep#3", ts=7),
    ]
    assert read_data(tmp_path, steps).gather.steps == [(2, 5000, 6000, 0), (3, 7000, 8500, 0)]


def test_that_memory_of_kineto_is_also_a_curve(tmp_path: Path) -> None:
    args = {"Total Reserved": 0, "Total Allocated": 393216, "Device Id": 0, "Device Type": 1}
    gathered = read_data(tmp_path, [{"ph": "i", "name": "[memory]", "pid": 1, "tid": 2, "ts": 5, "args": args}])
    assert gathered.instants == [("1/2", "[memory]", 5000)]
    assert gathered.samples == [
        ("1", "Total Allocated (cuda:0)", "B", 5000, 393216.0),
        ("1", "Total Reserved (cuda:0)", "B", 5000, 0.0),
    ]
    assert gathered.gather.counter_events == 0


def test_that_every_event_is_accounted_for(tmp_path: Path) -> None:
    malformed = [{"ph": "?"}, {}, 5, None, [], {"ph": 3}, {"ph": "N", "ts": 1}]
    gathered = read_data(tmp_path, [x(), *malformed])
    assert gathered.gather.events == 8
    assert gathered.aside == {"unknown_phase": 4, "not_an_event": 3}


def test_that_gzip_of_several_members_is_read_as_one_file(tmp_path: Path) -> None:
    data = json.dumps(named(3000)).encode()
    path = tmp_path / "t.json.gz"
    path.write_bytes(gzip.compress(data[:50000]) + gzip.compress(data[50000:]))
    gathered = read(path, 4096)
    assert names_of(gathered) == [f"n{number}" for number in range(3000)]
    assert not gathered.truncated


def test_that_a_truncated_gzip_gives_what_comes_before(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps(named(3000)).encode())
    path = tmp_path / "t.json.gz"
    for data in (packed[: len(packed) // 2], packed[:-9], packed[:2], packed[:9]):
        path.write_bytes(data)
        gathered = read(path, 4096)
        assert names_of(gathered) == [f"n{number}" for number in range(len(gathered.slices))]
        assert gathered.truncated


def test_that_a_broken_gzip_is_survived(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps(named(3000)).encode())
    path = tmp_path / "t.json.gz"
    path.write_bytes(packed[: len(packed) // 2] + b"\xff" * 999)
    gathered = read(path, 4096)
    assert names_of(gathered)[:500] == [f"n{number}" for number in range(500)]
    assert gathered.truncated


def test_that_a_gzip_bomb_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    event = json.dumps(x()).encode() + b", "
    path.write_bytes(gzip.compress(b"[" + event * (2 << 20), 9))
    gathered = read(path)
    assert 0 < len(gathered.slices) < 2 << 20
    assert 64 << 20 < gathered.gather.sources[0].limit < 2 * len(event) << 20
    assert not gathered.truncated


def test_that_zeros_behind_the_end_of_a_gzip_cut_off_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.json.gz"
    packed = gzip.compress(json.dumps(named(3000)).encode())
    for padding in (b"\0" * 9, b"\0" * 200_000):
        path.write_bytes(packed + padding)
        gathered = read(path, 4096)
        assert len(gathered.slices) == 3000
        assert not gathered.truncated
    path.write_bytes(packed[:-8] + b"\0" * 99)
    assert read(path, 4096).truncated


@pytest.mark.parametrize(
    "data", [b"", b"[", b"[]", b"{}", b'{"traceEvents": []}', b"\x00\xff", b"12", b'"[{}]"', b"\x1f\x8b"]
)
def test_that_what_holds_no_event_gives_none(tmp_path: Path, data: bytes) -> None:
    assert read_data(tmp_path, data).gather.events == 0


OTHER = {"traceEvents": [x("invented"), {"traceEvents": [x("invented")]}]}


@pytest.mark.parametrize("piece", [64, 1 << 18])
@pytest.mark.parametrize(
    "data",
    [
        {"meta": OTHER, "traceEvents": [x()]},
        {"traceEvents": [x()], "otherData": OTHER},
        {"list": [OTHER, OTHER], "said": '}}"\\' * 9, "pad": "\\" * 9000, "traceEvents": [x()], "more": [[OTHER]]},
    ],
)
def test_that_events_of_an_object_within_the_trace_are_not_its_own(tmp_path: Path, data: Any, piece: int) -> None:
    assert read_data(tmp_path, data, piece).slices == [SLICE]


def test_that_several_arrays_of_one_object_are_all_read(tmp_path: Path) -> None:
    array = json.dumps([x()])
    data = f'{{"a": {{"b": "}}"}}, "traceEvents": {array}, "c": [{{}}], "traceEvents": {array}}}'
    assert read_data(tmp_path, data).slices == [SLICE, SLICE]


def test_that_a_text_that_is_not_closed_before_the_events_costs_none(tmp_path: Path) -> None:
    assert read_data(tmp_path, f'{{"a": "open, "traceEvents": {json.dumps([x()])}}}').slices == [SLICE]


def test_that_a_bracket_that_closes_the_trace_too_early_is_told(tmp_path: Path) -> None:
    early = json.dumps([x()]) + ", " + json.dumps(x()) + "]"
    gathered = read_data(tmp_path, early)
    assert gathered.slices == [SLICE]
    assert gathered.gather.sources[0].truncated
    assert not read_data(tmp_path, json.dumps([x()]) + " ,\n\0").gather.sources[0].truncated


def test_that_what_tell_raises_ends_the_reading(tmp_path: Path) -> None:
    from backends.timeline.gathering import Gathering
    from backends.timeline.text.reader import read_text

    path = tmp_path / "a.json"
    path.write_text(json.dumps(named(500)))
    gather, reports = Gathering(), []

    def report(done: int, size: int) -> None:
        reports.append((done, size))
        raise InterruptedError

    with pytest.raises(InterruptedError):
        read_text(path, gather.source(path, "text"), gather, report, 512)
    assert reports[0][0] < reports[0][1]


def test_that_deeply_nested_text_is_survived(tmp_path: Path) -> None:
    for deep in ('{"l":[{},' * 200_000, '{"ph":[{},' * 200_000):
        assert read_data(tmp_path, "[" + json.dumps(x()) + ", " + deep).slices == [SLICE]
    gathered = read_data(tmp_path, "[" + "[" * 500_000 + "]" * 500_000 + ", " + json.dumps(x()) + "]")
    assert gathered.slices == [SLICE]


@pytest.mark.parametrize("piece", [64, 1 << 18])
@pytest.mark.parametrize("field", ["name", "args"])
def test_that_bytes_that_are_no_text_are_counted_and_named(tmp_path: Path, field: str, piece: int) -> None:
    """The typed decoder does not look into arguments."""
    damaged = x("##") if field == "name" else x(args={"shape": "##"})
    data = json.dumps([x("矩阵"), damaged, x()], ensure_ascii=False).encode().replace(b"##", b"\xff\xfe\x80")
    gathered = read_data(tmp_path, data, piece)
    assert len(gathered.slices) == 3
    assert [(gap.key, gap.values) for gap in gathered.gather.sources[0].gaps] == [
        ("timeline.gap.foreign_bytes", {"n": 3})
    ]


def test_that_names_in_chinese_are_no_damage(tmp_path: Path) -> None:
    data = json.dumps([x("矩阵乘"), x(args={"名": "值"})], ensure_ascii=False).encode()
    assert read_data(tmp_path, data).gather.sources[0].gaps == ()
