from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from backends.timeline.text.timestamps import (
    LAST,
    NEVER,
    durations_of,
    nanoseconds,
    parse_times,
)


def exactly(text: str) -> int:
    return int((Decimal(text) * 1000).to_integral_value(ROUND_HALF_EVEN))


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("1736412474714258.990", 1736412474714258990),
        ("828.33653125", 828337),
        ("0.0005", 0),
        ("0.0015", 2),
        ("1e3", 1000000),
        ("1.5E-3", 2),
        ("+2", 2000),
        ("-1.25", -1250),
        (" 7.001\t", 7001),
        (".5", 500),
        ("5.", 5000),
        ("1e-9999", 0),
    ],
)
def test_that_decimal_text_becomes_whole_nanoseconds(text: str, time: int) -> None:
    assert nanoseconds(text) == time


@pytest.mark.parametrize(
    "text", ["", "inf", "-inf", "nan", "Infinity", "1e9999", "1_0", "0x1", "1.2.3", "12a", "9" * 17, "9" * 200, "٣"]
)
def test_that_what_is_no_time_is_none(text: str) -> None:
    assert nanoseconds(text) is None


numbers = st.one_of(
    st.decimals(0, Decimal(LAST) / 1000 - 1, places=3).map(str),
    st.decimals(0, 10**15, places=6).map(str),
    st.integers(-(10**15), 10**15).map(str),
    st.decimals(10**15, 2 * 10**15, places=3).map(str),
)


@given(st.lists(st.tuples(numbers, st.booleans()), max_size=12))
@settings(max_examples=150, deadline=None)
def test_that_many_at_once_are_as_exact_as_each_alone(texts: list[tuple[str, bool]]) -> None:
    literals = [Raw((f'"{text}"' if quoted else text).encode()) for text, quoted in texts]
    assert parse_times(literals).tolist() == [exactly(text) for text, _ in texts]


@given(st.lists(st.binary(max_size=24), max_size=12))
@settings(max_examples=150, deadline=None)
def test_that_any_bytes_give_a_time_or_none(literals: list[bytes]) -> None:
    times = parse_times([Raw(each) for each in literals]).tolist()
    for literal, time in zip(literals, times, strict=True):
        text = literal.decode("utf-8", "replace").strip('"')
        assert time == NEVER if nanoseconds(text) is None else time == nanoseconds(text)


def test_that_one_odd_time_does_not_spoil_those_beside_it() -> None:
    literals = [
        b'"1736412474714258.990"',
        b'"173641247471425x.990"',
        b'"9999999999999999.999"',
        b'"1736412474714258x990"',
    ]
    assert parse_times([Raw(each) for each in literals]).tolist() == [1736412474714258990, NEVER, NEVER, NEVER]


@given(st.lists(st.one_of(numbers.filter(lambda text: "-" not in text), st.just("0.0005")), max_size=12), st.booleans())
@settings(max_examples=150, deadline=None)
def test_that_durations_are_exact_from_numbers_and_from_text(texts: list[str], as_text: bool) -> None:
    spoken = [text if as_text else float(text) for text in texts]
    assert durations_of(spoken, lambda number: texts[number]).tolist() == [exactly(text) for text in texts]


def test_that_a_missing_or_impossible_duration_is_never() -> None:
    spoken = [None, 0.0, -1.0, float("inf"), float("nan"), "inf", "abc", "-2", "3"]
    assert durations_of(spoken, lambda _: "").tolist() == [NEVER, 0, NEVER, NEVER, NEVER, NEVER, NEVER, NEVER, 3000]
