"""The pane of the tables: chosen, filtered, sorted and saved by clicking, and joined to the slices."""

from __future__ import annotations

import csv
import sqlite3
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from studio.texts import t
from tests.timeline.profile_data import RANK, SETS, profile
from tests.timeline.profile_folders import rank_folder
from tests.ui import looks
from tests.ui.timeline.clicks import (
    open_profile,
    page_of,
    press_key,
    trace_of,
)
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.texts import Language
    from ui.shell.window import Shell
    from ui.timeline.page import TimelinePage

LEFT, PLAIN = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


class TablesDriver:
    """On the pane of a profile that is open."""

    def __init__(self, qtbot: QtBot, page: TimelinePage) -> None:
        self.qtbot, self.page, self.pane = qtbot, page, page.panes.tables

    def come(self) -> TablesDriver:
        tabs = self.page.panes.tabs
        QTest.mouseClick(tabs, LEFT, PLAIN, tabs.tabRect(tabs.count() - 1).center())
        self.qtbot.waitUntil(lambda: self.pane.arranged is not None)
        return self

    def choose(self, title: str) -> None:
        names = self.pane.list.names
        item = next(names.item(row) for row in range(names.count()) if names.item(row).text() == title)
        if item is names.currentItem():
            return
        with self.qtbot.waitSignal(self.pane.arranged_anew):
            names.scrollToItem(item)
            QTest.mouseClick(names.viewport(), LEFT, PLAIN, names.visualItemRect(item).center())

    def next_rank(self) -> None:
        self.pane.list.ranks.setFocus()
        with self.qtbot.waitSignal(self.pane.arranged_anew):
            QTest.keyClick(self.pane.list.ranks, Qt.Key.Key_Down)

    def sort(self, column: str, times: int = 1) -> None:
        head = self.pane.view.horizontalHeader()
        at = self.heads.index(column)
        self.pane.view.scrollTo(self.pane.model.index(0, at))
        x = head.sectionViewportPosition(at) + head.sectionSize(at) // 2
        for _ in range(times):
            with self.qtbot.waitSignal(self.pane.arranged_anew):
                QTest.mouseClick(head.viewport(), LEFT, PLAIN, QPoint(x, 8))

    def filter(self, text: str) -> None:
        with self.qtbot.waitSignal(self.pane.arranged_anew):
            self.pane.filter.setText(text)

    def position_of(self, row: int, column: int = 0) -> QPoint:
        return self.pane.view.visualRect(self.pane.model.index(row, column)).center()

    def open_row(self, row: int) -> None:
        view = self.pane.view
        view.scrollTo(self.pane.model.index(row, 0))
        QTest.mouseClick(view.viewport(), LEFT, PLAIN, self.position_of(row))
        QTest.mouseDClick(view.viewport(), LEFT, PLAIN, self.position_of(row))

    @property
    def heads(self) -> list[str]:
        arranged = self.pane.arranged
        return [column.name for column in arranged.rows.columns] if arranged is not None else []

    def column(self, name: str) -> list[str]:
        model, at = self.pane.model, self.heads.index(name)
        return [str(model.index(row, at).data()) for row in range(model.rowCount())]

    def titles(self) -> list[str]:
        names = self.pane.list.names
        return [names.item(row).text() for row in range(names.count())]


def open_tables(qtbot: QtBot, shell: Shell, path: Path) -> TablesDriver:
    return TablesDriver(qtbot, open_profile(qtbot, shell, path)).come()


@pytest.fixture(params=SETS)
def text_profile(request: pytest.FixtureRequest) -> Path:
    return profile(f"{request.param}/{RANK}/text")


