from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.timeline.query import coverage_cache, numba_kernels, statistics
from backends.timeline.query.coverage_numpy import pieces
from backends.timeline.query.statistics import Statistics, range_statistics
from tests.timeline.memory_traces import LaneSpec, many, trace_of
from tests.timeline.query.lane_strategies import lanes, ranges

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.timeline.trace import Trace

checked = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
Figures = dict[str, tuple[int, ...]]


@pytest.fixture(params=["numpy", "numba"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "numba" and numba_kernels.load_kernels() is None:
        pytest.skip("no numba here")
    if request.param == "numpy":
        monkeypatch.setattr(numba_kernels, "_kernels", [])
    return str(request.param)


def _length(some: list[tuple[int, int]]) -> int:
    """Return the length of a union, in the simplest way."""
    total, reach = 0, -(10**30)
    for begin, end in sorted(some):
        total += max(0, end - max(begin, reach))
        reach = max(reach, end)
    return total


def _naive(trace: Trace, begin: int, end: int, rows: list[int], offsets: dict[int, int]) -> Figures:
    parts: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    own: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        lane = int(trace.row_lane[row])
        shift = offsets.get(lane, 0)
        kind = trace.meta.lanes[lane].kind
        calls = kind in ("host", "api") or (kind == "other" and _nests(trace, lane))
        is_last = row + 1 == len(trace.row_lane) or trace.row_lane[row + 1] != lane
        below = [] if is_last or not calls else _row(trace, row + 1, shift)
        for a, b, name in _row(trace, row, shift):
            if not (a < end and (b > begin or a == b >= begin) and begin < end):
                continue
            a, b = max(a, begin), min(b, end)
            parts[name].append((a, b))
            own[name] += b - a - _length([(max(a, c), min(b, d)) for c, d, _ in below if c < b and d > a])
    return {
        name: (len(some), sum(lasts), _length(some), own[name], min(lasts), max(lasts))
        for name, some in parts.items()
        for lasts in ([b - a for a, b in some],)
    }


def _nests(trace: Trace, lane: int) -> bool:
    rows = [_row(trace, row, 0) for row in np.flatnonzero(trace.row_lane == lane).tolist()]
    return all(
        any(a <= begin and end <= b for a, b, _ in above)
        for above, below in pairwise(rows)
        for begin, end, _ in below
        if begin < end
    )


def _row(trace: Trace, row: int, shift: int) -> list[tuple[int, int, str]]:
    return [
        (int(trace.start[i]) + shift, int(trace.end[i]) + shift, trace.name_text(int(trace.name[i])))
        for i in range(trace.row_begin[row], trace.row_begin[row + 1])
    ]


def _figures_of(trace: Trace, ranged: Statistics) -> Figures:
    columns = (
        ranged.count,
        ranged.total,
        ranged.wall,
        ranged.own,
        ranged.shortest,
        ranged.longest,
    )
    return {
        trace.name_text(name): tuple(figures)
        for name, *figures in zip(ranged.name.tolist(), *(column.tolist() for column in columns), strict=True)
    }


@checked
@given(specs=lanes(), span=ranges(), data=st.data())
def test_that_every_figure_is_that_of_a_plain_loop(
    tmp_path: Path, backend: str, specs: list[LaneSpec], span: tuple[int, int], data: st.DataObject
) -> None:
    trace = trace_of(tmp_path, specs)
    for name in ("seen.npy", "inner.npy"):
        (tmp_path / name).unlink(missing_ok=True)
    every = list(range(len(trace.row_lane)))
    expected = _naive(trace, *span, every, {})
    assert _figures_of(trace, range_statistics(trace, *span)) == expected
    coverage_cache.stored_covered_until(trace)
    assert _figures_of(trace, range_statistics(trace, *span)) == expected
    rows = data.draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    offsets = {lane: data.draw(st.integers(-20, 20)) for lane in range(len(specs))}
    assert _figures_of(trace, range_statistics(trace, *span, rows, offsets)) == _naive(trace, *span, rows, offsets)


def test_that_overlaps_of_a_name_count_once_in_the_wall_time(tmp_path: Path, backend: str) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 100, "x")]), LaneSpec(slices=[(50, 150, "x"), (300, 310, "x")])])
    statistics = range_statistics(trace, 0, 1000)
    assert (statistics.count[0], statistics.total[0], statistics.wall[0]) == (3, 210, 160)
    assert statistics.mean[0] == 70
    part = range_statistics(trace, 60, 140)
    assert (part.count[0], part.total[0], part.wall[0], part.shortest[0], part.longest[0]) == (2, 120, 80, 40, 80)


def test_that_calls_count_for_themselves_where_no_table_knows_the_lane_but_its_slices_nest(
    tmp_path: Path, backend: str
) -> None:
    nested = LaneSpec(kind="other", slices=[(0, 100, "task"), (10, 90, "function"), (20, 30, "leaf")])
    loose = LaneSpec(kind="other", slices=[(0, 100, "first"), (50, 150, "second")])
    found = _figures_of(trace := trace_of(tmp_path, [nested, loose]), range_statistics(trace, 0, 200))
    assert {name: figures[3] for name, figures in found.items()} == {
        "task": 20, "function": 70, "leaf": 10, "first": 100, "second": 100,
    }  # fmt: skip


