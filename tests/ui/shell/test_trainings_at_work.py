"""A training that is at work is in sight on every page, whichever project is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio import run as runs
from studio import worker
from tests.runs import launch, wait_for
from ui import app

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot

    from ui.services.session import Session
    from ui.shell.window import Shell


def test_that_a_training_stays_in_sight_when_a_project_is_opened(
    qtbot: QtBot, shell: Shell, session: Session, tmp_path: Path, interpreter: Callable[[str], Path]
) -> None:
    run = launch(session.folder, interpreter("sleep 300\n"))
    wait_for(lambda: runs.glance(run).state == "running")
    folder = tmp_path / "project"
    folder.mkdir()
    session.open_project(folder)
    button = shell.top_bar.trainings_button
    qtbot.waitUntil(lambda: button.isVisible() and button.text() == "Running: 1")
    assert not session.listed
    button.click()
    assert session.project is None
    assert session.run is not None
    assert session.run.folder == run.folder
    assert shell.page == "curves"
    worker.stop(run)
    worker.stop(run)
    wait_for(lambda: runs.glance(run).state == "ended")
    shell.trainings.look()
    qtbot.waitUntil(lambda: not button.isVisible())


def test_that_the_window_opens_the_project_around_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path | None] = []
    monkeypatch.setattr(app, "open_window", lambda path, _language: opened.append(path) or (_App(), _App()))
    (tmp_path / "project" / ".ascend-studio").mkdir(parents=True)
    (tmp_path / "project" / "src").mkdir()
    for folder, words in ((tmp_path / "project" / "src", []), (tmp_path, []), (tmp_path, ["named"])):
        monkeypatch.chdir(folder)
        app.run_window(words)
    assert [path and path.name for path in opened] == ["project", None, "named"]


class _App:
    """An application and a window that are closed at once."""

    def exec(self) -> int:
        return 0

    def isVisible(self) -> bool:
        return False
