"""Resume on the run of an own script: the button on Curves fills the Launch form, and a card says what is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton

from backends.launch.own.spec import OwnSpec
from studio import run as runs
from studio import schema
from studio.events import Ended, Journal, Metric
from studio.project import make_runs_folder
from studio.security import trust
from tests.ui.looks import faults, settle
from ui.curves.resume_button import ResumeButton
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.launch.user_script.side import OwnScript
    from ui.services.session import Session
    from ui.shell.window import Shell

torch: Any = pytest.importorskip("torch")
SCRIPT = """
import argparse
import torch
parser = argparse.ArgumentParser()
parser.add_argument("--resume", metavar="PATH", help="checkpoint to go on from")
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()
print("RESUMED", torch.load(args.resume, weights_only=True)["step"])
"""


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    change_language("en")


@pytest.fixture
def project(tmp_path: Path, session: Session) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    trust.set_trust(folder, True)
    session.open_project(folder)
    return folder


def ended_run(session: Session, project: Path) -> Run:
    """A run of the script that ended after a step, without a checkpoint."""
    spec = schema.with_value(OwnSpec(), "line", ("python", "train.py", "--lr", "0.2"))
    spec = schema.with_value(spec, "workdir", project)
    run = runs.create(make_runs_folder(session.project), "script", schema.to_json(spec), project)
    Journal(run.folder, 1).write(Metric(step=1, values={"loss": 0.5}), Ended(code=1))
    return run


def save(path: Path, step: int) -> None:
    torch.save({"model": {"w": torch.ones(2)}, "optimizer": {"state": {}, "param_groups": []}, "step": step}, path)


def resume_button(shell: Shell) -> QPushButton:
    button = shell.page_widget("curves").findChild(QPushButton, "curves_resume")
    assert isinstance(button, QPushButton)
    return button


def watch(shell: Shell, run: Run) -> ResumeButton:
    shell.session.refresh_runs()
    shell.session.watch_run(run)
    way = shell.page_widget("curves").resume
    assert isinstance(way, ResumeButton)
    return way


def own_side(shell: Shell) -> OwnScript:
    side: OwnScript = shell.page_widget("launch").own()
    return side


@pytest.mark.parametrize("language", ["en", "zh"])
def test_that_the_button_fills_in_the_newest_whole_checkpoint_and_says_what_is_lost(
    project: Path, shell: Shell, session: Session, qtbot: QtBot, language: str
) -> None:
    run = ended_run(session, project)
    save(project / "step_4.pt", 4)
    (project / "step_5.pt").write_bytes((project / "step_4.pt").read_bytes()[:-100])
    change_language(language)
    watch(shell, run)
    qtbot.waitUntil(lambda: resume_button(shell).isVisible())
    qtbot.mouseClick(resume_button(shell), Qt.MouseButton.LeftButton)
    own = own_side(shell)
    qtbot.waitUntil(own.resume_card.isVisible)
    assert own.isVisible()
    assert own.form.spec().program.line == ("python", "train.py", "--lr", "0.2", "--resume", str(project / "step_4.pt"))
    text = own.findChild(QLabel, "own_script_resume.text").text()
    words = {"en": ("step 4", "--resume", "random generators, data order", "half-written: project/step_5.pt"),
             "zh": ("step 4", "--resume", "随机数生成器, 数据顺序", "没有写完")}  # fmt: skip
    joined = text.replace("、", ", ")
    assert [word for word in words[language] if word not in joined] == []
    settle()
    assert not faults(own.resume_card)
    own.start()
    again = session.run
    assert again is not None
    assert again.name != run.name
    qtbot.waitUntil(lambda: runs.glance(again).state == "ended", timeout=120_000)
    assert "RESUMED 4" in again.log.read_text()


def test_that_another_line_takes_the_card_away(
    project: Path, shell: Shell, session: Session, qtbot: QtBot
) -> None:  # fmt: skip
    run = ended_run(session, project)
    save(project / "last.pt", 4)
    session.path_requested.emit("resume", run.folder)
    shell.show_page("launch")
    own = own_side(shell)
    qtbot.waitUntil(own.resume_card.isVisible)
    line = own.form.box("line").input
    assert isinstance(line, QPlainTextEdit)
    line.setPlainText("python train.py")
    qtbot.waitUntil(lambda: not own.resume_card.isVisible())


def test_that_a_run_without_a_checkpoint_has_no_button_and_one_with_a_cut_one_says_so(
    project: Path, shell: Shell, session: Session, qtbot: QtBot
) -> None:
    run = ended_run(session, project)
    way = watch(shell, run)
    qtbot.waitUntil(lambda: way.is_answered)
    assert not resume_button(shell).isVisible()
    save(project / "step_1.pt", 1)
    (project / "step_1.pt").write_bytes((project / "step_1.pt").read_bytes()[:-100])
    other = ended_run(session, project)
    watch(shell, other)
    qtbot.waitUntil(lambda: resume_button(shell).isVisible())
    qtbot.mouseClick(resume_button(shell), Qt.MouseButton.LeftButton)
    own = own_side(shell)
    qtbot.waitUntil(own.resume_card.isVisible)
    assert "No whole checkpoint" in own.resume_card.sentence.text()
    assert "half-written" in own.resume_card.sentence.text()
    assert own.form.spec().program.line == ("python", "train.py", "--lr", "0.2")