def test_that_sums_stay_exact_where_float64_does_not(tmp_path: Path, backend: str) -> None:
    large = (1 << 55) + 1
    trace = trace_of(
        tmp_path,
        [
            LaneSpec(slices=[(0, large, "x")]),
            LaneSpec(slices=[(large, 2 * large, "x"), (3 * large, 3 * large + 1, "x")]),
        ],
    )
    statistics = range_statistics(trace, 0, 4 * large)
    assert (statistics.total[0], statistics.wall[0], statistics.longest[0]) == (2 * large + 1, 2 * large + 1, large)


def test_that_what_only_touches_the_range_is_not_in_it(tmp_path: Path, backend: str) -> None:
    trace = trace_of(
        tmp_path, [LaneSpec(slices=[(0, 10, "before"), (10, 10, "at"), (12, 13, "in"), (20, 30, "behind")])]
    )
    assert set(_figures_of(trace, range_statistics(trace, 10, 20))) == {"at", "in"}
    assert _figures_of(trace, range_statistics(trace, 10, 10)) == {}
    assert _figures_of(trace, range_statistics(trace, 20, 10)) == {}


def test_that_the_largest_total_is_first(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 1, "a"), (10, 15, "b"), (20, 23, "c")])])
    assert [trace.name_text(int(name)) for name in range_statistics(trace, 0, 100).name] == ["b", "c", "a"]


def test_that_a_large_trace_gives_the_same_by_all_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = many(tmp_path, 60_000, lanes=8, names=100)
    spans = ((0, 2 * 10**10), (10**9, 7 * 10**9 + 1), (5 * 10**9, 5 * 10**9 + 1000))
    monkeypatch.setattr(numba_kernels, "_kernels", [])
    sorted_for_it = [_figures_of(trace, range_statistics(trace, *span)) for span in spans]
    coverage_cache.stored_covered_until(trace)
    assert [_figures_of(trace, range_statistics(trace, *span)) for span in spans] == sorted_for_it
    monkeypatch.setattr(statistics, "_FEW", 10)
    rows = range(3, 30)
    by_prepared = _figures_of(trace, range_statistics(trace, *spans[1], rows))
    assert by_prepared == _naive(trace, *spans[1], list(rows), {})
    monkeypatch.undo()
    if numba_kernels.load_kernels() is not None:
        coverage_cache._by_trace.clear()
        for file in tmp_path.glob("*.npy"):
            file.unlink()
        coverage_cache.stored_covered_until(trace)
        assert [_figures_of(trace, range_statistics(trace, *span)) for span in spans] == sorted_for_it


def test_that_more_names_than_sixteen_bits_hold_are_kept_apart(tmp_path: Path, backend: str) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(i, i + 2, f"name {i}") for i in range(70_000)])], last=70_002)
    coverage_cache.stored_covered_until(trace)
    statistics = range_statistics(trace, 0, 70_002)
    assert len(statistics.name) == 70_000
    assert (statistics.wall == 2).all()


@pytest.mark.parametrize("left", [b"", b"\x93NUMPY", b"garbage"])
def test_that_a_damaged_file_of_the_prepared_is_made_anew(tmp_path: Path, left: bytes) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 100, "x")]), LaneSpec(slices=[(50, 150, "x")])])
    for name in ("seen.npy", "inner.npy"):
        (tmp_path / name).write_bytes(left)
    assert range_statistics(trace, 0, 1000).wall.tolist() == [150]
    assert np.load(tmp_path / "seen.npy").tolist() == [0, 100]


def test_that_changed_numbers_of_the_prepared_are_not_believed(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 100, "x")]), LaneSpec(slices=[(50, 150, "x")])])
    coverage_cache.stored_covered_until(trace)
    coverage_cache.stored_covered_below(trace)
    for name in ("seen.npy", "inner.npy"):
        np.save(tmp_path / name, np.full(2, 3, np.int64))
    again = trace_of(tmp_path, [LaneSpec(slices=[(0, 100, "x")]), LaneSpec(slices=[(50, 150, "x")])])
    assert range_statistics(again, 0, 1000).wall.tolist() == [150]


def test_that_the_prepared_of_another_trace_are_made_anew(tmp_path: Path) -> None:
    np.save(tmp_path / "seen.npy", np.zeros(7, np.int64))
    np.save(tmp_path / "inner.npy", np.zeros(2, np.float64))
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 100, "x")]), LaneSpec(slices=[(50, 150, "x")])])
    assert range_statistics(trace, 0, 1000).wall.tolist() == [150]


def test_that_where_nothing_can_be_written_the_figures_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(coverage_cache, "written_whole", full)
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 100, "x")]), LaneSpec(slices=[(50, 150, "x")])])
    assert coverage_cache.stored_covered_until(trace).tolist() == [0, 100]
    assert range_statistics(trace, 0, 1000).wall.tolist() == [150]
    assert not list(tmp_path.glob("*.npy"))


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=12), st.integers(1, 400))
def test_that_pieces_hold_every_slice_once(gaps: list[tuple[int, int]], longest: int) -> None:
    edges = np.cumsum([0, *(edge for two in gaps for edge in two)])
    low, high = edges[0:-1:2], edges[1::2]
    parts = list(pieces(low, high, longest))
    assert sorted(i for edge in parts for i in _listed(edge)) == [
        i for a, b in zip(low.tolist(), high.tolist(), strict=True) for i in range(a, b)
    ]


def _listed(part: slice | np.ndarray) -> Iterator[int]:
    yield from range(part.start, part.stop) if isinstance(part, slice) else part.tolist()
