"""Each test of the window has its own homes, a session and a window in English and light."""

from __future__ import annotations

import gc
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from pytestqt.qtbot import QtBot

from studio import run as runs
from studio.paths import ROOT
from ui.curves.log_panel import LogPanel
from ui.services.session import Session
from ui.services.settings import Settings
from ui.shell import qt_texts
from ui.shell.garbage import collect_between_events
from ui.shell.window import Shell
from ui.widgets import theme
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from PySide6.QtCore import SignalInstance
    from PySide6.QtWidgets import QApplication, QWidget
    from pytestqt.wait_signal import SignalBlocker

    from studio.run import Run

PATIENCE = 300_000  # ms; tests/runs.py says why
RECORDED = ROOT / "tests" / "recorded" / "runs"


class PatientBot(QtBot):
    """A QtBot whose waits are not about time."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = PATIENCE) -> None:
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: SignalInstance, *, timeout: int = PATIENCE, **options: Any) -> SignalBlocker:
        return super().waitSignal(signal, timeout=timeout, **options)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return PatientBot(request)


@pytest.fixture(autouse=True)
def plain_look(homes: Path, qapp: QApplication) -> Iterator[None]:
    """English and light, whatever the test before has left. Styling anew costs, so only where it changed."""
    collect_between_events(qapp)
    if theme.is_dark() or not qapp.styleSheet():
        theme.apply(qapp, "light")
    yield
    change_language("en")
    qt_texts.use("en")
    assert not gc.isenabled(), (
        "Python's collector was switched on: it frees widgets under Qt's hands (ui.shell.garbage)."
    )


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
    from ui.curves.page import CurvesPage

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
        session.refresh_runs()
        return runs.open_run(folder)

    return put
