"""What the lines of a chart mean: one colour and marker, one run or rank; no value where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QFontMetrics

from studio.events import Ended, Journal, Metric
from studio.series import Series
from studio.texts import t
from tests.ui.curves.recording import recorded
from ui.curves.page import CurvesPage
from ui.widgets.chart_legend import Entry, Legend
from ui.widgets.chart_lines import Line, is_connected, is_sparse, rank_styles, run_style
from ui.widgets.charts import NO_VALUE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session
    from ui.widgets.charts import Chart


@pytest.fixture
def page(qtbot: QtBot, session: Session) -> CurvesPage:
    page = CurvesPage(session)
    qtbot.addWidget(page)
    page.resize(1280, 800)
    page.show()
    return page


def losses(folder: Path, name: str, steps: Sequence[int], value: float, **values: float) -> None:
    """Write the events of a process by hand, as a rank leaves them."""
    metric = '{{"type":"metric","time":1,"step":{},"values":{{"loss":{}}}}}\n'
    (folder / f"events.a1.{name}.jsonl").write_text("".join(metric.format(step, value) for step in steps))


def parallel(session: Session, ranks: int = 2, steps: int = 20) -> Run:
    run = recorded(session.folder)
    for rank in range(ranks):
        losses(run.folder, f"r{rank}.p{rank + 10}", range(1, steps + 1), 1.0 + rank)
    Journal(run.folder, 1).write(Ended(code=0))
    return run


def charted(qtbot: QtBot, page: CurvesPage, session: Session, *runs: Run) -> Chart:
    session.refresh_runs()
    session.choose_run(runs[0])
    for run in runs[1:]:
        page.run_list.model.tick(run.name, on=True)
    watchers = page.drawn.watchers
    qtbot.waitUntil(lambda: len(watchers) == len(runs) and all(watcher.is_loaded for watcher in watchers.values()))
    qtbot.waitUntil(lambda: "loss" in page.content.grid.charts)
    page.content.grid.draw()
    return page.content.grid.charts["loss"]


def test_that_no_two_lines_have_one_colour_and_marker(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    """Rank 1 of the chosen run had the colour and the marker of the next run."""
    runs = [parallel(session), parallel(session, ranks=4), recorded(session.folder, Metric(step=1, values={"loss": 3}))]
    chart = charted(qtbot, page, session, *runs)
    styles = [line.style for line in chart._lines]
    assert len(styles) == 3 + 5 + 1
    assert len({(style.color, style.shape) for style in styles}) == len(styles)


def test_that_the_styles_of_seven_runs_with_six_ranks_are_all_different() -> None:
    pairs = set()
    for number in range(7):
        ranks = rank_styles(number)
        pairs |= {(style.color, style.shape) for style in (run_style(number), *(next(ranks) for _ in range(6)))}
    assert len(pairs) == 49


def test_that_the_mean_over_ranks_comes_first_and_the_tile_says_so(
    qtbot: QtBot, page: CurvesPage, session: Session
) -> None:
    chart = charted(qtbot, page, session, parallel(session))
    names = [line.name for line in chart._lines]
    assert names == [t("curves.mean_of_ranks", n=2), "rank 0", "rank 1"]
    assert chart._lines[0].series.point(-1) == (20, 1.5)
    page._show_run()
    tile = page.content.figures.figures["loss"]
    assert t("curves.mean_of_ranks", n=2) in tile._hint.text()


def test_that_processes_that_claim_one_rank_are_two_lines(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    run = recorded(session.folder)
    losses(run.folder, "r0.p10", range(1, 21), 1.0)
    losses(run.folder, "r0.p11", range(1, 21), 3.0)
    chart = charted(qtbot, page, session, run)
    assert [set(line.series.values.tolist()) for line in chart._lines] == [{1.0}, {3.0}]
    assert chart._lines[1].name == t("curves.process", rank=0, pid=11)


def test_that_the_pointer_reads_no_value_where_a_run_has_none(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    short, long = recorded(session.folder), recorded(session.folder)
    losses(short.folder, "r0.p10", range(1, 21), 1.0)
    losses(long.folder, "r0.p11", range(1, 201), 3.0)
    chart = charted(qtbot, page, session, long, short)
    page.content.grid.steps.point_at(149)
    assert [entry.value for entry in chart._legend._entries] == ["3", NO_VALUE]
    page.content.grid.steps.point_at(10)
    assert NO_VALUE not in [entry.value for entry in chart._legend._entries]


@pytest.mark.parametrize("count", [2, 4, 9, 40])
def test_that_a_legend_never_drops_an_entry(qtbot: QtBot, count: int) -> None:
    legend = Legend()
    qtbot.addWidget(legend)
    legend.resize(160, 28)
    entries = [Entry(style=run_style(n), name=f"a long name {n}", value=f"{n}.12345") for n in range(count)]
    legend.show_entries(entries, "step 7")
    texts, left_out = legend.visible(QFontMetrics(legend.font_of_text()))
    assert len(texts) + left_out == count
    assert left_out > 0 or count < 4
    for entry in entries:
        assert entry.name in legend.toolTip()
        assert entry.name in legend.accessibleName()
    legend.grab()


def series_of(*steps: int) -> Series:
    series = Series()
    series.extend(steps, [1.0] * len(steps))
    return series


def test_that_a_norm_taken_now_and_then_is_points(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    """Three values of 135 steps, joined, looked like a decay over all of them."""
    norms = [Metric(step=step, values={"loss": 1.0, **({"grad_norm": 9.0} if step in (1, 2, 135) else {})})
             for step in range(1, 136)]  # fmt: skip
    run = recorded(session.folder, *norms, Ended(code=0))
    charted(qtbot, page, session, run)
    qtbot.waitUntil(lambda: "grad_norm" in page.content.grid.charts)
    page.content.grid.draw()
    chart = page.content.grid.charts["grad_norm"]
    (drawn,) = chart._drawn
    assert not drawn._curve.isVisible()
    assert list(drawn._shapes.getData()[0]) == [1.0, 2.0, 135.0]
    assert not chart._sampled.isHidden()
    assert "3" in chart._sampled.toolTip()
    assert page.content.grid.charts["loss"]._sampled.isHidden()
    page.content.grid.steps.point_at(120)
    assert chart._legend._entries[0].value == t("curves.value_of_step", value="9", step=135)


def test_that_two_evaluations_are_points_and_even_ones_are_joined() -> None:
    assert is_sparse(series_of(20, 40))
    assert not is_connected(series_of(20, 40).steps.astype(float))
    regular = series_of(*range(10, 200, 10))
    assert is_sparse(regular)
    assert is_connected(regular.steps.astype(float))
    assert not is_sparse(series_of(*range(1, 100)))


def test_that_an_earlier_run_has_no_value_before_its_first_step() -> None:
    line = Line(name="", style=run_style(0), series=series_of(5, 6, 7))
    assert (line.nearest(4), line.nearest(8), line.last()) == (None, None, (7, 1.0))
