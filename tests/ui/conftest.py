"""Each test of the window has its own homes, a session and a window in English and light."""

from __future__ import annotations

import gc
import shutil
from typing import TYPE_CHECKING

import pytest

from studio import run as runs
from studio.places import ROOT
from ui import qt_texts, theme
from ui.curves.log_panel import LogPanel
from ui.garbage import collect_between_events
from ui.say import change_language
from ui.session import Session
from ui.settings import Settings
from ui.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication, QWidget
    from pytestqt.qtbot import QtBot

    from studio.run import Run

RECORDED = ROOT / "tests" / "recorded" / "runs"


@pytest.fixture(autouse=True)
def plain_look(homes: Path, qapp: QApplication) -> Iterator[None]:
    """English and light, whatever the test before has left. Styling anew costs, so only where it changed."""
    collect_between_events(qapp)
    if theme.is_dark() or not qapp.styleSheet():
        theme.apply(qapp, "light")
    yield
    change_language("en")
    qt_texts.use("en")
    assert not gc.isenabled(), "Python's collector was switched on: it frees widgets under Qt's hands (ui.garbage)."


@pytest.fixture
def session(qapp: QApplication) -> Iterator[Session]:
    """Without a project: its runs are in the test's own state home. It looks only when told (`look`, `begin`)."""
    made = Session()
    yield made
    made.deleteLater()


@pytest.fixture
def shell(qtbot: QtBot, session: Session) -> Shell:
    """The window, shown and painted, on its first page."""
    made = Shell(session, Settings(language="en", theme="light"))
    qtbot.addWidget(made)
    # The screen of the offscreen platform is 800x800, which a window is held to at first.
    made.resize(1280, 800)
    made.show_first()
    qtbot.waitUntil(lambda: made.page != "" or not made.page_ids)
    return made


@pytest.fixture
def page(qtbot: QtBot, session: Session) -> QWidget:
    """The Curves page. Tests of another page have one of their own under this name."""
    from ui.pages.curves import CurvesPage

    made = CurvesPage(session)
    qtbot.addWidget(made)
    made.resize(1400, 900)
    made.show()
    return made


@pytest.fixture
def panel(qtbot: QtBot) -> LogPanel:
    made = LogPanel()
    qtbot.addWidget(made)
    made.resize(800, 300)
    made.show()
    made.open(True)
    return made


@pytest.fixture
def recorded_run(session: Session) -> Callable[[str], Run]:
    """Puts a recorded run from tests/recorded/runs/<name> among the session's runs."""

    def put(name: str) -> Run:
        folder = session.folder / f"20260101-000000-{name}"
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(RECORDED / name, folder)
        session.look()
        return runs.open_run(folder)

    return put
