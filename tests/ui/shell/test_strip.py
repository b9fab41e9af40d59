"""What went wrong stands under the top bar in a sentence; our own bugs with their details."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from studio.errors import StudioError
from ui.shell.application_hooks import install_exception_hook
from ui.shell.message_strip import Strip
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from ui.services.session import Session


@pytest.fixture
def strip(qtbot: QtBot) -> Strip:
    made = Strip()
    qtbot.addWidget(made)
    return made


def broken() -> Exception:
    try:
        return {}["missing"]  # type: ignore[no-any-return]
    except KeyError as error:
        return error


def child(strip: Strip, name: str) -> QPushButton:
    found = strip.findChild(QPushButton, name)
    assert found is not None
    return found


def test_that_it_is_there_only_when_needed(strip: Strip) -> None:
    assert strip.isHidden()
    strip.show_error(StudioError("shell.gone", path="/p"))
    assert strip.isVisible()
    strip.close_message()
    assert strip.isHidden()


def test_that_a_sentence_follows_the_language(strip: Strip) -> None:
    strip.show_error(StudioError("shell.gone", path="/p"))
    change_language("zh")
    assert strip._sentence.text() == "/p 已不存在。"
    assert child(strip, "strip_close").toolTip() == "关闭这条消息"


def test_that_the_details_of_our_own_bug_are_folded_and_can_be_copied(qtbot: QtBot, strip: Strip) -> None:
    strip.show_error(broken())
    details = strip.findChild(QPlainTextEdit)
    assert details is not None
    assert "KeyError: 'missing'" in strip._sentence.text()
    assert details.isHidden()
    qtbot.mouseClick(child(strip, "strip_details"), Qt.MouseButton.LeftButton)
    assert details.isVisible()
    assert 'return {}["missing"]' in details.toPlainText()
    qtbot.mouseClick(child(strip, "strip_copy"), Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == details.toPlainText()


def test_that_a_trouble_of_the_user_has_no_details(strip: Strip) -> None:
    strip.show_error(broken())
    strip.show_error(StudioError("shell.gone", path="/p"))
    assert child(strip, "strip_details").isHidden()
    strip.close_message()
    assert child(strip, "strip_details").isVisible()


def test_that_the_same_message_stands_once(strip: Strip) -> None:
    for _ in range(3):
        strip.show_error(broken())
    assert len(strip.messages) == 1


def test_that_a_flood_of_messages_is_bounded(strip: Strip) -> None:
    for number in range(100):
        strip.show_error(StudioError("shell.gone", path=f"/p{number}"))
    assert len(strip.messages) == 20
    assert strip._more.text() == "19 more"


def test_that_an_error_nobody_caught_reaches_the_strip(
    session: Session, strip: Strip, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    session.trouble.connect(strip.show_error)
    install_exception_hook(session)
    error = broken()
    sys.excepthook(type(error), error, error.__traceback__)
    assert "KeyError" in strip.messages[-1].sentence()
    assert "KeyError" in capsys.readouterr().err
