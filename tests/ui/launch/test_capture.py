"""The capture card of Curves, clicked through on a training that runs."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from backends.launch.capture import state
from studio import run as runs
from studio.events import Ended, Journal
from tests.guest.capturing import TORCH, Training, slices
from tests.runs import PATIENCE, write_worker
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session
    from ui.shell.window import Shell


def live(session: Session, command: str = "script") -> Run:
    """A run with a worker that does nothing."""
    session.folder.mkdir(parents=True, exist_ok=True)
    run = runs.create(session.folder, command, {"program": {"line": ["python", "train.py"]}})
    write_worker(run.folder)
    return run


def test_that_a_click_profiles_a_real_training(
    qtbot: QtBot, shell: Shell, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = live(session)
    training = Training(run.folder, TORCH, "16", hooks="curves,captures")
    training.wait_for_steps(5)
    qtbot.waitUntil(lambda: bool(state.ready(run.folder)))
    session.refresh_runs()
    shell.show_page("curves")
    card = shell.page_widget("curves").capture
    qtbot.waitUntil(card.button.isVisible)
    assert not card.isVisible()
    qtbot.mouseClick(card.button, Qt.MouseButton.LeftButton)
    assert card.isVisible()
    assert not card.button.isVisible()
    qtbot.waitUntil(lambda: "Estimate: about" in card.sentence.text())
    steps = card.findChild(QWidget, "capture.steps")
    steps.selectAll()
    qtbot.keyClicks(steps, "0")
    assert not card.start.isEnabled()
    steps.selectAll()
    qtbot.keyClicks(steps, "3")
    qtbot.mouseClick(card.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(card.folder.isVisible)
    assert "are captured" in card.sentence.text()
    change_language("zh")
    assert card.sentence.text().startswith("已采集第")
    change_language("en")
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    qtbot.mouseClick(card.folder, Qt.MouseButton.LeftButton)
    (trace,) = run.folder.rglob("*.pt.trace.json")
    assert opened == [str(trace.parent.parent)]
    assert sum(event["name"].startswith("ProfilerStep#") for event in slices(trace)) == 3

    qtbot.mouseClick(card.timeline, Qt.MouseButton.LeftButton)
    timeline = shell.page_widget("timeline")
    qtbot.waitUntil(lambda: timeline.opened is not None)
    assert timeline.path == trace.parent.parent
    assert len(timeline.state.steps) == 3
    shell.show_page("curves")
    qtbot.mouseClick(card.capture_again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "As measured in this run" in card.sentence.text())
    qtbot.mouseClick(card.close_button, Qt.MouseButton.LeftButton)
    assert not card.isVisible()
    assert card.button.isVisible()
    assert training.finish() == 0
    Journal(run.folder, 1).write(Ended(code=0))
    qtbot.waitUntil(lambda: not card.button.isVisible())


def test_that_the_card_follows_what_the_files_say(qtbot: QtBot, shell: Shell, session: Session) -> None:
    run = live(session)
    session.refresh_runs()
    shell.show_page("curves")
    card = shell.page_widget("curves").capture
    qtbot.waitUntil(lambda: shell.page_widget("curves").stop.isVisible())
    assert not card.button.isVisible(), "a run without hooks"
    (run.folder / "capture.r0.json").write_text('{"pid": 1, "framework": "torch"}')
    qtbot.waitUntil(card.button.isVisible)
    qtbot.mouseClick(card.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "the size of the capture" in card.sentence.text().lower())
    qtbot.mouseClick(card.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(card.cancel.isVisible)
    assert card.sentence.text() == "Waiting for the end of the current step."
    request = state.newest_request(run.folder)
    assert request is not None
    write_rank(run.folder, request.id, '{"state": "armed", "kind": "profile", "start": 40, "pid": 1}')
    qtbot.waitUntil(lambda: card.sentence.text() == "Waiting for step 40.")
    write_rank(run.folder, request.id, '{"state": "begun", "kind": "profile", "done": 1, "seconds": 0.5, "pid": 1}')
    qtbot.waitUntil(lambda: card.sentence.text().startswith("Capturing: 1 of 2 steps."))
    assert not card.cancel.isVisible()
    failed = '{"state": "failed", "kind": "profile", "rule": "capture.disk_low", "args": {"free": "3 MB"}, "pid": 1}'
    write_rank(run.folder, request.id, failed)
    qtbot.waitUntil(lambda: "only 3 MB were left" in card.failed.text())
    assert card.failed.property("role") == "bad"
    assert not card.sentence.isVisible()
    assert not card.folder.isVisible()
    assert not card.timeline.isVisible()
    qtbot.mouseClick(card.capture_again, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(card.start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(card.cancel.isVisible)
    qtbot.mouseClick(card.cancel, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not card.isVisible())
    assert state.newest_request(run.folder) is None


def test_that_no_capture_is_offered_once_the_run_is_over_however_recently_its_files_were_read(
    qtbot: QtBot, shell: Shell, session: Session
) -> None:
    run = live(session)
    session.refresh_runs()
    shell.show_page("curves")
    page = shell.page_widget("curves")
    (run.folder / "capture.r0.json").write_text('{"pid": 1, "framework": "torch"}')
    qtbot.waitUntil(page.capture.button.isVisible)
    page.capture._read_time = float("inf")  # as if the files were read just before the end
    Journal(run.folder, 1).write(Ended(code=0))
    qtbot.waitUntil(lambda: not page.capture.button.isVisible())


def test_that_a_slow_disk_does_not_hold_the_window_up(
    qtbot: QtBot, shell: Shell, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_come, read = Event(), state.newest_request
    monkeypatch.setattr(state, "newest_request", lambda folder: read(folder) if has_come.wait(PATIENCE) else None)
    run = live(session)
    session.refresh_runs()
    shell.show_page("curves")
    card = shell.page_widget("curves").capture
    (run.folder / "capture.r0.json").write_text('{"pid": 1, "framework": "torch"}')
    qtbot.waitUntil(lambda: shell.page_widget("curves").stop.isVisible())
    assert not card.button.isVisible()
    has_come.set()
    qtbot.waitUntil(card.button.isVisible)


def write_rank(run: Path, id: str, text: str) -> None:
    folder = run / state.FOLDER / id
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rank0.json").write_text(text)