def test_that_the_longest_kernel_of_the_table_is_shown_in_the_lanes(
    qtbot: QtBot, shell: Shell, text_profile: Path
) -> None:
    driver = open_tables(qtbot, shell, text_profile)
    driver.choose("kernel_details.csv")
    driver.sort("Duration(us)", 2)
    durations = [float(cell) for cell in driver.column("Duration(us)")]
    assert durations == sorted(durations, reverse=True)
    driver.open_row(0)
    state, trace = driver.page.state, trace_of(driver.page)
    qtbot.waitUntil(lambda: state.selection.slice >= 0)
    index = state.selection.slice
    assert trace.name_text(int(trace.name[index])) == driver.column("Name")[0]
    assert (int(trace.end[index]) - int(trace.start[index])) / 1000 == pytest.approx(durations[0], abs=0.002)
    assert trace.meta.processes[trace.meta.lanes[trace.lane_of(index)].process].rank == 0
    assert driver.page.panes.current_tab == "tables"
    assert driver.page.tools.search.field.text() == driver.column("Name")[0]
    qtbot.waitUntil(lambda: index in state.hits.slices)


def test_that_a_row_without_a_time_lists_the_slices_of_its_name(qtbot: QtBot, shell: Shell, text_profile: Path) -> None:
    driver = open_tables(qtbot, shell, text_profile)
    driver.choose("api_statistic.csv")
    name = driver.column("API Name")[3]
    driver.open_row(3)
    qtbot.waitUntil(lambda: driver.page.panes.current_tab == "search")
    qtbot.waitUntil(lambda: len(driver.page.state.hits.slices) > 0)
    assert driver.page.tools.search.field.text() == name


