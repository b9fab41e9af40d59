from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

from backends.timeline.text.event_lookup import event_of
from tests.timeline.text.readings import read, read_data, x

if TYPE_CHECKING:
    from pathlib import Path

EVENTS = [x(f"n{number}", args={"shapes": [[number, 2], []], "list": [{"name": "}, {"}]}) for number in range(400)]


def test_that_an_event_is_found_again_by_its_number(tmp_path: Path) -> None:
    for piece in (100, 5000, 1 << 18):
        gathered = read_data(tmp_path, EVENTS, piece)
        events = [event_of(tmp_path / "trace_view.json", gathered.chunks, number) for number in range(0, 400, 37)]
        assert events == EVENTS[::37]


def test_that_an_event_of_a_gzip_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"traceEvents": EVENTS}).encode()))
    chunks = read(path, 5000).chunks
    assert event_of(path, chunks, 250) == EVENTS[250]


def test_that_an_event_is_found_among_broken_ones(tmp_path: Path) -> None:
    good = [json.dumps(event) for event in EVENTS[:4]]
    gathered = read_data(tmp_path, "[" + ", ".join([*good[:2], '{"ph": "X", "name": "a"b"}', *good[2:], "NaN"]) + "]")
    path = tmp_path / "trace_view.json"
    assert [event_of(path, gathered.chunks, number) for number in range(6)] == [*EVENTS[:2], None, *EVENTS[2:4], None]


def test_that_a_file_that_was_replaced_gives_none(tmp_path: Path) -> None:
    chunks = read_data(tmp_path, EVENTS, 5000).chunks
    path = tmp_path / "trace_view.json"
    path.write_bytes(b"[" + b'"' * 9000)
    assert event_of(path, chunks, 3) is None
    assert event_of(path, chunks, 399) is None


def test_that_text_no_screen_can_show_is_mended(tmp_path: Path) -> None:
    gathered = read_data(tmp_path, [x(args={"a\ud800": ["\udfff"]})])
    event = event_of(tmp_path / "trace_view.json", gathered.chunks, 0)
    assert event is not None
    assert event["args"] == {"a\ufffd": ["\ufffd"]}
