"""Whatever is in the file: nothing crashes, nothing is invented, and every event is accounted for."""

from __future__ import annotations

import json
import tempfile
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.timeline.profile_data import TEXTS, profile
from tests.timeline.text.readings import read_data

if TYPE_CHECKING:
    from tests.timeline.text.readings import Gathered

PIECES = st.sampled_from([40, 200, 3000, 1 << 18])
TEXT = st.text(max_size=12)
TIME = st.decimals(0, 2 * 10**15, places=3).map(str)


def nanoseconds(text: str) -> int:
    return int((Decimal(text) * 1000).to_integral_value(ROUND_HALF_EVEN))


def is_accounted_for(gathered: Gathered) -> bool:
    """All phases but those of which two make one slice."""
    gather = gathered.gather
    event_count = len(gathered.slices) + len(gathered.instants) + len(gathered.ends) + gather.counter_events
    return gather.events == event_count + gather.metadata + sum(gather.set_aside.values())


def read(data: bytes, piece: int) -> Gathered:
    with tempfile.TemporaryDirectory() as folder:
        return read_data(Path(folder), data, piece)


arguments = st.dictionaries(
    TEXT, st.one_of(TEXT, st.integers(), st.lists(st.just({"ph": "X", "name": "no", "ts": 1}), max_size=3)), max_size=3
)
slices = st.fixed_dictionaries(
    {"ph": st.just("X"), "name": TEXT, "pid": st.integers(0, 3), "tid": st.one_of(st.integers(0, 3), TEXT), "ts": TIME},
    optional={"dur": TIME, "args": arguments, "cat": st.sampled_from(["cpu_op", ""])},
)
layouts = st.sampled_from(["plain", "compact", "pretty", "object", "pretty object"])


def written(events: list[Any], layout: str) -> bytes:
    content = {"a": 1, "traceEvents": events, "z": 2} if "object" in layout else events
    indent, separators = (2 if "pretty" in layout else None), ((",", ":") if layout == "compact" else None)
    return json.dumps(content, indent=indent, separators=separators, ensure_ascii=False).encode()


@given(st.lists(slices, max_size=12), layouts, PIECES)
@settings(max_examples=150, deadline=None)
def test_that_what_was_written_is_what_is_read(events: list[dict[str, Any]], layout: str, piece: int) -> None:
    gathered = read(written(events, layout), piece)
    expected = []
    for event in events:
        start = nanoseconds(event["ts"])
        if "dur" in event:
            lane = f"{event['pid']}/{event['tid']}"
            expected.append((lane, event["name"], start, start + nanoseconds(event["dur"])))
    if not any(nanoseconds(event["ts"]) == 0 for event in events):
        assert gathered.slices == expected
        assert not gathered.truncated
    assert is_accounted_for(gathered)


anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)
KEYS = ("ph", "name", "pid", "tid", "ts", "dur", "cat", "id", "id2", "args")
PHASES = st.sampled_from("XCMstfiIRnN?")
odd_events = st.one_of(
    anything,
    st.builds(lambda ph, rest: {"ph": ph} | rest, PHASES, st.dictionaries(st.sampled_from(KEYS[1:]), anything)),
)


@given(st.lists(odd_events, max_size=8), layouts, PIECES)
@settings(max_examples=150, deadline=None)
def test_that_events_of_any_shape_are_accounted_for(events: list[Any], layout: str, piece: int) -> None:
    gathered = read(json.dumps(events, indent=2 if layout == "pretty" else None).encode(), piece)
    assert gathered.gather.events == len(events)
    assert is_accounted_for(gathered)


@given(st.binary(max_size=300), PIECES)
@settings(max_examples=150, deadline=None)
def test_that_any_bytes_are_survived(data: bytes, piece: int) -> None:
    for head in (b"", b"[", b'{"traceEvents":[', b"\x1f\x8b\x08\x00"):
        assert is_accounted_for(read(head + data, piece))


EXAMPLE = written(
    [{"ph": "X", "name": f"n{n}", "pid": 1, "tid": 2, "ts": f"{n}.125", "dur": n} for n in range(30)], "plain"
)


@given(st.data(), PIECES)
@settings(max_examples=150, deadline=None)
def test_that_mutated_bytes_lose_little_and_invent_nothing(data: st.DataObject, piece: int) -> None:
    mutated = bytearray(EXAMPLE)
    places = data.draw(st.lists(st.integers(1, len(EXAMPLE) - 2), max_size=3))
    for offset in places:
        mutated[offset] = data.draw(st.integers(0, 255).filter(lambda byte: byte != ord("]")))  # which ends the array
    gathered = read(bytes(mutated), piece)
    assert is_accounted_for(gathered)
    assert len(gathered.slices) <= 30
    names = {name for _, name, _, _ in gathered.slices}
    assert len(names & {f"n{n}" for n in range(30)}) >= 30 - 4 * len(places)


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_that_mutated_profiles_are_survived(data: st.DataObject) -> None:
    for name in TEXTS:
        begin = data.draw(st.integers(0, 20_000))
        content = bytearray(profile(name).read_bytes()[: begin + 60_000])
        for offset in data.draw(st.lists(st.integers(1, len(content) - 1), max_size=4)):
            content[offset] = data.draw(st.integers(0, 255))
        assert is_accounted_for(read(bytes(content), 8192))
