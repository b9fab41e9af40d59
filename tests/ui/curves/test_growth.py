"""A run that is watched while it grows: what it costs, and that nothing of it is missing."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import numpy as np

from studio.series import Series
from tests.ui.curves.recording import recorded
from ui.curves import chart_grid
from ui.curves.chart_grid import ChartGrid, DrawnRun
from ui.services.watcher import RunWatcher
from ui.widgets.chart_lines import Line, run_style
from ui.widgets.charts import Chart
from ui.widgets.step_range import AHEAD, ViewRange

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot

    from studio.run import Run

LINE = '{"type":"metric","time":%d,"step":%d,"values":{"loss":%r,"lr":0.001}}\n'


def extend(run: Run, begin: int, end: int) -> None:
    with (run.folder / "events.a1.r0.p1.jsonl").open("a") as file:
        file.writelines(LINE % (10**18 + step, step, 1 / step) for step in range(begin, end))


def growing_chart(qtbot: QtBot) -> tuple[Chart, Series]:
    """A chart of a run that has 1000 steps and will have more."""
    steps, series = ViewRange(), Series()
    chart = Chart("loss", steps)
    qtbot.addWidget(chart)
    chart.resize(600, 300)
    chart.show()
    chart.show_lines([Line(name="", style=run_style(0), series=series)])
    add(chart, series, np.linspace(2.0, 1.0, 1000))
    return chart, series


def add(chart: Chart, series: Series, values: np.ndarray) -> list[list[float]]:
    """Draw further points; return the ranges of the picture."""
    series.extend(np.arange(len(series), len(series) + len(values)), values)
    chart._steps.set_whole(0, len(series) - 1, is_growing=True)
    chart.draw()
    ranges: list[list[float]] = chart._box.viewRange()
    return ranges


def test_that_a_growing_picture_moves_now_and_then_and_ends_where_the_run_ends() -> None:
    steps = ViewRange()
    moved = []
    steps.changed.connect(lambda: moved.append(steps.end))
    for end in range(1000, 1100):
        steps.set_whole(0, end, is_growing=True)
        assert end <= steps.end <= end * (1 + AHEAD)
    assert len(moved) < 10
    before = steps.begin, steps.end
    steps.move(10)
    steps.move(-10)
    assert (steps.begin, steps.end) == before, "all of it is in view: there is nothing to move"
    steps.set_whole(0, 1099)
    assert steps.end == 1099


def test_that_points_within_the_picture_leave_the_axes_as_they_are(qtbot: QtBot) -> None:
    chart, series = growing_chart(qtbot)
    before = chart._box.viewRange()
    assert add(chart, series, np.full(10, 1.0)) == before
    assert len(chart._drawn[0]._curve.getData()[0]) == 1010
    assert add(chart, series, np.full(1000, 1.0)) != before


def test_that_a_spike_is_in_the_picture_at_once(qtbot: QtBot) -> None:
    chart, series = growing_chart(qtbot)
    heights = add(chart, series, np.array([1.0, 50.0, 1.0]))[1]
    assert heights[1] > 50
    assert max(chart._drawn[0]._curve.getData()[1]) == 50


def test_that_growth_by_less_than_a_pixel_waits_for_more(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chart_grid, "FRAME", 1)
    monkeypatch.setattr(chart_grid, "SLOW_FRAME", 10**8)
    run = recorded(tmp_path / "runs")
    extend(run, 1, 100_001)
    watcher, grid = RunWatcher(), ChartGrid()
    qtbot.addWidget(grid)
    grid.resize(800, 600)
    grid.show_runs([DrawnRun("", 0, watcher)])
    watcher.watch(run)
    grid.show_runs([DrawnRun("", 0, watcher)])
    qtbot.waitUntil(lambda: watcher.is_loaded)
    grid.show()
    qtbot.waitUntil(lambda: len(grid.charts) == 2 and not grid._timer.isActive())
    drawn = grid.charts["loss"]._drawn[0]._curve
    extend(run, 100_001, 100_011)
    qtbot.waitUntil(lambda: watcher.status.step == 100_010)
    grid.draw_growth()
    assert grid._timer.remainingTime() > 10**7
    extend(run, 100_011, 102_001)
    qtbot.waitUntil(lambda: watcher.status.step == 102_000)
    grid.draw_growth()
    qtbot.waitUntil(lambda: drawn.getData()[0][-1] > 101_000)
    watcher.close()


def test_that_memory_does_not_grow_with_the_run_that_is_watched(qtbot: QtBot, tmp_path: Path) -> None:
    run = recorded(tmp_path / "runs")
    extend(run, 1, 10_001)
    watcher = RunWatcher()
    watcher.watch(run)
    qtbot.waitUntil(lambda: watcher.is_loaded)
    tracemalloc.start()
    extend(run, 10_001, 20_001)
    qtbot.waitUntil(lambda: watcher.status.step == 20_000)
    before, _ = tracemalloc.get_traced_memory()
    extend(run, 20_001, 210_001)
    qtbot.waitUntil(lambda: watcher.status.step == 210_000)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(watcher.curves.series[0, "loss"]) == 210_000
    assert after - before < 1_000_000, "380,000 points take 6 MB"
    watcher.close()
