"""Runs without a worker in the real window: looked at, they run nothing; a click does what the card says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from studio import processes, worker
from studio import run as runs
from studio.project import Project, make_runs_folder
from studio.security import ledger, trust
from tests.runs import PATIENCE, events_of, launch, wait_for
from tests.runs_without_worker import WAITS, age_ledger, crafted, kill_worker
from tests.ui.looks import faults, settle
from ui.curves.stop_control import StopControl
from ui.curves.worker_card import WorkerCard
from ui.services.run_progress import RunProgress

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session
    from ui.shell.window import Shell

    Make = Callable[[str], Path]

LOOKS = 6
"""How often the list of runs is read: enough for a worker that must not be started to be started."""


def open_place(shell: Shell, folder: Path, place: str) -> Path:
    """Open a project of a kind, or none; return where its runs are."""
    if place == "none":
        shell.open_project(None)
        return shell.session.folder
    folder.mkdir(exist_ok=True)
    trust.set_trust(folder, place == "trusted")
    shell.open_project(folder)
    return make_runs_folder(Project(folder=folder))


def card_of(shell: Shell, run: Run) -> WorkerCard:
    """Choose a run on Curves and let the window look at it for a while."""
    shell.session.watch_run(runs.open_run(run.folder))
    for _ in range(LOOKS):
        shell.session.refresh_runs()
        settle()
    page = shell.page_widget("curves")
    assert page.run.folder == run.folder
    card = page.findChild(WorkerCard)
    assert isinstance(card, WorkerCard)
    return card


def click(qtbot: QtBot, button: QPushButton) -> None:
    assert button.isVisible()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def wait_end(qtbot: QtBot, shell: Shell, run: Run) -> int | None:
    """Wait until the window knows that a run has ended; return its exit code."""

    def has_ended() -> bool:
        shell.session.refresh_runs()
        return runs.glance(run).state == "ended"

    qtbot.waitUntil(has_ended, timeout=PATIENCE * 1000)
    return runs.glance(run).code


@pytest.mark.parametrize("place", ["restricted", "trusted", "none"])
def test_that_a_run_of_somebody_else_waits_for_a_click_and_then_runs_to_its_end(
    qtbot: QtBot, shell: Shell, tmp_path: Path, interpreter: Make, place: str
) -> None:
    python = interpreter(f"touch {tmp_path}/canary; exit 6")
    run = crafted(open_place(shell, tmp_path / "project", place), python)
    card = card_of(shell, run)
    assert not (tmp_path / "canary").exists()
    assert (card.isVisible(), card.take_over.isVisible(), faults(card)) == (True, False, [])
    assert str(python) in card.line.toPlainText()
    assert "You did not ask for this run" in card.reason.text()
    click(qtbot, card.start)
    assert wait_end(qtbot, shell, run) == 6
    assert (tmp_path / "canary").exists()
    qtbot.waitUntil(card.isHidden)


def test_that_a_run_dropped_on_the_window_waits_for_a_click(
    shell: Shell, tmp_path: Path, interpreter: Make, session: Session
) -> None:
    open_place(shell, tmp_path / "open", "trusted")
    run = crafted(tmp_path / "elsewhere", interpreter(f"touch {tmp_path}/canary"))
    ledger.record(run.folder, processes.read_mark(run.folder / "worker.json").pid)  # type: ignore[union-attr]
    shell.open_path(run.folder)
    card = card_of(shell, run)
    assert not (tmp_path / "canary").exists()
    assert (card.isVisible(), card.start.isVisible()) == (True, True)
    assert "not one of the open project" in card.reason.text()


@pytest.mark.parametrize("place", ["restricted", "foreign"])
def test_that_an_unattended_run_is_taken_over_by_a_click_and_ends_with_its_own_code(
    qtbot: QtBot, shell: Shell, tmp_path: Path, interpreter: Make, place: str
) -> None:
    folder = open_place(shell, tmp_path / "project", "restricted" if place == "restricted" else "trusted")
    run = launch(folder, interpreter(WAITS))
    wait_for((run.folder / "ready").exists)
    shell.open_project(None)  # nobody looks while its worker is killed
    kill_worker(run)
    age_ledger()
    if place == "foreign":
        ledger.forget(run.folder)
    shell.open_project(tmp_path / "project")
    card = card_of(shell, run)
    assert runs.state_of(run.folder) == "unattended"
    assert (card.isVisible(), card.start.isVisible(), faults(card)) == (True, False, [])
    assert ("restricted" if place == "restricted" else "You did not start") in card.reason.text()
    click(qtbot, card.take_over)
    qtbot.waitUntil(lambda: runs.state_of(run.folder) == "running")
    (run.folder / "go").touch()
    assert wait_end(qtbot, shell, run) == 5
    assert len([event for event in events_of(run) if type(event).__name__ == "Ended"]) == 1


def test_that_a_command_is_shown_whole_however_long_a_word_of_it_is(
    shell: Shell, tmp_path: Path, interpreter: Make
) -> None:
    python = interpreter("exit 0", "x" * 200 + "\u202egnp.py")
    card = card_of(shell, crafted(open_place(shell, tmp_path, "restricted"), python))
    settle()
    assert "x" * 200 + "gnp.py" in card.line.toPlainText()
    for width in (1280, 1000, 1920, 1280):
        shell.resize(width, 800)
        settle()
        card.line.grab()
        lines = round(card.line.document().size().height())
        assert (card.line.verticalScrollBar().maximum(), lines > 1) == (0, True)
        assert card.line.viewport().height() < (lines + 1) * card.line.fontMetrics().lineSpacing()
        assert faults(shell) == []


def test_that_a_foreign_process_is_not_taken_for_a_worker_that_could_be_stopped(
    qtbot: QtBot, shell: Shell, tmp_path: Path, interpreter: Make, bystander: subprocess.Popen[bytes]
) -> None:
    folder = open_place(shell, tmp_path / "project", "restricted")
    run = crafted(folder, interpreter("exit 0"), worker=bystander.pid)
    card = card_of(shell, run)
    qtbot.waitUntil(card.isVisible)
    control = shell.findChild(StopControl)
    assert control is not None
    assert not control.findChild(QPushButton, "curves.stop").isVisible()  # type: ignore[union-attr]
    assert runs.glance(run).state == "interrupted"
    assert bystander.poll() is None


def test_that_cancel_signals_no_foreign_process_and_says_so(
    qtbot: QtBot, session: Session, tmp_path: Path, interpreter: Make, bystander: subprocess.Popen[bytes]
) -> None:
    run = crafted(tmp_path / "runs", interpreter("exit 0"), worker=bystander.pid)
    progress = RunProgress(session, "migration", lambda _command: "migration.doing.scan")
    qtbot.addWidget(progress)
    progress.show()
    progress.show_run(run, runs.glance(run))
    messages: list[Exception] = []
    session.trouble.connect(messages.append)
    progress.cancel.show()
    click(qtbot, progress.cancel)
    assert bystander.poll() is None
    assert [f"process {bystander.pid}" in str(message) for message in messages] == [True]


def test_that_stop_of_an_unattended_run_says_that_it_has_to_be_taken_over_first(
    tmp_path: Path, interpreter: Make
) -> None:
    run = crafted(tmp_path / "runs", interpreter("exit 0"), training=1 << 21)
    (run.folder / "exit.a1").write_text("3\n", encoding="ascii")
    assert runs.state_of(run.folder) == "unattended"
    assert not worker.stop(run)
    assert "Take the run over" in str(worker.stop_refusal(run))
