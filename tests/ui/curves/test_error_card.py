"""The card of a failed run, from a training that fails to what a person reads and clicks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from backends.launch.own.spec import OwnSpec, What
from studio import interpreters
from studio.events import Ended, Finding, Journal
from studio.paths import ROOT
from studio.texts import t
from tests.runs import ended, launch, prepare
from ui.curves.outcome_cards import numbered
from ui.curves.page import CurvesPage
from ui.widgets.localized import change_language
from ui.widgets.log_excerpt import LogExcerpt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session

RECORDED = ROOT / "tests" / "recorded" / "logs"


@pytest.fixture
def page(qtbot: QtBot, session: Session) -> CurvesPage:
    made = CurvesPage(session)
    qtbot.addWidget(made)
    made.resize(1280, 800)
    made.show()
    return made


def text(page: CurvesPage, name: str) -> str:
    found = page.content.reason.findChild(QLabel, name) or page.content.reason.findChild(LogExcerpt, name)
    assert found is not None
    assert found.isVisible() == bool(found.text())
    return found.text()


def shown(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    session.refresh_runs()
    qtbot.waitUntil(lambda: page.watcher is not None and page.watcher.is_loaded)
    qtbot.waitUntil(page.content.reason.isVisible)


def test_that_a_training_that_fails_says_why_and_what_to_do(
    qtbot: QtBot, page: CurvesPage, session: Session, interpreter: Callable[[str], Path]
) -> None:
    python = interpreter(f"cat {RECORDED}/shape_dense_jit.log\nexit 1\n")
    ended(launch(session.folder, python, mode="jit"))
    shown(qtbot, page, session)
    what = "For 'MatMul' the input dimensions must be equal, but got 'x1_col': 63 and 'x2_row': 64."
    place = "/tmp/exp/s/shape_dense_jit.py:11"
    assert page.content.reason._sentence.text() == t("explain.shape_mismatch.cause", what=what)
    assert text(page, "error_card_fix") == t("explain.shape_mismatch.fix", place=place)
    said = text(page, "error_card_said").splitlines()
    assert said[0] == f"52  ValueError: {what}"
    assert page.content.reason._proof.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
    assert not page.content.reason._lines.isVisible(), "the lines that say it are enough"
    whole = page.content.reason.findChild(QPushButton, "curves.whole_log")
    qtbot.mouseClick(whole, Qt.MouseButton.LeftButton)
    assert page.log.is_open
    change_language("zh")
    qtbot.waitUntil(lambda: page.content.reason._sentence.text().startswith("形状不匹配"))
    assert "查看" in text(page, "error_card_fix")


def failed(folder: Path, *findings: Finding) -> Run:
    run = prepare(folder)
    Journal(run.folder, 1).write(*findings, Ended(code=1))
    return run


def test_that_the_first_rank_is_named(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    own = Finding(rule="run.unknown_command", severity="error", args={"command": "fly"})
    rank = Finding(rule="explain.first_rank", args={"rank": 3})
    args = {"what": "KeyError: 1", "place": "train.py:7"}
    cause = Finding(rule="explain.python_exception.cause", severity="error", args=args)
    failed(session.folder, own, rank, cause, Finding(rule="explain.python_exception.fix", args=args))
    shown(qtbot, page, session)
    assert text(page, "error_card_first") == "Failed first: rank 3."
    assert page.content.reason._sentence.text() == t("explain.python_exception.cause", **args)
    assert text(page, "error_card_more") == t("run.unknown_command", command="fly")


def test_that_a_flood_of_warnings_does_not_hide_the_cause(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    warnings = [Finding(rule="launch.nan", severity="warning", args={"step": n, "value": "NaN"}) for n in range(300)]
    failed(session.folder, *warnings, Finding(rule="explain.killed.cause", severity="error"),
           Finding(rule="explain.killed.fix"))  # fmt: skip
    shown(qtbot, page, session)
    assert page.content.reason._sentence.text() == t("explain.killed.cause")
    assert text(page, "error_card_fix") == t("explain.killed.fix")


def test_that_a_card_without_an_explanation_has_no_empty_places(
    qtbot: QtBot, page: CurvesPage, session: Session
) -> None:
    failed(session.folder, Finding(rule="run.unknown_command", severity="error", args={"command": "fly"}))
    shown(qtbot, page, session)
    names = ("first", "more", "fix", "said")
    assert [name for name in names if text(page, f"error_card_{name}")] == []


@pytest.mark.parametrize("said", [None, 3, "x", [3], [[1]], [["1", "x"]], {"a": 1}])
def test_that_damaged_lines_do_no_harm(said: object) -> None:
    assert numbered(said) == ""


def test_that_numbers_of_lines_stand_in_a_column() -> None:
    assert numbered([[9, "a"], [10, "  b"]]) == " 9  a\n10    b"


def test_that_a_failed_import_offers_the_interpreter_that_has_the_module_and_starts_again(
    qtbot: QtBot, page: CurvesPage, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, having = tmp_path / "code", tmp_path / "having"
    folder.mkdir()
    (folder / "train.py").write_text("import rare_package\n")
    (having / "lib" / "python3.11" / "site-packages" / "rare_package").mkdir(parents=True)
    (having / "bin").mkdir()
    (having / "bin" / "python").write_text(f'#!/bin/sh\ncase "$*" in *print*) exec "{sys.executable}" "$@";; esac\n')
    (having / "bin" / "python").chmod(0o755)
    monkeypatch.setattr(interpreters, "discover", lambda _project: (having / "bin" / "python",))
    program = What(line=(sys.executable, "train.py"), workdir=folder)
    first = session.start("script", OwnSpec(program=program))
    assert first is not None
    ended(first)
    shown(qtbot, page, session)
    again = page.content.reason.findChild(QPushButton, "curves.other_python")
    qtbot.waitUntil(again.isVisible)
    assert str(having) in again.toolTip()
    qtbot.mouseClick(again, Qt.MouseButton.LeftButton)
    assert session.run is not None
    assert session.run.name != first.name
    assert ended(session.run).code == 0
    qtbot.waitUntil(lambda: not again.isVisible())
