"""Shapes and a waiting debugger on the curves page, and the button that asks for shapes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from backends.launch.shapes.answer import FILE
from backends.launch.spec import LaunchSpec
from studio import run as runs
from studio import schema
from studio.events import Ended, Journal, Note, Progress
from ui.launch.page import LaunchPage
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    import pytest
    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.curves.page import CurvesPage
    from ui.services.session import Session


def tensor(*shape: int) -> dict[str, Any]:
    return {"shape": shape, "dtype": "float16"}


CELLS = [
    {"name": "", "type": "Network", "inputs": [tensor(4, 64)], "outputs": [tensor(4, 9)], "calls": 1,
     "parameters": 0, "trainable": 0},
    {"name": "head.dense", "type": "Dense", "inputs": [tensor(4, 64)], "outputs": [tensor(4, 9)], "calls": 2,
     "parameters": 12480, "trainable": 12470},
    {"name": "unused", "type": "Dense", "inputs": [], "outputs": [], "calls": 0, "parameters": 5, "trainable": 5},
]  # fmt: skip


def made(session: Session, command: str) -> Run:
    session.folder.mkdir(parents=True, exist_ok=True)
    run: Run = runs.create(session.folder, command, schema.to_json(LaunchSpec()))
    return run


def test_that_shapes_are_a_table_that_can_be_copied(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    run = made(session, "shapes")
    facts = {"recipe": "own", "device": "cpu", "batch": 4, "amp": "O1", "inside": "float16"}
    (run.folder / FILE).write_text(json.dumps({**facts, "parameters": 12485, "trainable": 12475, "cells": CELLS}))
    Journal(run.folder, 1).write(Ended(code=0))
    session.refresh_runs()
    card = page.content.answers.card("shapes")
    qtbot.waitUntil(card.isVisible)
    assert "12,485" in card.sentence.text()
    assert "At level O1 operators compute in float16" in card.sentence.text()
    rows = [[card.table.item(row, column).text() for column in range(6)] for row in range(card.table.rowCount())]
    assert rows[0] == ["(network)", "Network", "float16 4x64", "float16 4x9", "", ""]
    assert rows[1][0].strip() == "head.dense"
    assert rows[1][1:] == ["Dense x 2", "float16 4x64", "float16 4x9", "12,480", "12,470"]
    assert rows[2][2] == "not called"
    assert page.sentence.text().startswith("One step is done")
    assert not page.content.grid.isVisible()
    qtbot.mouseClick(card.copy_button, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text().splitlines()[0].split("\t")[:2] == ["Cell or module", "Class"]
    change_language("zh")
    page.retranslate()
    assert card.table.horizontalHeaderItem(4).text() == "参数量"
    assert card.table.item(2, 2).text() == "未调用"


def test_that_a_waiting_training_shows_how_to_attach_until_one_is(
    qtbot: QtBot, page: CurvesPage, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made(session, "launch")
    monkeypatch.setattr(runs, "state_of", lambda folder: "running")
    journal = Journal(run.folder, 1)
    journal.write(
        Progress(done=0, total=9, phase="attach"),
        Note(key="launch.debugger_waits", args={"host": "127.0.0.1", "port": 5678, "ranks": 2}),
        Note(key="launch.debugger_compiled"),
    )
    session.refresh_runs()
    card = page.content.attach
    qtbot.waitUntil(card.isVisible)
    assert json.loads(card.view.toPlainText())["configurations"][1]["connect"]["port"] == 5679
    assert "breakpoints inside it are not reached" in card.compiled.text()
    assert page.sentence.text().startswith("The training waits until a debugger is attached")
    qtbot.mouseClick(card.copy_button, Qt.MouseButton.LeftButton)
    assert '"port": 5678' in QGuiApplication.clipboard().text()
    card.tabs.setCurrentIndex(1)
    assert card.view.toPlainText().startswith("ssh -N -L 5678:127.0.0.1:5678")
    journal.write(Progress(done=0, total=9, phase="train"))
    qtbot.waitUntil(lambda: not card.isVisible())


def test_that_the_button_starts_one_step_with_the_choices(qtbot: QtBot, session: Session) -> None:
    page = LaunchPage(session)
    qtbot.addWidget(page)
    page.show()
    asked: list[tuple[str, Any]] = []
    session.start = lambda command, spec: asked.append((command, spec))  # type: ignore[method-assign]
    page.form.set_spec(schema.with_value(LaunchSpec(), "recipe", "text"))
    qtbot.mouseClick(page.shapes.button, Qt.MouseButton.LeftButton)
    ((command, spec),) = asked
    assert (command, spec.what.recipe) == ("shapes", "text")
    page.form.set_spec(schema.with_value(LaunchSpec(), "batch", 10**6))
    assert not page.shapes.button.isEnabled()
