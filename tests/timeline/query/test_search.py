from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.timeline.query.search import in_time, search
from tests.timeline.memory_traces import LaneSpec, many, trace_of
from tests.timeline.query.lane_strategies import lanes

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.trace import Trace

checked = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _named(trace: Trace, names: set[str]) -> list[int]:
    return [i for i, name in enumerate(trace.name) if trace.name_text(int(name)) in names]


def _trace(folder: Path, *names: str) -> Trace:
    return trace_of(folder, [LaneSpec(slices=[(10 * i, 10 * i + 5, name) for i, name in enumerate(names)])])


@checked
@given(specs=lanes(), text=st.sampled_from(("m", "M", "动", "add", "Add", "all", "nothing", "")), case=st.booleans())
def test_that_all_slices_with_the_text_are_found_and_no_other(
    tmp_path: Path, specs: list[LaneSpec], text: str, case: bool
) -> None:
    trace = trace_of(tmp_path, specs)
    hits = search(trace, text, case=case)
    expected = {
        name for name in trace.name_texts if text and (text in name or (not case and text.lower() in name.lower()))
    }
    assert hits.indexes.tolist() == _named(trace, expected)
    assert [trace.name_texts[i] for i in np.flatnonzero(hits.names)] == [n for n in trace.name_texts if n in expected]
    for row, (a, b) in enumerate(zip(hits.row_begin, hits.row_begin[1:], strict=False)):
        assert {trace.row_of(i) for i in hits.indexes[a:b].tolist()} <= {row}


@checked
@given(specs=lanes(), text=st.sampled_from(("m", "a", "l", "动")))
def test_that_the_hits_are_sorted_by_time_and_then_by_row(tmp_path: Path, specs: list[LaneSpec], text: str) -> None:
    trace = trace_of(tmp_path, specs)
    hits = search(trace, text)
    expected = sorted(hits.indexes.tolist(), key=lambda i: (trace.start[i], i))
    assert in_time(trace, hits).tolist() == expected


def test_that_a_regular_expression_is_searched_in_every_name(tmp_path: Path) -> None:
    trace = _trace(tmp_path, "aten::add", "Add", "aten::mul", "a\0b\nc", "动作")
    for pattern, case in ((r"^a.*d$", True), (r"ADD$", False), (r"ADD$", True), (r"[动]", True), (r"b\sc", True)):
        expected = {name for name in trace.name_texts if re.search(pattern, name, 0 if case else re.IGNORECASE)}
        hits = search(trace, pattern, regex=True, case=case)
        assert hits.problem is None
        assert hits.indexes.tolist() == _named(trace, expected)


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "a{3,1}", "(?P<n", "\\", "(" * 5000, "x" * 2000])
def test_that_a_bad_expression_is_told_and_finds_nothing(tmp_path: Path, pattern: str) -> None:
    hits = search(_trace(tmp_path, "x(", "[a"), pattern, regex=True)
    assert hits.problem is not None
    assert hits.problem.key in ("timeline.search.bad_pattern", "timeline.search.pattern_too_long")
    assert len(hits.indexes) == 0


def test_that_an_expression_that_takes_for_ever_is_ended(tmp_path: Path) -> None:
    hits = search(_trace(tmp_path, "a" * 60 + "!"), "(a+)+$", regex=True)
    assert hits.problem is not None
    assert hits.problem.key == "timeline.search.too_slow"


def test_that_plain_text_is_no_expression_and_names_do_not_run_together(tmp_path: Path) -> None:
    trace = _trace(tmp_path, "ab", "cd", "a.c")
    assert search(trace, "a.c").indexes.tolist() == [2]
    assert search(trace, "bc").indexes.tolist() == []
    assert search(trace, "ß").indexes.tolist() == []
    assert search(_trace(tmp_path / "de", "STRASSE"), "straße").indexes.tolist() == [0]


def test_that_only_chosen_rows_are_searched_however_they_are_given(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 5, "x")]) for _ in range(5)])
    assert search(trace, "x", rows=[4, 0, 1, 1]).indexes.tolist() == [0, 1, 4]
    assert search(trace, "x", rows=[]).indexes.tolist() == []


def test_that_pieces_of_a_large_trace_are_put_together_without_a_seam(tmp_path: Path) -> None:
    trace = many(tmp_path, 600_000, lanes=4, names=7)
    assert np.array_equal(search(trace, "kernel_3").indexes, np.flatnonzero(trace.name == 3))


def test_that_an_empty_trace_has_no_hits(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [])
    for regex in (False, True):
        assert search(trace, "x", regex=regex).indexes.tolist() == []
