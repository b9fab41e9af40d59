"""The curves page, from an empty list to a real training that is watched, stopped, compared and thrown away."""

from __future__ import annotations

import math
import os
import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton

from backends.common.run_status import RunStatus
from backends.common.summary import from_note, summary_of
from backends.curves.related_runs import run_in_other_mode
from studio import run as runs
from studio import schema, texts
from studio.events import Ended, Finding, Journal, Metric, Note, Progress
from studio.series import Curves
from tests.prove.support.full_disk import small_disk
from tests.runs import write_worker
from tests.ui.curves.recording import recorded, spec_of
from ui.curves import page as page_module
from ui.curves.chart_grid import ChartGrid
from ui.curves.figures import line_text
from ui.widgets import theme
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.events import Event
    from ui.curves.page import CurvesPage
    from ui.services.session import Session

SUMMARY = {
    "recipe": "digits", "mode": "jit", "device": "cpu", "steps": 100, "compile_seconds": 2.0, "train_seconds": 4.0,
    "step_seconds": 0.04, "samples_per_second": 800.0, "metrics": {"loss": 0.25, "accuracy": 0.95},
}  # fmt: skip


def steps(n: int, loss: float = 1.0) -> list[Event]:
    return [Metric(time=10**18 + i * 10**7, step=i, values={"loss": loss / i, "lr": 0.1}) for i in range(1, n + 1)]


def button(page: CurvesPage, name: str) -> QPushButton:
    found = page.findChild(QPushButton, name)
    assert found is not None
    return found


def click(qtbot: QtBot, page: CurvesPage, name: str) -> None:
    qtbot.mouseClick(button(page, name), Qt.MouseButton.LeftButton)


def figure(page: CurvesPage, name: str) -> str:
    return page.content.figures.figures[name]._value.text()


def loaded(qtbot: QtBot, page: CurvesPage) -> None:
    qtbot.waitUntil(lambda: page.watcher is not None and page.watcher.is_loaded)


def drawn(page: CurvesPage, metric: str = "loss") -> list[int]:
    """How many points each line of a chart has."""
    chart = page.content.grid.charts.get(metric)
    return [len(line._curve.getData()[0]) for line in chart._drawn] if chart else []


def test_that_the_axis_of_a_few_steps_has_nothing_between_them(
    page: CurvesPage, session: Session, qtbot: QtBot
) -> None:
    recorded(session.folder, *steps(3), Ended(code=0))
    session.refresh_runs()
    qtbot.waitUntil(lambda: bool(page.content.grid.charts) and page.content.grid.isVisible())
    axis = next(iter(page.content.grid.charts.values()))._bottom
    ticks = [value for _, values in axis.tickValues(1, 3, 400) for value in values]
    assert sorted(ticks) == [1, 2, 3]
    assert all(spacing >= 1 for spacing, _ in axis.tickSpacing(1, 3, 2000))


