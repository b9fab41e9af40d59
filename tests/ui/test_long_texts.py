"""No text from outside makes a page wider than the window, nor hides a part of itself, on any page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from backends.launch.own.spec import OwnSpec
from backends.launch.spec import LaunchSpec
from backends.migration.official.opinion import Opinion, OpinionRow
from studio.errors import StudioError
from tests.ui import long_texts
from tests.ui.long_texts import NAME, PATH, spec_with
from tests.ui.looks import out_of_view, settle, shown, texts_of
from ui.migration.views import CHANGES, FINDINGS, OVERVIEW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytestqt.qtbot import QtBot

    from ui.shell.window import Shell

SIZES = ((1280, 800), (1000, 700))


def check(shell: Shell, what: str) -> None:
    settle()
    assert not out_of_view(shell), what


@pytest.fixture(params=SIZES, ids=str)
def window(shell: Shell, request: pytest.FixtureRequest) -> Iterator[Shell]:
    shell.resize(*request.param)
    yield shell
    assert (shell.width(), shell.height()) == request.param


def test_that_curves_and_home_stay_in_the_window(qtbot: QtBot, window: Shell, tmp_path: Path) -> None:
    project = long_texts.project_in(tmp_path, "trained")
    found = long_texts.curves_runs(project)
    window.session.open_project(project)
    page = window.page_widget("curves")
    for name, run in found.items():
        window.session.choose_run(run)
        qtbot.waitUntil(lambda run=run: page.run == run and page.watcher.is_loaded)
        if name in ("200", "20k", "1m", "no-end", "explained"):
            qtbot.waitUntil(page.content.reason.isVisible)
            page.content.reason._open(True)
            assert page.content.reason._lines.text().strip()
        if name in ("explained", "done", "running"):
            qtbot.waitUntil(lambda: len(page.content.grid.charts) == 4)
        check(window, name)
        assert not [text for widget in shown(window) for text in texts_of(widget) if {"\x1b", "\u202e"} & set(text)]
    window.show_page("home")
    check(window, "home")


def test_that_a_message_and_the_recipes_of_launch_stay_in_the_window(window: Shell, tmp_path: Path) -> None:
    project = long_texts.project_in(tmp_path, "launched")
    window.session.open_project(project)
    window.session.trouble.emit(StudioError("error.file", path=PATH, reason=NAME))
    page = window.page_widget("launch")
    values = {"recipe": "own", "recipe_file": Path(PATH), "resume": Path(PATH), "env": ((NAME, NAME),)}
    page.form.set_spec(spec_with(LaunchSpec(), **values))
    check(window, "recipe")


def test_that_scripts_of_launch_stay_in_the_window(qtbot: QtBot, window: Shell, tmp_path: Path) -> None:
    project = long_texts.project_in(tmp_path, "scripted")
    lines = long_texts.scripts(project)
    window.session.open_project(project)
    page = window.page_widget("launch")
    page.show_own()
    own = page.own()
    qtbot.waitUntil(lambda: bool(own.interpreters.rows))
    for name, line in lines.items():
        own.form.set_spec(spec_with(OwnSpec(), workdir=project, line=line, env=((NAME, NAME),)))
        if name in ("options", "globals", "script", "config"):
            qtbot.waitUntil(lambda: bool(own.options.boxes))
        check(window, name)


def test_that_migration_stays_in_the_window(qtbot: QtBot, window: Shell, tmp_path: Path) -> None:
    project = long_texts.project_in(tmp_path, "migrated")
    long_texts.scanned(project)
    window.session.open_project(project)
    page = window.page_widget("migration")
    qtbot.waitUntil(lambda: window.session.refresh_runs() or page.scan is not None)
    page.tabs.setCurrentIndex(FINDINGS)
    for row in range(0, len(page.findings.findings.rows), 3):
        page.findings.go_to(row)
        check(window, f"finding {row}")
    page.tabs.setCurrentIndex(OVERVIEW)
    rows = (OpinionRow(table="unsupported_api", path=PATH, line=1, end=1, name=NAME, tips=NAME),)
    page.overview.show_opinion(Opinion(version=NAME, rows=rows, matched=1, unmatched=2, unmentioned=3))
    check(window, "overview")
    page.tabs.setCurrentIndex(CHANGES)
    page.changes.choose_style("explicit")
    page.changes.make_plan()
    qtbot.waitUntil(lambda: page.changes.plan is not None)
    check(window, "changes")


def test_that_precision_stays_in_the_window(qtbot: QtBot, window: Shell, tmp_path: Path) -> None:
    project = long_texts.project_in(tmp_path, "compared")
    long_texts.compared(project)
    window.session.open_project(project)
    page = window.page_widget("precision")
    qtbot.waitUntil(lambda: window.session.refresh_runs() or page.compare.loaded is not None)
    qtbot.waitUntil(lambda: len(page.views._captures) == 2)
    page.compare.show_sides()
    page.compare.sides.show_pair(*page.views._captures)
    check(window, "sides")
    page.compare.show_result()
    page.compare.result_view.go_to_first()
    for tab in range(page.compare.result_view.tabs.count()):
        page.compare.result_view.tabs.setCurrentIndex(tab)
        check(window, f"result {tab}")
    for tab in range(1, page.tabs.count()):
        page.tabs.setCurrentIndex(tab)
        check(window, f"tab {tab}")


def test_that_timeline_stays_in_the_window(qtbot: QtBot, window: Shell, tmp_path: Path) -> None:
    trace = long_texts.profile(tmp_path / "profile")
    page = window.page_widget("timeline")
    page.open(trace)
    qtbot.waitUntil(lambda: page.opened is not None)
    page.state.selection.select(3)
    for tab in ("slice", "range", "tables", "notes"):
        page.panes.show_tab(tab)
        check(window, tab)
