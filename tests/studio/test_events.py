"""The protocol: what is written is read; what is damaged is skipped and counted, never invented."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio import events
from studio.events import Artifact, Ended, Finding, Journal, Metric, Note, Progress, decode
from tests.full_disk import limited_files

if TYPE_CHECKING:
    from pathlib import Path

ALL = [
    Metric(time=1, step=12, values={"loss": 0.4121, "lr": 0.001, "scale": "Infinity"}),
    Progress(time=2, done=12, total=600, phase="train"),
    Finding(time=3, rule="scan.device_str", severity="warning", path="train.py", line=17, args={"text": "cuda"}),
    Artifact(time=4, kind="checkpoint", path="artifacts/step-600"),
    Note(time=5, key="launch.compiling"),
    Ended(time=6, code=0),
]


def lines_of(*given_events: events.Event) -> bytes:
    return b"".join(msgspec.json.encode(event) + b"\n" for event in given_events)


def test_that_every_kind_comes_back_as_it_was() -> None:
    assert decode(lines_of(*ALL)) == (ALL, 0)


def test_that_the_line_is_the_one_of_the_design() -> None:
    line = b'{"type":"metric","time":1763660000123456789,"step":12,"values":{"loss":0.4121,"lr":0.001}}\n'
    event = Metric(time=1763660000123456789, step=12, values={"loss": 0.4121, "lr": 0.001})
    assert decode(line) == ([event], 0)
    assert msgspec.json.decode(lines_of(event)) == msgspec.json.decode(line)


@given(st.integers(0, 500), st.binary(max_size=4))
def test_that_damage_anywhere_loses_no_other_line(place: int, bytes_in: bytes) -> None:
    whole = lines_of(*ALL)
    place = min(place, len(whole))
    damaged = whole[:place] + bytes_in + whole[place + len(bytes_in) :]
    found, _ = decode(damaged)
    touched = damaged.count(b"\n") - whole.count(b"\n")
    assert len([event for event in found if event in ALL]) >= len(ALL) - 2 - abs(touched)


@given(st.integers(0, 500))
def test_that_a_file_cut_short_gives_its_whole_lines(place: int) -> None:
    whole = lines_of(*ALL)[:place]
    found, damaged = decode(whole)
    assert found[: whole.count(b"\n")] == ALL[: whole.count(b"\n")]
    assert damaged <= 1


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"metric","time":1,"step":99999999999999999999,"values":{"loss":1}}',
        b'{"type":"metric","time":1,"step":1,"values":{"loss":1e999}}',
        b'{"type":"metric","time":1,"step":1,"values":{"loss":NaN}}',
        b'{"type":"metric","time":1,"step":1,"values":{"loss":"nan"}}',
        b'{"type":"metric","time":1,"step":1.5,"values":{}}',
        b'{"type":"progress","time":1,"done":1,"total":1' + b"0" * 30 + b',"phase":"train"}',
        b'{"type":"note","time":1,"key":"x","args":' + b"[" * 100_000,
        b'{"type":"note","key":"x","args":{}}',
        b'{"type":"finding","time":1,"rule":"a.b","sev\xffrity":"error","path":"p","line":1,"args":{}}',
        b"\xff\xfe",
        b"[1,2]",
        b"null",
    ],
)
def test_that_a_bad_line_is_counted_and_its_neighbours_are_read(line: bytes) -> None:
    found, damaged = decode(lines_of(ALL[0]) + line + b"\n" + lines_of(ALL[1]))
    assert found == ALL[:2]
    assert damaged == 1


def test_that_an_event_without_a_time_gets_that_of_its_writing(tmp_path: Path) -> None:
    Journal(tmp_path, 1).write(Note(key="launch.compiling"))
    (path,) = tmp_path.iterdir()
    ((note,), _) = decode(path.read_bytes())
    assert abs(note.time - time.time_ns()) < 60 * 10**9


def test_that_newer_kinds_and_fields_are_let_be() -> None:
    newer = b'{"type":"hologram","time":1}\n{"type":"ended","time":1,"code":0,"reason":"","mood":"fine"}\n'
    assert decode(newer) == ([Ended(time=1, code=0)], 0)


@pytest.mark.parametrize("free", [0, 1, 20])
def test_that_a_record_that_fits_only_in_part_raises_and_leaves_no_part(tmp_path: Path, free: int) -> None:
    """An end of which half is written would never be read, and whoever wrote it would think it done."""
    journal = Journal(tmp_path, 1)
    journal.write(ALL[0])
    (path,) = tmp_path.iterdir()
    with limited_files(path.stat().st_size + free), pytest.raises(OSError, match="too large"):
        journal.write(ALL[1])
    Journal(tmp_path, 1).write(ALL[2])
    assert decode(path.read_bytes()) == ([ALL[0], ALL[2]], 0)


def test_that_a_record_begins_a_line_behind_half_a_record_of_a_killed_process(tmp_path: Path) -> None:
    (tmp_path / events.name_of(1, 0, os.getpid())).write_bytes(b'{"type":"no')
    Journal(tmp_path, 1).write(ALL[0])
    (path,) = tmp_path.iterdir()
    assert decode(path.read_bytes()) == ([ALL[0]], 1)


def test_that_kept_records_are_written_before_the_next_one(tmp_path: Path) -> None:
    with limited_files(0):
        Journal(tmp_path, 1).write_or_keep(ALL[0], ALL[1])
    Journal(tmp_path, 1).write(ALL[2])
    (path,) = tmp_path.iterdir()
    assert decode(path.read_bytes()) == ([ALL[0], ALL[1], ALL[2]], 0)


def test_that_names_of_event_files_tell_attempt_and_rank() -> None:
    assert events.attempt_and_rank(events.name_of(2, 7, 4711)) == (2, 7)
    for other in (
        "events.jsonl",
        "events.a1.r0.p1.jsonl.tmp",
        "xevents.a1.r0.p1.jsonl",
        "events.a1.r-1.p1.jsonl",
    ):
        assert events.attempt_and_rank(other) is None


def test_that_a_path_that_is_no_utf8_loses_no_event(tmp_path: Path) -> None:
    Journal(tmp_path, 1).write(
        Finding(rule="error.file", severity="error", args={"path": "/tmp/\udcff", "reason": "x"})
    )
    (path,) = tmp_path.iterdir()
    (found,), damaged = decode(path.read_bytes())
    assert isinstance(found, Finding)
    assert (found.args["path"], damaged) == ("/tmp/?", 0)
