from __future__ import annotations

import gc
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from backends.timeline.kinds import FAMILIES
from tests.timeline.memory_traces import Figures, LaneSpec, trace_of
from ui.timeline.drawing import colors, pixel_rows
from ui.timeline.drawing.counter_areas import (
    area_of,
    bounds_of,
    figure_text,
    paint_area,
    value_at,
)
from ui.timeline.drawing.frame import (
    LEVELS,
    PlacedRow,
    draw_pixel_rows,
    edges_of,
    paint,
    shade_begins,
    slice_columns,
)
from ui.timeline.drawing.labels import MIN_WIDTH, wide_slices
from ui.widgets import theme

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QColor

    from backends.timeline.trace import Trace
    from ui.timeline.drawing.frame import DrawPixelRows

WIDTH = 60
SLICES = st.lists(st.tuples(st.integers(0, 900), st.integers(0, 60)), min_size=1, max_size=40)
FAR = 3 * 10**17
FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def compiled() -> DrawPixelRows:
    pytest.importorskip("numba")
    compiled = pixel_rows.load_numba()
    assert compiled is not None
    return compiled


def trace_of_pairs(folder: Path, pairs: list[tuple[int, int]], shift: int = 0) -> Trace:
    slices = [(start + shift, start + shift + length, f"op {start % 7}") for start, length in pairs]
    return trace_of(folder, [LaneSpec(slices=slices)])


def drawn(
    trace: Trace, begin: float, end: float, draw: DrawPixelRows = draw_pixel_rows, width: int = WIDTH, offset: int = 0
) -> np.ndarray:
    rows = np.arange(len(trace.row_begin) - 1)
    shades = shade_begins(colors.shades_of(trace))
    offsets = np.full(len(rows), offset)
    return draw(slice_columns(trace), rows, offsets, edges_of(begin, end, width), shades, colors.table("light"))


def filled_columns(trace: Trace, row: int, begin: float, end: float, width: int = WIDTH) -> np.ndarray:
    """Slice by slice and column by column: whether something lies or begins there."""
    edges = edges_of(begin, end, width)
    at = edges.rel
    covered = np.zeros(width, bool)
    for index in range(int(trace.row_begin[row]), int(trace.row_begin[row + 1])):
        start, behind = int(trace.start[index]) - edges.base, int(trace.end[index]) - edges.base
        for x in range(width):
            overlaps = min(behind, at[x + 1]) > max(start, at[x])
            covered[x] |= bool(overlaps or at[x] <= start < at[x + 1])
    return covered


@FEW
@given(SLICES, st.integers(-50, 800), st.sampled_from([7, 40, 60, 333, 1000]))
@example([(256, 0)], 6, 1000)  # at the very border of two columns
def test_that_a_column_is_empty_exactly_where_nothing_is(
    tmp_path: Path, pairs: list[tuple[int, int]], begin: int, span: int
) -> None:
    trace = trace_of_pairs(tmp_path, pairs)
    pixels = drawn(trace, begin, begin + span)
    for row in range(len(pixels)):
        assert ((pixels[row] != 0) == filled_columns(trace, row, begin, begin + span)).all()


@FEW
@given(SLICES, st.floats(-50, 800), st.floats(3, 1500), st.integers(-20, 20))
def test_that_numba_paints_the_same_picture(
    tmp_path: Path, compiled: DrawPixelRows, pairs: list[tuple[int, int]], begin: float, span: float, offset: int
) -> None:
    trace = trace_of_pairs(tmp_path, pairs)
    shifted = drawn(trace, begin, begin + span, offset=offset)
    other = drawn(trace, begin, begin + span, compiled, offset=offset)
    assert (shifted == other).all()


def test_that_many_slices_to_a_column_are_the_same_in_numba(tmp_path: Path, compiled: DrawPixelRows) -> None:
    pairs = [(at * 3, at % 4) for at in range(5000)]
    trace = trace_of_pairs(tmp_path, pairs)
    for begin, end in ((0, 15000), (-400, 900), (14000, 16000), (0, 2e6)):
        assert (drawn(trace, begin, end) == drawn(trace, begin, end, compiled)).all()


@pytest.mark.parametrize("to_a_column", [1, 3, 15, 16, 17, 33, 200])
def test_that_blocks_of_slices_are_counted_as_one_by_one(
    tmp_path: Path, compiled: DrawPixelRows, to_a_column: int
) -> None:
    pairs = [(at * 10 + at % 3, (at * 7) % 11) for at in range(to_a_column * WIDTH)]
    trace = trace_of_pairs(tmp_path, pairs)
    for begin, end in ((0, 10 * len(pairs)), (-3.5, 9.3 * len(pairs)), (5 * len(pairs), 30 * len(pairs))):
        assert (drawn(trace, begin, end) == drawn(trace, begin, end, compiled)).all()