def test_that_without_runs_it_leads_to_launch(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    assert page.stack.currentIndex() == 0
    with qtbot.waitSignal(session.page_requested) as wanted:
        click(qtbot, page, "curves_go_to_launch")
    assert wanted.args == ["launch"]


def test_that_a_finished_run_is_whole(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    recorded(session.folder, *steps(100), Progress(done=100, total=100, phase="train"),
             Metric(step=100, values={"accuracy": 0.95}), Note(key="launch.summary", args=SUMMARY), Ended(code=0),
             recipe="digits", mode="jit")  # fmt: skip
    session.refresh_runs()
    loaded(qtbot, page)
    qtbot.waitUntil(lambda: drawn(page) == [100] and drawn(page, "accuracy") == [1])
    assert page.chip.text() == "digits · @jit · Done"
    assert figure(page, "step") == "100 / 100"
    assert figure(page, "accuracy") == "95.0"
    assert page.content.learned.isVisible()
    assert page.content.times.isVisible()
    assert not page.content.reason.isVisible()
    assert "95.0 %" in page.content.learned._sentence.text()
    assert "PyNative" in page.content.times._sentence.text()


def test_that_a_failed_run_says_why(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    reason = Finding(rule="run.unknown_command", severity="error", args={"command": "fly"})
    run = recorded(session.folder, reason, Ended(code=1))
    run.log.write_text("Traceback (most recent call last):\nKeyError: 3\n")
    session.refresh_runs()
    loaded(qtbot, page)
    qtbot.waitUntil(page.content.reason.isVisible)
    assert page.content.reason._sentence.text() == texts.t("run.unknown_command", command="fly")
    click(qtbot, page, "curves.last_lines")
    assert "KeyError: 3" in page.content.reason._lines.text()
    assert page.content.reason._lines.isVisible()
    assert page.content.nothing.text() == texts.t("curves.no_points")


def test_that_an_unknown_reason_shows_the_log_and_no_raw_id(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    run = recorded(session.folder, Finding(rule="launch.from_the_future", severity="error"), Ended(code=137))
    run.log.write_text("boom\n")
    session.refresh_runs()
    loaded(qtbot, page)
    qtbot.waitUntil(page.content.reason.isVisible)
    assert page.content.reason._sentence.text() == "The training was ended by signal 9."
    assert page.content.reason._lines.isVisible()


def test_that_compiling_is_a_phase_with_its_time(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    story = RunStatus()
    now = time.time_ns()
    story.extend(1, 0, [Progress(time=now, done=0, total=50, phase="compile"), Note(time=now, key="launch.compiling")])
    glance = runs.Glance(state="running", values={})
    page.content.phase.show_status(story, glance)
    assert page.content.phase._phase.text().startswith("Compiling the graph (first step) · 0.")
    story.extend(1, 0, [Note(key="launch.compiled", args={"seconds": 2.5})])
    page.content.figures.show_status(story, Curves(), "digits")
    assert page.content.figures.figures["step_time"]._hint.whole_text() == "first step 2.5 s (compile)"


def test_that_what_is_no_number_is_marked(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    bad = [Metric(step=11, values={"loss": "NaN"}), Metric(step=12, values={"loss": "Infinity"})]
    warning = Finding(rule="launch.nan", severity="warning", args={"step": 11, "what": "loss", "value": "NaN"})
    recorded(session.folder, *steps(10), *bad, warning, Ended(code=0))
    session.refresh_runs()
    qtbot.waitUntil(lambda: drawn(page) == [12])
    marks = page.content.grid.charts["loss"]._drawn[0]._marks.points()
    assert [mark.data()[0] for mark in marks] == [11, 12]
    assert {mark.symbol() for mark in marks} == {"x", "t1"}


def test_that_ticked_runs_are_drawn_together(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    recorded(session.folder, *steps(20), Ended(code=0), mode="pynative")
    recorded(session.folder, *steps(30), Ended(code=0), mode="jit")
    session.refresh_runs()
    loaded(qtbot, page)
    view = page.run_list.view
    view.setFocus()
    other = 1 if view.currentIndex().row() == 0 else 0
    place = view.visualRect(page.run_list.model.index(other)).topLeft()
    place.setX(place.x() + 18)
    place.setY(place.y() + 27)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: sorted(drawn(page)) == [20, 30])
    assert {line.name for line in page.content.grid.charts["loss"]._lines} == {"@jit", "PyNative"}
    assert view.currentIndex().row() != other, "a tick chooses nothing"
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: len(drawn(page)) == 1)


def test_that_choosing_in_the_list_shows_the_run(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    first = recorded(session.folder, *steps(20), Ended(code=0), recipe="linear")
    session.refresh_runs()
    session.choose_run(first)
    other = recorded(session.folder, *steps(30), Ended(code=0), recipe="digits")
    session.refresh_runs()
    assert page.run is not None
    assert page.run.name == first.name
    row = page.run_list.model.row_of(other.name)
    place = page.run_list.view.visualRect(page.run_list.model.index(row)).center()
    qtbot.mouseClick(page.run_list.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert session.run is not None
    assert session.run.name == other.name
    qtbot.waitUntil(lambda: drawn(page) == [30])


def test_zoom_and_back(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    recorded(session.folder, *steps(1000), Ended(code=0))
    session.refresh_runs()
    qtbot.waitUntil(lambda: drawn(page) == [1000])
    span = page.content.grid.steps
    span.zoom(0.1, 500)
    qtbot.waitUntil(lambda: drawn(page) == [102])
    assert (round(span.begin), round(span.end)) == (450, 550)
    low, high = page.content.grid.charts["loss"]._box.viewRange()[1]
    assert low <= 1 / 550
    assert high < 0.01, "the heights fit what is in view"
    span.move(10_000)
    assert span.end == 1000
    click(qtbot, page, "curves.show_all")
    qtbot.waitUntil(lambda: drawn(page) == [1000])


def test_the_trash_with_undo_and_for_good(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    run = recorded(session.folder, *steps(3), Ended(code=0))
    session.refresh_runs()
    loaded(qtbot, page)
    click(qtbot, page, "curves.delete")
    assert not run.folder.exists()
    assert page.stack.currentIndex() == 0, "nothing is left to show, but the way back is"
    click(qtbot, page, "curves.undo")
    assert run.folder.exists()
    click(qtbot, page, "curves.delete")
    click(qtbot, page, "curves_empty_trash_alone")
    box = page.findChild(QMessageBox, "curves.empty_question")
    assert box is not None
    assert "1 run" in box.text()
    box.reject()
    assert runs.trashed(session.folder)
    click(qtbot, page, "curves_empty_trash_alone")
    box = next(one for one in page.findChildren(QMessageBox) if one.isVisible())
    next(one for one in box.buttons() if one.text() == texts.t("curves.empty_yes")).click()
    qtbot.waitUntil(lambda: not runs.trashed(session.folder))


def test_that_a_change_of_language_leaves_nothing_behind(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    recorded(session.folder, *steps(30), Note(key="launch.summary", args=SUMMARY), Ended(code=0))
    session.refresh_runs()
    qtbot.waitUntil(lambda: drawn(page) == drawn(page, "lr") == [30])
    change_language("zh")
    assert page.chip.text().endswith("已完成")
    assert page.content.grid.charts["lr"]._name.text() == "学习率"
    assert "识别正确率" in page.content.learned._sentence.text()
    theme.apply(QApplication.instance(), "dark")
    assert page.content.grid.charts["loss"].plot.backgroundBrush().color() == theme.color("surface")


def test_that_the_page_sees_a_damaged_line_and_says_so(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    run = recorded(session.folder, *steps(3), Ended(code=0))
    (path,) = (name for name in os.listdir(run.folder) if name.startswith("events."))
    with (run.folder / path).open("ab") as file:
        file.write(b'{"type":"metric","ti\n')
    session.refresh_runs()
    loaded(qtbot, page)
    qtbot.waitUntil(page.content.notice.isVisible)
    assert "1 damaged" in page.content.notice.text()


LOST_ARGS = {"points": 111, "first": 60, "last": 170, "why": "run.why.disk_full"}
LOST = Finding(rule="run.points_lost", severity="warning", args=LOST_ARGS)
LOST_SENTENCE = "111 points between step 60 and 170 could not be written: the disk was full."


def test_that_missing_points_are_told_while_it_runs_and_where_its_end_is_shown(
    qtbot: QtBot, page: CurvesPage, session: Session
) -> None:
    run = recorded(session.folder, *steps(3), LOST)
    write_worker(run.folder)
    session.refresh_runs()
    loaded(qtbot, page)
    qtbot.waitUntil(page.content.notice.isVisible)
    assert page.content.notice.text() == LOST_SENTENCE
    Journal(run.folder, 1).write(Ended(code=0))
    qtbot.waitUntil(lambda: LOST_SENTENCE in page.sentence.text())
    assert not page.content.notice.isVisible()


def test_that_the_losses_of_all_ranks_are_one_sentence(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    args = {**LOST_ARGS, "points": 9, "first": 62, "last": 180}
    other = Finding(rule="run.points_lost", severity="warning", args=args)
    recorded(session.folder, *steps(3), LOST, other, Ended(code=0))
    session.refresh_runs()
    loaded(qtbot, page)
    expected = "120 points between step 60 and 180 could not be written: the disk was full."
    qtbot.waitUntil(lambda: expected in page.sentence.text())


def test_that_a_full_disk_is_told_while_a_run_works(
    qtbot: QtBot, page: CurvesPage, session: Session, tmp_path: Path
) -> None:
    with small_disk(tmp_path) as disk:
        if disk is None:
            pytest.skip("mounting needs root")
        run = recorded(disk.runs, *steps(3))
        write_worker(run.folder)
        session.choose_run(run)
        qtbot.waitUntil(lambda: page.chip.text().endswith("Running"))
        assert not page.content.notice.isVisible()
        disk.fill()
        qtbot.waitUntil(lambda: "is full" in page.content.notice.text())
        disk.free()
        qtbot.waitUntil(lambda: not page.content.notice.isVisible())


def test_that_a_run_whose_folder_is_moved_away_does_not_run_for_ever(
    qtbot: QtBot, page: CurvesPage, session: Session, tmp_path: Path
) -> None:
    run = recorded(session.folder, *steps(3))
    write_worker(run.folder)
    session.refresh_runs()
    session.choose_run(run)
    qtbot.waitUntil(lambda: page.chip.text().endswith("Running"))
    run.folder.rename(tmp_path / "there")
    qtbot.waitUntil(lambda: page.chip.text().endswith("Folder gone"))
    qtbot.waitUntil(lambda: "moved or deleted" in page.sentence.text())
    session.refresh_runs()
    assert session.listed == []
    assert page.chip.text().endswith("Folder gone")


def test_that_a_long_run_is_read_in_slices(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    run = recorded(session.folder, Ended(code=0))
    line = '{"type":"metric","time":%d,"step":%d,"values":{"loss":%r}}\n'
    with (run.folder / "events.a1.r0.p1.jsonl").open("w") as file:
        file.writelines(line % (10**18 + i, i, 1 / i) for i in range(1, 100_001))
    session.refresh_runs()
    loaded(qtbot, page)
    assert page.watcher is not None
    assert len(page.watcher.curves.series[0, "loss"]) == 100_000
    qtbot.waitUntil(lambda: 0 < drawn(page)[0] < 10_000 if drawn(page) else False)


@pytest.mark.parametrize("mode", ["jit"])
def test_a_real_training_from_start_to_comparison(qtbot: QtBot, page: CurvesPage, session: Session, mode: str) -> None:
    recorded(session.folder, *steps(10), Note(key="launch.summary", args=SUMMARY | {"mode": "pynative"}), Ended(code=0),
             recipe="linear", mode="pynative")  # fmt: skip
    session.begin()
    run = session.start("launch", spec_of(recipe="linear", mode=mode, steps=200))
    assert run is not None
    qtbot.waitUntil(lambda: page.chip.text().endswith("Running"))
    assert button(page, "curves.stop").isVisible()
    qtbot.waitUntil(lambda: page.chip.text().endswith("Done"))
    qtbot.waitUntil(lambda: drawn(page) == [200] and drawn(page, "weight") == [200])
    assert not button(page, "curves.stop").isVisible()
    assert figure(page, "line").startswith(("y = 2.0", "y = 1.9"))
    summary = summary_of(run.folder)
    assert summary is not None
    assert abs(summary.metrics["weight"] - 2) < 0.1
    assert "times as" in page.content.times._sentence.text()


def test_that_stop_asks_first_and_then_stops(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    session.begin()
    run = session.start("launch", spec_of(recipe="linear", steps=1_000_000))
    assert run is not None
    qtbot.waitUntil(lambda: bool(drawn(page)) and drawn(page)[0] > 3)
    click(qtbot, page, "curves.stop")
    click(qtbot, page, "curves.keep_running")
    assert button(page, "curves.stop").isVisible()
    click(qtbot, page, "curves.stop")
    click(qtbot, page, "curves_stop_sure")
    assert button(page, "curves.end_now").isVisible()
    qtbot.waitUntil(lambda: page.chip.text().endswith("Stopped"))
    assert not button(page, "curves.end_now").isVisible()
    loaded_steps = page.watcher.curves.series[0, "loss"].steps if page.watcher else []
    assert loaded_steps[-1] == len(loaded_steps), "no point lost or doubled"


def test_that_damaged_notes_are_survived() -> None:
    odd = [{"metrics": [1], "steps": "x"}, {"metrics": {"loss": "NaN", "x": None}, "compile_seconds": "soon"}, {}]
    found = [from_note(args) for args in odd]
    assert math.isnan(found[1].metrics["loss"])
    assert found[1].compile_seconds == 0
    story = RunStatus()
    story.extend(1, 0, [Note(key="launch.compiled", args={"seconds": {}}), Progress(done=9, total=-3, phase="train")])
    assert story.fraction() == 0
    assert story.seconds_left() is None


def test_that_the_other_mode_is_the_last_finished_run_of_the_recipe(tmp_path: Path) -> None:
    glance = runs.Glance(state="ended", code=0, values={})
    mine, failed, other, older = (
        runs.create(tmp_path, "launch", schema.to_json(spec_of(recipe="digits", mode=mode)))
        for mode in ("jit", "pynative", "pynative", "pynative")
    )
    listed = [(mine, glance), (failed, runs.Glance(state="ended", code=1, values={})), (other, glance), (older, glance)]
    assert run_in_other_mode(mine, listed) is other
    assert run_in_other_mode(mine, listed[:2]) is None


def test_that_the_other_mode_is_not_looked_for_in_a_run_with_other_work_in_a_step(tmp_path: Path) -> None:
    glance = runs.Glance(state="ended", code=0, values={})
    mine = runs.create(tmp_path, "launch", schema.to_json(spec_of(recipe="digits", mode="jit")))
    for values in ({"batch": 8}, {"accumulate": 2}, {"amp": "O2"}, {"parallel": "data"}):
        spec = spec_of(recipe="digits", mode="pynative")
        for name, value in values.items():
            spec = schema.with_value(spec, name, value)
        other = runs.create(tmp_path, "launch", schema.to_json(spec))
        assert run_in_other_mode(mine, [(other, glance)]) is None


def test_how_a_line_is_written() -> None:
    assert line_text(1.996, 2.999) == "y = 2.00 x + 3.00"
    assert line_text(2, -3.5) == "y = 2 x − 3.50"


def test_that_a_chart_that_is_not_needed_any_more_leaves_the_grid_at_once(qtbot: QtBot) -> None:
    grid = ChartGrid()
    qtbot.addWidget(grid)
    for name in ("loss", "accuracy"):
        grid._make([*grid.charts, name])
    gone = grid.charts["accuracy"]
    grid._make(["loss"])
    assert gone.isHidden()
    assert [grid._grid.itemAt(place).widget() for place in range(grid._grid.count())] == [grid.charts["loss"]]


def test_that_nothing_is_drawn_while_nobody_looks(qtbot: QtBot, session: Session) -> None:
    grid = ChartGrid()
    qtbot.addWidget(grid)
    grid.draw()
    assert not grid.charts
    assert page_module.make_page(session) is not None
