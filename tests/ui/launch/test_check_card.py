"""Check first, clicked: the answer on the Curves page, its short form on the Launch page, and beside what came."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QLabel, QPushButton

from backends.launch.check.answer import FILE, Refusal
from backends.launch.check.spec import CheckSpec, check_of
from studio import files, schema
from studio import run as runs
from studio.events import Ended, Journal
from studio.texts import t
from tests.launch.check_answers import answer
from tests.launch.specs import launch_spec
from tests.ui.form.entries import pick, type_into
from ui.curves.page import CurvesPage
from ui.launch.page import LaunchPage
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session
    from ui.shell.window import Shell

needs_mindspore = pytest.mark.skipif(not find_spec("mindspore"), reason="no MindSpore here")


def checked(session: Session, value: object, spec: CheckSpec, code: int = 0) -> Run:
    """A check that has ended with this answer."""
    session.folder.mkdir(parents=True, exist_ok=True)
    run = runs.create(session.folder, "check-first", schema.to_json(spec))
    files.write_json(run.folder / FILE, value)
    Journal(run.folder, 1).write(Ended(code=code, reason="no" if code == 3 else ""))
    return run


def cells(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel) if not label.isHidden()]


def press(page: QWidget, name: str) -> None:
    button = page.findChild(QPushButton, name)
    assert button is not None
    button.click()


@needs_mindspore
def test_that_a_click_checks_and_the_prediction_stands_beside_what_came(
    qtbot: QtBot, shell: Shell, session: Session
) -> None:
    shell.show_page("launch")
    page = shell.findChild(LaunchPage)
    assert page is not None
    for name, value in (("recipe", "linear"), ("mode", "jit"), ("device", "cpu")):
        pick(page.form, name, value)
    type_into(page.form, "batch", "512")
    type_into(page.form, "steps", "30")
    press(page, "launch.check.button")
    check = session.run
    assert check is not None
    assert check.request.command == "check-first"
    curves = shell.findChild(CurvesPage)
    assert curves is not None
    card = curves.content.answers.card("check-first")
    qtbot.waitUntil(lambda: session.refresh_runs() or not card.isHidden())
    assert runs.glance(check).code == 0, check.log.read_text()
    texts = cells(card)
    assert {t("launch.check.row.step"), t("launch.check.row.total"), "512", "1024"} <= set(texts)
    assert curves.sentence.text() == t("launch.check.sentence")
    assert not curves.content.grid.isVisible()

    shell.show_page("launch")
    assert not page.last_check.isHidden()
    assert t("launch.check.row.peak") in cells(page.last_check)
    type_into(page.form, "steps", "31")
    assert page.last_check.isHidden()
    type_into(page.form, "steps", "30")
    assert not page.last_check.isHidden()

    press(page, "launch.start")
    qtbot.waitUntil(lambda: session.refresh_runs() or not curves.content.prediction.isHidden())
    shown = cells(curves.content.prediction)
    assert {t("launch.check.head.predicted"), t("launch.check.row.step"), t("launch.check.row.disk")} <= set(shown)
    assert sum(text.endswith(" %") for text in shown) == 5
    assert card.isHidden()


def test_that_the_answer_is_shown_in_the_language_of_the_window(
    qtbot: QtBot, page: CurvesPage, session: Session
) -> None:
    checked(session, answer(), check_of(launch_spec(recipe="linear")))
    session.refresh_runs()
    card = page.content.answers.card("check-first")
    qtbot.waitUntil(card.isVisible)
    assert "10.0 ms ± 1.0 ms" in cells(card)
    change_language("zh")
    page.retranslate()
    assert "单步" in cells(card)


def test_that_a_check_that_says_no_says_why(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    checked(session, Refusal(batch=8, limit=10**9, refused=True), check_of(launch_spec(recipe="linear")), code=3)
    session.refresh_runs()
    card = page.content.answers.card("check-first")
    qtbot.waitUntil(card.isVisible)
    assert page.sentence.text() == t("launch.check.sentence_no")
    assert "Not passed" in page.chip.text()
    assert "more than 1.0 GB" in cells(card)


def test_that_a_check_whose_answer_is_gone_shows_no_card(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    checked(session, {}, check_of(launch_spec(recipe="linear")))
    session.refresh_runs()
    qtbot.waitUntil(lambda: page.watcher is not None and page.watcher.is_loaded)
    page.retranslate()
    assert not page.content.answers.card("check-first").isVisible()