def test_that_nobody_looks_for_garbage_among_what_numba_makes() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    used: list[list[int]] = []
    try:
        with pixel_rows._unsearched():
            assert gc.get_threshold()[0] > 10**9
            used += [[number] for number in range(5000)]
        assert gc.get_threshold() == before
        assert gc.get_freeze_count() >= frozen + len(used)
    finally:
        gc.unfreeze()


def test_that_a_slice_without_length_is_one_full_pixel(tmp_path: Path) -> None:
    trace = trace_of_pairs(tmp_path, [(0, 0), (500, 0)])
    pixels = drawn(trace, -10, 990)[0]
    assert np.flatnonzero(pixels).tolist() == [0, 30]
    assert all(int(color) in colors.table("light")[:, LEVELS] for color in pixels[[0, 30]])


def test_that_a_nanosecond_is_as_wide_as_it_is_far_from_the_origin(tmp_path: Path) -> None:
    trace = trace_of_pairs(tmp_path, [(0, 10), (20, 1)], FAR)
    edges = edges_of(0.0, 60.0, WIDTH)
    moved = type(edges)(base=edges.base + FAR, rel=edges.rel, cuts=edges.cuts + FAR, per_column=edges.per_column)
    zero = np.zeros(1, np.int64)
    pixels = draw_pixel_rows(
        slice_columns(trace), zero, zero, moved, shade_begins(colors.shades_of(trace)), colors.table("light")
    )[0]
    assert np.flatnonzero(pixels).tolist() == [*range(10), 20]


def test_that_less_covered_columns_are_paler(tmp_path: Path) -> None:
    table = colors.table("light")
    trace = trace_of_pairs(tmp_path, [(0, 10), (100, 5)])
    pixels = drawn(trace, 0, 600)[0]
    assert pixels[0] in table[:, LEVELS]
    assert pixels[10] in table[:, LEVELS // 2]


def test_that_wide_neighbours_are_told_apart_by_a_seam(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 300, "one"), (300, 600, "one")])])
    pixels = drawn(trace, 0, 600)[0]
    assert pixels[29] == pixels[31] != pixels[30] != 0


def test_that_an_offset_moves_a_row(tmp_path: Path) -> None:
    trace = trace_of_pairs(tmp_path, [(100, 50)])
    assert (drawn(trace, 0, 600, offset=100)[0][20:25] != 0).all()
    assert (drawn(trace, 0, 600, offset=100)[0][10:15] == 0).all()


def test_that_rows_over_each_other_show_the_last_on_top(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 600, "whole"), (200, 300, "part")])])
    image = np.zeros((4, WIDTH), np.uint32)
    placed = [PlacedRow(row=0, offset=0, top=1, height=2), PlacedRow(row=1, offset=0, top=1, height=2, is_over=True)]
    background = np.full(WIDTH, 7, np.uint32)
    shades, table = shade_begins(colors.shades_of(trace)), colors.table("light")
    owners = paint(image, background, placed, slice_columns(trace), edges_of(0, 600, WIDTH), shades, table)
    assert (image[0] == 7).all()
    assert (image[3] == 7).all()
    assert owners[0].tolist() == [0] * 20 + [1] * 10 + [0] * 30


def test_that_a_covered_slice_has_its_name_where_it_is_seen(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [LaneSpec(slices=[(0, 600, "whole"), (0, 200, "part")])])
    placed = [PlacedRow(row=0, offset=0, top=0, height=20), PlacedRow(row=1, offset=0, top=0, height=20, is_over=True)]
    edges = edges_of(0, 600, 600)
    owners = {0: np.repeat([1, 0], [200, 400])}
    wide = wide_slices(slice_columns(trace), placed, [0, 1], edges, owners)
    assert sorted(zip(wide.position.tolist(), wide.left.tolist(), wide.right.tolist(), strict=True)) == [
        (0, 200.0, 600.0),
        (1, 0.0, 200.0),
    ]


@FEW
@given(SLICES)
def test_that_every_wide_slice_is_found_for_a_name(tmp_path: Path, pairs: list[tuple[int, int]]) -> None:
    trace = trace_of_pairs(tmp_path, pairs)
    rows = len(trace.row_begin) - 1
    placed = [PlacedRow(row=row, offset=0, top=row * 20, height=19) for row in range(rows)]
    edges = edges_of(0.0, 400.0, 400)
    wide = wide_slices(slice_columns(trace), placed, list(range(rows)), edges, {})
    left, right = np.clip(trace.start, 0, 400), np.clip(trace.end, 0, 400)
    assert sorted(wide.index.tolist()) == np.flatnonzero(right - left >= MIN_WIDTH).tolist()


def counter(folder: Path, samples: list[tuple[int, float]]) -> Trace:
    return trace_of(
        folder, [LaneSpec(slices=[(0, 1000, "op")])], series=[Figures(name="HBM", unit="B", samples=samples)]
    )


