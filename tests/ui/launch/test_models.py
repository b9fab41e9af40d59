"""The user's own model in the window: a template by one click, the table of starting weights, the export."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QFileDialog, QPushButton

from studio import run as runs
from studio import schema
from studio.events import Ended, Journal, Note
from studio.security import trust
from tests.launch.specs import launch_spec
from tests.ui.form.entries import pick
from ui.curves.page import CurvesPage
from ui.curves.weights_card import MAX_ROWS
from ui.launch.answers.written_card import WrittenCard
from ui.launch.page import LaunchPage, make_page
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session


@pytest.fixture
def launch(qtbot: QtBot, session: Session) -> LaunchPage:
    made = make_page(session)
    qtbot.addWidget(made)
    made.resize(1280, 900)
    made.show()
    return made


@pytest.fixture
def curves(qtbot: QtBot, session: Session) -> CurvesPage:
    made = CurvesPage(session)
    qtbot.addWidget(made)
    made.resize(1500, 900)
    made.show()
    return made


def press(page: LaunchPage | CurvesPage, name: str) -> None:
    button = page.findChild(QPushButton, name)
    assert button is not None
    assert button.isVisible()
    button.click()


def test_that_one_click_writes_a_template_into_the_project_and_chooses_it(
    launch: LaunchPage, session: Session, tmp_path: Path
) -> None:
    assert not launch.template.isVisible()
    session.open_project(tmp_path)
    pick(launch.form, "recipe", "own")
    assert launch.template.isVisible()
    assert launch.form.problems()
    press(launch, "launch.template_button")
    assert launch.form.spec().what.recipe_file == tmp_path / "recipe.py"
    assert not launch.form.problems()
    change_language("zh")
    press(launch, "launch.template_button")
    assert "直接训练" in (tmp_path / "recipe_2.py").read_text("utf-8")
    launch.start()
    assert launch.consent.isVisible()
    assert str(tmp_path / "recipe_2.py") in launch.consent.text.text()
    assert not trust.is_trusted(tmp_path)


def test_that_without_a_project_it_asks_where_and_tells_what_does_not_work(
    launch: LaunchPage, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    pick(launch.form, "recipe", "own")
    press(launch, "launch.template_button")
    dialog = launch.window().findChild(QFileDialog)
    assert dialog is not None
    dialog.close()
    with qtbot.waitSignal(session.trouble):
        launch.template.write_into(tmp_path / "missing")
    assert launch.form.problems()


def trained(session: Session, **values: object) -> Run:
    """A finished run that left a checkpoint, and a table where it was given weights."""
    session.folder.mkdir(parents=True, exist_ok=True)
    run = runs.create(session.folder, "launch", schema.to_json(launch_spec(**values)))
    (run.folder / "artifacts" / "checkpoints").mkdir()
    (run.folder / "artifacts" / "checkpoints" / "last").write_text("step-000001-00000000", "ascii")
    Journal(run.folder, 1).write(Ended(code=0))
    return run


def test_that_the_weights_that_did_not_match_come_first(
    curves: CurvesPage, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    rows = [{"name": f"layer{n}", "status": "matched", "here": [2, 3], "there": [2, 3]} for n in range(MAX_ROWS)]
    rows += [{"name": "head", "status": "other_shape", "here": [10], "there": [1000]}]
    rows += [{"name": "old", "status": "left_over", "here": None, "there": []}]
    run = trained(session, weights=tmp_path / "r50.ckpt")
    table = {"format": 1, "file": "/x/r50.ckpt", "rows": rows}
    (run.folder / "artifacts" / "weights.json").write_text(json.dumps(table), "utf-8")
    session.refresh_runs()
    qtbot.waitUntil(curves.content.weights.isVisible)
    cells = curves.content.weights.table._cells
    assert [cells[1, column].text() for column in range(4)] == [
        "head", "other shape: keeps its initial value", "10", "1000",
    ]  # fmt: skip
    assert [cells[2, column].text() for column in (0, 2, 3)] == ["old", "–", "1"]
    assert "Matched 12 · missing 0 · other shape 1 · left over 1" in curves.content.weights._counts.text()
    assert "2 more" in curves.content.weights._more.text()
    session.choose_run(trained(session))
    qtbot.waitUntil(lambda: not curves.content.weights.isVisible())


def test_that_a_finished_run_is_exported_from_its_page_and_the_file_is_named(
    curves: CurvesPage, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    run = trained(session)
    session.refresh_runs()
    qtbot.waitUntil(curves.export.isVisible)
    press(curves, "launch.export_button")
    dialog = curves.window().findChild(QFileDialog)
    assert dialog is not None
    dialog.close()
    curves.export.export_to(tmp_path / "digits.ckpt")
    assert session.run is not None
    asked_for = session.run.request
    assert asked_for.command == "export"
    assert asked_for.values["export"] == {
        "source": str(run.folder), "which": "last", "out": str(tmp_path / "digits.ckpt"),
    }  # fmt: skip
    made = runs.create(session.folder, "export", asked_for.values)
    told = Note(key="launch.exported", args={"file": "/x/digits.ckpt", "step": 3, "count": 8})
    Journal(made.folder, 1).write(told, Ended(code=0))
    session.choose_run(made)
    card = curves.content.answers.card("export")
    assert isinstance(card, WrittenCard)
    qtbot.waitUntil(card.isVisible)
    assert "8 parameters of step 3 are in /x/digits.ckpt" in card.text.text()
    assert not curves.export.isVisible()
