"""Records that a full disk refuses: they are written later, or counted. In a child, whose files may not grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from studio.events import Journal
from studio.faults import lost_records
from studio.faults.lost_records import LostRecords, lost_of
from studio.run import last_events
from tests.guest.recording import child, files, records

if TYPE_CHECKING:
    from pathlib import Path

BEGIN = """
import ascend_studio, glob, os, resource, signal, sys
from ascend_studio.writer import backlog
def limit(free):
    sizes = [os.stat(path).st_size for path in glob.glob(os.environ["ASCEND_STUDIO_RUN"] + "/events*")]
    resource.setrlimit(resource.RLIMIT_FSIZE, (sum(sizes) + free, resource.RLIM_INFINITY))
def record(begin, end):
    for step in range(begin, end):
        ascend_studio.metric(step, loss=1.0)
unlimited = resource.RLIM_INFINITY
backlog.EVERY = 0
record(0, 60)
limit(FREE)
"""


def steps(run: Path) -> list[int]:
    return [record["step"] for record in records(run) if record["type"] == "metric"]


def findings(run: Path) -> list[tuple[str, dict[str, Any]]]:
    return [(record["rule"], record["args"]) for record in records(run) if record["type"] == "finding"]


def links(run: Path) -> list[str]:
    return [str(path.readlink()) for path in run.glob("lost.*")]


@pytest.mark.parametrize("free", [0, 1, 30, 65, 66, 67, 100])
def test_that_what_a_full_disk_refuses_is_written_whole_when_it_has_room(tmp_path: Path, free: int) -> None:
    script = BEGIN.replace("FREE", str(free)) + "record(60, 200); limit(10**9); record(200, 300)"
    child(tmp_path, script)
    assert steps(tmp_path) == list(range(300))
    assert (findings(tmp_path), links(tmp_path)) == ([], [])


def test_that_points_beyond_the_memory_for_them_are_counted_in_one_finding(tmp_path: Path) -> None:
    script = BEGIN.replace("FREE", "0") + (
        "backlog.LIMIT = 1000; record(60, 200); ascend_studio.note('kept'); limit(10**9); record(200, 300)"
    )
    child(tmp_path, script)
    kept = steps(tmp_path)
    (told,) = findings(tmp_path)
    rule, lost = told
    assert rule == "run.points_lost"
    assert kept == [step for step in range(300) if not lost["first"] <= step <= lost["last"]]
    assert (lost["points"], lost["last"]) == (300 - len(kept), 199)
    assert [record["key"] for record in records(tmp_path) if record["type"] == "note"] == ["kept"]


def test_that_a_process_that_ends_on_a_full_disk_leaves_the_count(tmp_path: Path) -> None:
    script = BEGIN.replace("FREE", "0") + "record(60, 200); ascend_studio.note('n'); ascend_studio.progress(1, 2, 'x')"
    child(tmp_path, script)
    assert links(tmp_path) == ["points=140 first=60 last=199 others=1 errno=27"]
    journal = Journal(tmp_path, 1)
    lost_records.collect(tmp_path, journal)
    lost_records.collect(tmp_path, journal)
    expected = LostRecords(points=140, first=60, last=199, others=1, why="File too large")
    assert lost_of(tmp_path) == expected
    assert links(tmp_path) == []
    assert lost_records.lost_in(last_events(tmp_path)) == expected
    assert expected.sentences() == [
        "140 points between step 60 and 199 could not be written: File too large.",
        "Notes and warnings of the training that could not be written: 1 (File too large).",
    ]


def test_that_a_killed_process_has_left_word_of_what_waited(tmp_path: Path) -> None:
    script = BEGIN.replace("FREE", "0") + "record(60, 200); sys.stdout.flush(); os._exit(0)"
    child(tmp_path, script)
    assert links(tmp_path)[0].startswith("points=13")


def test_that_the_disk_may_be_full_from_the_first_record_on(tmp_path: Path) -> None:
    script = BEGIN.replace("record(0, 60)", "").replace("FREE", "0") + "record(0, 60); limit(10**9); record(60, 80)"
    child(tmp_path, script)
    assert steps(tmp_path) == list(range(80))


def test_that_a_fork_of_a_process_that_waits_for_room_writes_only_its_own(tmp_path: Path) -> None:
    script = BEGIN.replace("FREE", "0") + (
        "record(60, 70)\nif os.fork() == 0:\n    limit(10**9); record(500, 501); sys.exit(0)\nos.wait(); limit(10**9)"
    )
    child(tmp_path, script)
    written = sorted(path.read_text().count("metric") for path in files(tmp_path))
    assert written == [1, 70]


def test_that_a_signal_handler_may_record_while_records_wait(tmp_path: Path) -> None:
    script = BEGIN.replace("FREE", "0") + (
        "signal.signal(signal.SIGALRM, lambda *_: ascend_studio.note('alarm'))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)\n"
        "for step in range(60, 3060):\n"
        "    if step % 100 == 0: limit(10**9 if step % 200 else 10)\n"
        "    ascend_studio.metric(step, loss=1.0)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0)\nlimit(10**9)"
    )
    child(tmp_path, script)
    assert steps(tmp_path) == list(range(3060))