def test_that_a_counter_holds_until_the_next_sample(tmp_path: Path) -> None:
    trace = counter(tmp_path, [(100, 5.0), (350, 1.0), (360, 9.0), (500, 2.0)])
    area = area_of(trace, trace.meta.series[0], edges_of(0, 1000, 10))
    assert np.isnan(area.low[0])
    assert area.low[1:].tolist() == [5, 5, 1, 9, 2, 2, 2, 2, 2]
    assert area.high[1:].tolist() == [5, 5, 9, 9, 9, 2, 2, 2, 2]
    assert value_at(trace, trace.meta.series[0], 99) is None
    assert value_at(trace, trace.meta.series[0], 355) == 1.0


def test_that_figures_that_are_none_leave_a_gap(tmp_path: Path) -> None:
    trace = counter(tmp_path, [(0, float("nan")), (500, float("inf")), (700, 3.0)])
    area = area_of(trace, trace.meta.series[0], edges_of(0, 1000, 10))
    assert np.isnan(area.low[:7]).all()
    part = np.zeros((40, 10), np.uint32)
    paint_area(part, area, (0.0, 3.0), 1, 2)
    assert (part[:, :7] == 0).all()
    assert (part[-1, 7:] != 0).all()


def test_that_figures_are_written_without_powers_of_ten() -> None:
    assert figure_text(22340.5, "MB/s") == "22,340 MB/s"
    assert figure_text(0.1234567, "V") == "0.1235 V"
    assert figure_text(1650.0, "MHz") == "1,650 MHz"
    assert figure_text(2.5e9, "Hz") == "2.5 GHz"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (2.164e6, "KB", "2.164 GB"), (2.41e6, "KB", "2.41 GB"), (3.2e6, "MB/s", "3.2 TB/s"),
        (1.65e6, "MHz", "1.65 THz"),
        (1.2e6, "kHz", "1.2 GHz"), (5e6, "", "5 M"), (2.5e6, "us", "2,500,000 us"), (7e6, "%", "7,000,000 %"),
        (-2.164e6, "KB", "-2.164 GB"), (3e9, "B", "2.794 GiB"), (12e3, "KB", "12,000 KB"),
    ],
)  # fmt: skip
def test_that_a_unit_has_one_prefix(value: float, unit: str, text: str) -> None:
    assert figure_text(value, unit) == text


def test_that_a_counter_without_spread_has_a_height(tmp_path: Path) -> None:
    trace = counter(tmp_path, [(0, 0.0)])
    low, high = bounds_of(trace.meta.series[0])
    assert high > low


@pytest.mark.parametrize("name", ["light", "dark"])
def test_that_names_can_be_read_on_every_shade(name: str) -> None:
    for fill, ink in zip(colors.fills(name), colors.texts(name), strict=True):
        assert colors.contrast(fill, ink) >= 4.5, (fill.name(), ink.name())


def test_that_a_name_has_the_same_colour_in_every_trace(tmp_path: Path) -> None:
    first = trace_of(tmp_path, [LaneSpec(slices=[(0, 1, "aclnnMatMul"), (2, 3, "中文"), (4, 5, "")])])
    (tmp_path / "b").mkdir()
    other = trace_of(tmp_path / "b", [LaneSpec(slices=[(0, 1, "x"), (2, 3, "中文"), (4, 5, "aclnnMatMul")])])
    shades, others = colors.shades_of(first), colors.shades_of(other)
    assert shades[0] == others[2]
    assert shades[1] == others[1]


# Machado, Oliveira, Fernandes (2009), A Physiologically-based Model for Simulation of Color Vision Deficiency
COLOUR_BLINDNESS = {
    "everybody": np.eye(3),
    "protanopia": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "deuteranopia": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
    "tritanopia": np.array([[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]]),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(color: QColor, matrix: np.ndarray) -> np.ndarray:
    parts = np.array([color.redF(), color.greenF(), color.blueF()])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(matrix @ linear, 0, 1) / np.array([0.9505, 1, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("matrix", COLOUR_BLINDNESS.values(), ids=COLOUR_BLINDNESS)
@pytest.mark.parametrize("name", ["light", "dark"])
def test_that_families_are_told_apart_also_by_the_colour_blind(name: str, matrix: np.ndarray) -> None:
    labs = {family: [lab(colors.shade(family, n, name), matrix) for n in range(colors.SHADES)] for family in FAMILIES}
    for first, other in combinations(FAMILIES, 2):
        apart = min(float(np.linalg.norm(a - b)) for a in labs[first] for b in labs[other])
        never_alike = {first, other} <= {"compute", "communication", "free", "memory"}
        assert apart >= (12 if never_alike else 5), (first, other, apart)


def test_that_shades_are_made_for_both_themes() -> None:
    assert set(colors.BASE) == set(theme.TOKENS)
    assert all(set(families) == set(FAMILIES) for families in colors.BASE.values())