def test_that_rows_are_filtered_counted_copied_and_saved(
    qtbot: QtBot, shell: Shell, tmp_path: Path, text_profile: Path
) -> None:
    driver = open_tables(qtbot, shell, text_profile)
    driver.choose("op_statistic.csv")
    count = len(driver.column("OP Type"))
    assert driver.pane.count.whole_text() == t("timeline.tables_pane.rows", count=count)
    driver.filter("matmul")
    types = driver.column("OP Type")
    assert 0 < len(types) < count
    assert all("matmul" in name.lower() for name in types)
    assert driver.pane.count.whole_text().startswith(t("timeline.tables_pane.found", count=len(types)))
    QTest.mouseClick(driver.pane.view.viewport(), LEFT, PLAIN, driver.position_of(0))
    press_key(driver.pane.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().split("\t")[0] == types[0]
    driver.pane.view.selectAll()
    press_key(driver.pane.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert [line.split("\t")[0] for line in QGuiApplication.clipboard().text().split("\n")] == types
    QTest.mouseClick(driver.pane.csv, LEFT)
    dialog = shell.findChild(QFileDialog)
    assert dialog is not None
    dialog.close()
    driver.pane.save(tmp_path / "out.csv")
    qtbot.waitUntil((tmp_path / "out.csv").exists)
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        head, *rows = csv.reader(file)
    assert (head, [row[0] for row in rows]) == (driver.heads, types)


def test_that_each_rank_has_its_own_tables(qtbot: QtBot, shell: Shell, text_profile: Path) -> None:
    driver = open_tables(qtbot, shell, text_profile)
    driver.choose("step_trace_time.csv")
    [free] = driver.column("Free")
    ranks = driver.pane.list.ranks
    assert [ranks.itemText(index) for index in range(ranks.count())] == ["Rank 0", "Rank 1"]
    driver.next_rank()
    assert driver.pane.list.sheet is not None
    assert (driver.pane.list.sheet.rank, driver.pane.list.sheet.title) == (1, "step_trace_time.csv")
    assert driver.column("Free") != [free]


def test_that_what_is_typed_while_a_table_is_read_counts(qtbot: QtBot, shell: Shell, text_profile: Path) -> None:
    driver = open_tables(qtbot, shell, text_profile)
    driver.choose("op_statistic.csv")
    driver.filter("matmul")
    driver.pane.list.names.setCurrentRow(0)
    assert driver.pane.arranged is None
    driver.pane.filter.setText("hcom_")
    qtbot.waitUntil(lambda: driver.pane.arranged is not None and len(driver.pane.arranged.order) == 4)
    assert driver.column("Type") == ["hcom_allReduce_"] * 4


def test_that_numbers_stand_right_and_texts_left(qtbot: QtBot, shell: Shell, text_profile: Path) -> None:
    driver = open_tables(qtbot, shell, text_profile)
    driver.choose("op_statistic.csv")
    model, role = driver.pane.model, Qt.ItemDataRole.TextAlignmentRole
    sides = {head: model.index(0, at).data(role) & Qt.AlignmentFlag.AlignRight for at, head in enumerate(driver.heads)}
    assert [head for head, side in sides.items() if not side] == ["OP Type", "Core Type"]


def test_that_an_analysis_alone_is_shown_by_its_tables(qtbot: QtBot, shell: Shell, text_profile: Path) -> None:
    path = text_profile.with_name("db") / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "analysis.db"
    page = page_of(shell)
    page.panes.toggle()
    shell.open_path(path)
    qtbot.waitUntil(lambda: page.opened is not None and page.panes.tables.arranged is not None)
    assert page.panes.current_tab == "tables"
    assert not page.panes.is_folded
    assert not page.view.isVisible()
    assert t("timeline.remark.tables_only") in page.notes.text()
    assert page.panes.tables.height() > 400
    driver = TablesDriver(qtbot, page)
    assert driver.titles()[0] == "CommAnalyzerBandwidth · analysis.db"
    driver.choose("StepTraceTime · analysis.db")
    assert driver.column("step") == ["50"]
    driver.open_row(0)
    open_profile(qtbot, shell, text_profile)
    assert page.view.isVisible()
    assert page.view.height() > 100


def test_that_a_trace_without_tables_says_how_to_get_them(qtbot: QtBot, shell: Shell) -> None:
    page = open_profile(qtbot, shell, profile("synthetic/torch_cpu/trace.json"))
    page.panes.show_tab("tables")
    qtbot.wait(50)
    assert page.panes.tables._hint.text.text() == t("timeline.tables_pane.none")
    assert page.panes.tables._hint.isVisible()


def test_that_a_table_that_is_gone_is_told(qtbot: QtBot, shell: Shell, tmp_path: Path) -> None:
    folder = rank_folder(tmp_path / "rank0_ascend_pt")
    driver = open_tables(qtbot, shell, folder)
    last = driver.titles()[-1]
    (folder / "ASCEND_PROFILER_OUTPUT" / last).unlink()
    driver.choose(last)
    assert driver.pane.problem is not None
    assert last in driver.pane.count.whole_text()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_that_nothing_is_cut_off_in_either_language(
    qtbot: QtBot, shell: Shell, language: Language, text_profile: Path
) -> None:
    driver = open_tables(qtbot, shell, text_profile)
    change_language(language)
    looks.settle()
    assert looks.faults(shell) == []
    assert driver.pane.filter.placeholderText() == t("timeline.tables_pane.filter")


def test_that_a_cluster_analysis_comes_behind_the_ranks(qtbot: QtBot, shell: Shell, tmp_path: Path) -> None:
    rank_folder(tmp_path / "rank0_ascend_pt")
    (tmp_path / "cluster_analysis_output").mkdir()
    with sqlite3.connect(tmp_path / "cluster_analysis_output" / "cluster_analysis.db") as base:
        base.execute("CREATE TABLE ClusterStepTraceTime (step TEXT, free REAL)")
        base.execute("INSERT INTO ClusterStepTraceTime VALUES ('1', 2.5)")
    base.close()
    driver = open_tables(qtbot, shell, tmp_path)
    ranks = driver.pane.list.ranks
    assert [ranks.itemText(index) for index in range(ranks.count())] == ["Rank 0", t("timeline.tables_pane.all_ranks")]
    driver.next_rank()
    assert driver.titles() == ["ClusterStepTraceTime · cluster_analysis.db"]
    assert driver.column("free") == ["2.5"]
