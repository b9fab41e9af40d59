"""Files that no profiler should write, and that one finds all the same. Each is under 10 MB."""

from __future__ import annotations

import gzip
import json
import random
import zlib
from typing import TYPE_CHECKING, Any

from tests.timeline.other_traces import kineto
from tests.timeline.torch_npu_trace import (
    BASE,
    Event,
    microseconds,
    torch_npu,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STRANGE = (
    "null", "true", "[]", "{}", '""', '"abc"', "-1", "1e308", "1e400", "NaN", "-Infinity", '"inf"', '"-5.5"', "0",
    "-0.0", "1" + "0" * 30, '"\\ud800"', "[[1]]", '{"a":{"b":[]}}', '"\\u0000"', "1.5", '"1e3"',
)  # fmt: skip
STRANGE_NAMES = ("中文", "🚀", "a\nb", "a\tb", "\x00", "", " ", "=1+1")
GOOD = {"ph": "X", "name": "good", "pid": 1, "tid": 1, "ts": "1736412474714258.990", "dur": 1.5, "cat": "c", "id": 1,
        "args": {"a": 1}}  # fmt: skip


def array(events: Iterable[Any]) -> bytes:
    return ("[" + ", ".join(map(json.dumps, events)) + "]").encode()


def good(count: int) -> list[Event]:
    """Slices one after the other on one lane."""
    return [GOOD | {"ts": microseconds(BASE + number * 2000)} for number in range(count)]


def broken(raw: str) -> bytes:
    """Something among events that are good."""
    events = good(200)
    begin, end = (", ".join(map(json.dumps, half)) for half in (events[:100], events[100:]))
    return f"[{begin}, {raw}, {end}]".encode("utf-8", "surrogatepass")


def wrong_types() -> bytes:
    """Every field of an event with every value, for each phase."""
    parts = []
    for phase in "XBEsftCMibe":
        for name in GOOD:
            for value in STRANGE:
                fields = {key: json.dumps(figure) for key, figure in (GOOD | {"ph": phase}).items()} | {name: value}
                parts.append("{" + ",".join(f'"{key}":{figure}' for key, figure in fields.items()) + "}")
    return ("[" + ", ".join(parts) + "]").encode()


def mutated(data: bytes, seed: int) -> bytes:
    """Up to 20 bytes changed, left out or put in."""
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.randint(1, 20)):
        offset = chance.randrange(len(changed))
        kind = chance.randrange(3)
        if kind == 0:
            changed[offset] = chance.choice((0, 10, 34, 44, 58, 91, 92, 93, 123, 125, 255, chance.randrange(256)))
        elif kind == 1:
            del changed[offset : offset + chance.choice((1, 1, 30))]
        else:
            changed[offset:offset] = chance.choice((b'"', b"{", b"}", b"]", b",", b"\\", b"\xff", b"\r\n", b"[[["))
    return bytes(changed)


def lanes(count: int) -> bytes:
    return (
        "[" + ",".join(f'{{"ph":"X","ts":{100 + n},"dur":1,"pid":1,"tid":{n}}}' for n in range(count)) + "]"
    ).encode()


def _many(event: Callable[[int], str], size: int = 2_500_000) -> bytes:
    parts, length, number = [], 0, 0
    while length < size:
        parts.append(event(number))
        length, number = length + len(parts[-1]) + 1, number + 1
    return ("[" + ",".join(parts) + "]").encode()


def whole(events: bytes) -> bytes:
    return b'{"traceEvents": ' + events + b', "more": {"traceEvents": [1, 2]}}'


