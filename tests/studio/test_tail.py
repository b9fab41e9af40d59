"""Reading on: nothing lost, nothing doubled, nothing invented, however the writer's bytes arrive."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio import tail as tails
from studio.events import Ended, Journal, Metric, Note
from studio.run import create
from studio.tail import RunTail, Tail, last_lines

if TYPE_CHECKING:
    from pathlib import Path

anything = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
lines = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"") + b"\n"), max_size=20)


@anything
@given(lines, st.binary(max_size=20), st.lists(st.integers(0, 800), max_size=8), st.integers(1, 64))
def test_that_whole_lines_come_once_and_in_order(
    tmp_path: Path, given_lines: list[bytes], half: bytes, cuts: list[int], limit: int
) -> None:
    data = b"".join(given_lines) + half.replace(b"\n", b"")
    path = tmp_path / "file"
    path.write_bytes(b"")
    tail, got = Tail(path), b""
    bounds = [0, *sorted(cuts), len(data)]
    for begin, end in itertools.pairwise(bounds):
        with path.open("ab") as file:
            file.write(data[begin : max(begin, end)])
        while part := tail.read(limit):
            assert part.endswith(b"\n")
            got += part
    assert got == b"".join(given_lines)
    assert tail.pending() == 0, "half a line that nobody will end keeps no reader waiting"


def test_that_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\ntw")
    tail = Tail(path)
    assert tail.read() == b"one\n"
    assert tail.read() == b""
    with path.open("ab") as file:
        file.write(b"o\n")
    assert tail.pending() > 0
    assert tail.read() == b"two\n"


def test_that_a_line_behind_one_that_was_taken_back_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\nhalf of a long line")
    tail = Tail(path)
    assert tail.read() == b"one\n"
    path.write_bytes(b"one\ntwo\n")
    assert tail.pending() > 0
    assert (tail.read(), tail.pending()) == (b"two\n", 0)


def test_that_a_file_in_the_place_of_a_deleted_one_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\ntwo\nthree\n")
    tail = Tail(path)
    assert tail.read() == b"one\ntwo\nthree\n"
    path.unlink()
    path.write_bytes(b"end\n")
    assert tail.pending() > 0
    assert (tail.read(), tail.pending()) == (b"end\n", 0)


def test_that_a_file_may_come_later(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "later")
    assert tail.read() == b""
    assert tail.pending() == 0
    (tmp_path / "later").write_bytes(b"x\n")
    assert tail.read() == b"x\n"


def test_that_a_line_without_an_end_is_left_behind(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(tails, "LONGEST_LINE", 4096)
    path = tmp_path / "file"
    path.write_bytes(b"x" * 10_000 + b"\ngood\n")
    tail, got = Tail(path), b""
    while part := tail.read(1024):
        got += part
    while part := tail.read(1024):
        got += part
    for _ in range(20):
        got += tail.read(1024)
    assert got.endswith(b"good\n")
    assert tail.dropped


def test_that_a_folder_or_a_pipe_in_its_place_is_no_trouble(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "events.a1.r0.p1.jsonl")
    (tmp_path / "events.a1.r0.p2.jsonl").mkdir()
    assert list(RunTail(tmp_path).read()) == []


def test_that_a_run_is_read_with_attempts_and_ranks(tmp_path: Path) -> None:
    run = create(tmp_path, "launch", {})
    (run.folder / "events.a2.r3.p77.jsonl").write_bytes(b'{"type":"metric","time":1,"step":4,"values":{"loss":1}}\n')
    Journal(run.folder, 1).write(Note(key="launch.compiling"), Ended(code=0))
    found = list(RunTail(run.folder).read())
    assert [(attempt, rank) for attempt, rank, _ in found] == [(1, 0), (2, 3)]
    assert [type(event) for event in found[0][2]] == [Note, Ended]
    assert isinstance(found[1][2][0], Metric)


def test_that_damage_is_counted_once_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "events.a1.r0.p1.jsonl"
    good = b'{"type":"metric","time":1,"step":4,"values":{"loss":1}}\n'
    path.write_bytes(good + good[:20] + b"\n" + good + b'{"type":"newer","time":2}\n')
    tail = RunTail(tmp_path)
    events = [event for _, _, found in tail.read() for event in found]
    assert len(events) == 2
    assert tail.damaged == 1
    assert list(tail.read()) == []


def test_the_last_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"a\nbb\nccc\nhalf")
    assert last_lines(path) == [b"a", b"bb", b"ccc"]
    assert last_lines(path, 9) == [b"ccc"]
    assert last_lines(tmp_path / "none") == []