def bomb(megabytes: int) -> bytes:
    """Packed: some events, then nothing but spaces."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    spaces = (packer.compress(b" " * (1 << 20)) for _ in range(megabytes))
    return b"".join((packer.compress(array(good(3))[:-1]), *spaces, packer.compress(b"]"), packer.flush()))


CASES: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"", "space": lambda: b" \r\n ", "bracket": lambda: b"[", "null": lambda: b"null",
    "number": lambda: b"12", "text": lambda: b'"trace"', "no events": lambda: b"[]", "object": lambda: b"{}",
    "events are none": lambda: b'{"traceEvents": null}', "events are a text": lambda: b'{"traceEvents": "x"}',
    "zeros": lambda: bytes(100_000), "noise": lambda: random.Random(1).randbytes(100_000),
    "only names": lambda: array(event for event in torch_npu() if event["ph"] == "M"),
    "deep array": lambda: b"[" * 200_000, "deep object": lambda: b'{"a":' * 200_000,
    "deep arguments": lambda: broken('{"ph":"X","name":"deep","ts":1,"args":' + '{"a":' * 90_000 + "1" + "}" * 90_001),
    "wrong types": wrong_types, "event is a number": lambda: broken("17"), "event is none": lambda: broken("null"),
    "event is an array": lambda: broken("[[1, 2], {}]"), "garbage": lambda: broken("@#!"),
    "open text": lambda: broken('{"ph":"X","name":"abc'), "open event": lambda: broken('{"ph":"X","args":{"a":[1'),
    "closed too often": lambda: broken("}]}}]"), "literals": lambda: broken('{"ph":"X","ts":NaN,"dur":Infinity}'),
    "surrogates": lambda: broken('{"ph":"X","ts":5,"name":"\ud800 \\ud800 \\udc00"}'),
    "bad utf-8": lambda: broken('{"ph":"X","ts":5,"name":"@@"}').replace(b"@@", b"\xff\xfe\x80"),
    "byte order mark": lambda: b"\xef\xbb\xbf" + array(good(50)),
    "utf-16": lambda: array(good(50)).decode().encode("utf-16"),
    "trailing comma": lambda: array(good(50))[:-1] + b",]", "two arrays": lambda: array(good(50)) * 2,
    "mixed lines": lambda: array(good(50)).replace(b", {", b",\r\n{", 20).replace(b", {", b",\r{", 5),
    "twice the same key": lambda: broken('{"ph":"X","name":"first","name":"last","ts":5,"ts":6,"dur":1,"dur":2}'),
    "braces in texts": lambda: broken(json.dumps(GOOD | {"name": '}, {"ph": "X", "ts": 1}', "args": {"a": "}]}, {"}})),
    "events in arguments": lambda: broken(json.dumps(GOOD | {"args": {"list": good(40)}})),
    "events named again": lambda: whole(array(good(50))),
    "negative and endless": lambda: array(
        [*good(5), *(GOOD | {"dur": value} for value in (-1, "-1", "inf", "nan", 1e300, "1e400", -1e-9)),
         *(GOOD | {"ts": value} for value in (-5, "inf", "-inf", "nan", 1e300, 0, "0", None, 2**63, -(2**63)))]
    ),
    "far apart": lambda: array([GOOD | {"ts": 1}, GOOD | {"ts": 9_200_000_000_000_000}, GOOD | {"ts": 9.3e15}]),
    "long name": lambda: broken(json.dumps(GOOD | {"name": "名" * 1_500_000})),
    "long stack": lambda: broken(json.dumps(GOOD | {"args": {"Call stack": "a.py(1): f;\r\n" * 400_000}})),
    "odd names": lambda: array(GOOD | {"name": name} for name in STRANGE_NAMES),
    "many lanes": lambda: lanes(100_000),
    "many names": lambda: _many(lambda n: f'{{"ph":"X","ts":{100 + n},"name":"kernel number {n}"}}'),
    "many processes": lambda: _many(lambda n: f'{{"ph":"X","ts":{100 + n},"pid":"process {n}"}}'),
    "many figures": lambda: array([{"ph": "C", "ts": 5, "pid": 1, "name": "f",
                                    "args": {str(n): n for n in range(100_000)}}] * 2),
    "many series": lambda: _many(lambda n: f'{{"ph":"C","ts":{100 + n},"name":"s{n}","args":{{"v":1}}}}'),
    "many flows": lambda: _many(lambda n: f'{{"ph":"s","ts":{100 + n},"id":"flow {n}"}}'),
    "one flow": lambda: _many(lambda n: f'{{"ph":"{"sft"[n % 3]}","ts":{100 + n},"id":1}}'),
    "nested": lambda: _many(lambda n: f'{{"ph":"X","ts":{1000 + n},"dur":{1_000_000 - 2 * n}}}', 1_500_000),
    "staggered": lambda: _many(lambda n: f'{{"ph":"X","ts":{1000 + n},"dur":1000000}}', 1_500_000),
    "begun, never ended": lambda: _many(lambda n: f'{{"ph":"B","ts":{1000 + n}}}'),
    "ended, never begun": lambda: _many(lambda n: f'{{"ph":"E","ts":{1000 + n}}}'),
    "at one time": lambda: _many(lambda n: '{"ph":"X","ts":1000,"dur":5}'),
    "empty objects": lambda: b"[" + b"{}," * 700_000 + b"{}]", "digits": lambda: b"[" + b"1," * 900_000 + b"1]",
    "empty arrays": lambda: b"[" + b"[]," * 700_000 + b"[]]", "commas": lambda: b"[" + b"," * 4_000_000 + b"]",
    "one long line": lambda: b'[{"ph":"X","ts":5,"args":{"a":"' + b"x" * 9_000_000,
    "quotes": lambda: b"[" + b'"' * 1_500_000, "backslashes": lambda: b'["' + b"\\" * 3_000_000,
    "braces": lambda: b"[" + b"}, {" * 700_000,
    "pretty, cut": lambda: json.dumps(kineto(), indent=2).encode()[:-3000],
}  # fmt: skip
PACKED: dict[str, Callable[[], bytes]] = {
    "packed, cut": lambda: gzip.compress(array(torch_npu()))[:-2000],
    "packed, wrong": lambda: b"\x1f\x8b\x08\x00" + bytes(5000), "not packed": lambda: array(good(50)),
    "two members": lambda: gzip.compress(array(good(50))[:800]) + gzip.compress(array(good(50))[800:]),
    "bomb": lambda: bomb(120),
}  # fmt: skip
