"""Your own script on the Launch page: a line and its options are one thing, and what starts is what is shown."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)  # fmt: skip

from backends.launch.own.spec import OwnSpec
from backends.launch.rehearse.spec import RehearseSpec
from studio import run as runs
from studio import schema, texts, trust
from studio.places import ASSETS
from studio.project import make_runs_folder
from tests.runs import ended
from tests.ui import looks
from ui import journey
from ui.pages.launch import make_page
from ui.say import change_language

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.launch.own_script import OwnScript
    from ui.session import Session
    from ui.shell import Shell

SCRIPT = """
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1, help="learning rate")
parser.add_argument("--steps", type=int, default=12)
parser.add_argument("--loss", choices=["mse", "l1"], default="mse")
parser.add_argument("--quiet", action="store_true", help="print only losses")
args = parser.parse_args()
torch.manual_seed(0)
x = torch.linspace(-1, 1, 32).reshape(-1, 1)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
for step in range(args.steps):
    loss = torch.nn.functional.mse_loss(model(x), 2 * x + 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("LOSS", repr(loss.item()), args.lr)
"""


@pytest.fixture
def project(tmp_path: Path, session: Session) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    session.open_project(folder)
    return folder


@pytest.fixture
def own(project: Path, shell: Shell, qtbot: QtBot) -> OwnScript:
    page = shell.page_widget("launch")
    shell.show_page("launch")
    page.show_own()
    side: OwnScript = page.own()
    qtbot.waitUntil(side.isVisible)
    return side


def line(own: OwnScript) -> QPlainTextEdit:
    made = own.form.box("line").input
    assert isinstance(made, QPlainTextEdit)
    return made


def with_options(own: OwnScript, qtbot: QtBot, text: str) -> None:
    line(own).setPlainText(text)
    qtbot.waitUntil(lambda: own.findChild(QLineEdit, "own_option.lr") is not None, timeout=20_000)


def field(own: OwnScript, name: str) -> QLineEdit:
    found = own.findChild(QLineEdit, f"own_option.{name}")
    assert found is not None
    return found


def type_option(own: OwnScript, name: str, text: str) -> None:
    field(own, name).setText(text)
    field(own, name).textEdited.emit(text)


def press(inside: QWidget, name: str) -> None:
    found = inside.findChild(QPushButton, name)
    assert found is not None
    assert found.isEnabled()
    found.click()


def printed(run: Run) -> list[list[str]]:
    return [words[1:] for text in run.log.read_text().splitlines() if (words := text.split())[:1] == ["LOSS"]]


def test_that_a_script_that_is_chosen_trains_and_its_losses_are_on_the_curve(
    own: OwnScript, project: Path, session: Session, shell: Shell, qtbot: QtBot
) -> None:
    press(own, "own_script.choose")
    dialog = own.window().findChild(QFileDialog, "file_dialog")
    dialog.fileSelected.emit(str(project / "train.py"))
    dialog.close()
    with_options(own, qtbot, line(own).toPlainText())
    own.form.set_value("python", Path(sys.executable))
    type_option(own, "lr", "0.25")
    assert line(own).toPlainText() == "python train.py --lr 0.25"
    press(own.head, "own_script_start")
    assert own.consent.isVisible()
    assert str(project / "train.py") in own.consent.text.text()
    assert session.run is None
    press(own.consent, "launch.trust")
    run = session.run
    assert run is not None
    assert shell.page == "curves"
    qtbot.waitUntil(lambda: runs.glance(run).state == "ended", timeout=120_000)
    assert runs.glance(run).code == 0, run.log.read_text()
    losses = printed(run)
    assert [rate for _, rate in losses] == ["0.25"] * 12
    page = shell.page_widget("curves")
    qtbot.waitUntil(lambda: page.watcher is not None and (0, "loss") in page.watcher.curves.series, timeout=20_000)
    drawn = page.watcher.curves.series[0, "loss"]
    qtbot.waitUntil(lambda: len(drawn) == 12)
    assert [float(value) for value in drawn.values] == [float(text) for text, _ in losses]
    assert page.grid.isVisible()
    assert "train.py" in page.chip.text()
    assert page.add_line.isHidden()
    session.look()
    assert [step.key for step in journey.steps(session) if step.id == "launch"] == ["journey.launch_again"]


def test_that_the_choice_is_named_in_both_languages(own: OwnScript, shell: Shell) -> None:
    tabs = shell.page_widget("launch").tabs
    assert [tabs.tabText(0), tabs.tabText(1)] == ["Studio's recipe", "Your own script"]
    change_language("zh")
    assert [tabs.tabText(0), tabs.tabText(1)] == ["工作台样例", "自己的脚本"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_that_each_card_has_a_section_in_the_help(language: texts.Language) -> None:
    page = (ASSETS / "help" / language / "6-own-scripts.md").read_text(encoding="utf-8")
    cards = {field.card for spec in (OwnSpec, RehearseSpec) for field in schema.fields(spec)}
    names = texts.catalogue(language)
    assert not [card for card in cards if f"\n## {names[f'launch.card.{card}']}\n" not in page]


def test_that_interpreters_are_listed_with_what_they_have_and_can_be_chosen(own: OwnScript, qtbot: QtBot) -> None:
    card = own.interpreters
    qtbot.waitUntil(lambda: bool(card.rows), timeout=20_000)
    mine = next(row for row in card.rows if row.path == Path(sys.executable))
    assert "torch 2" in mine.hint.text()
    mine.button.click()
    assert own.form.spec().program.python == mine.path
    own.form.set_value("python", Path())
    assert card.line_row.button.isChecked()
    assert not mine.button.isChecked()


def test_that_an_interpreter_that_crashes_is_said_and_one_of_an_untrusted_project_is_not_run(
    own: OwnScript, project: Path, session: Session, qtbot: QtBot
) -> None:
    card = own.interpreters
    qtbot.waitUntil(lambda: bool(card.rows), timeout=20_000)
    ran = project / "ran"
    python = project / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(ran))}\nkill -SEGV $$\n")
    python.chmod(0o755)
    (project / ".venv" / "pyvenv.cfg").write_text("version = 3.11.9\n")
    info = project / ".venv" / "lib" / "python3.11" / "site-packages" / "torch-2.9.0.dist-info"
    info.mkdir(parents=True)
    session.open_project(None)
    session.open_project(project)
    qtbot.waitUntil(lambda: any(row.path == python for row in card.rows), timeout=20_000)
    row = next(row for row in card.rows if row.path == python)
    assert row.button.text() == ".venv/bin/python"
    assert row.hint.text() == "Python 3.11.9 · torch 2.9.0"
    card.rows = [row]
    card.try_them()
    assert row.hint.text() == "Python 3.11.9 · torch 2.9.0"
    assert not ran.exists()
    trust.set_trust(project, True)
    card.try_them()
    qtbot.waitUntil(lambda: "crashed" in row.hint.text(), timeout=60_000)
    assert ran.exists()


def test_that_a_line_and_its_fields_are_one_thing(own: OwnScript, qtbot: QtBot) -> None:
    with_options(own, qtbot, "A=1 python -u train.py --steps 7 --unknown x")
    assert field(own, "steps").text() == "7"
    assert field(own, "lr").text() == ""
    assert field(own, "lr").placeholderText() == "0.1"
    choice, quiet = own.findChild(QComboBox, "own_option.loss"), own.findChild(QCheckBox, "own_option.quiet")
    choice.setCurrentIndex(choice.findData("l1"))
    choice.activated.emit(choice.currentIndex())
    quiet.click()
    words = shlex.split(line(own).toPlainText())
    assert words[:4] == ["A=1", "python", "-u", "train.py"]
    assert words[-2:] == ["--unknown", "x"]
    assert "--quiet" in words
    assert words[words.index("--loss") + 1] == "l1"
    line(own).setPlainText("A=1 python -u train.py --steps 8")
    assert field(own, "steps").text() == "8"
    assert not quiet.isChecked()
    assert choice.currentData() is None
    assert line(own).toPlainText() == "A=1 python -u train.py --steps 8"


def test_that_what_is_shown_to_copy_is_what_starts(own: OwnScript, project: Path, qtbot: QtBot) -> None:
    assert own.copies.isHidden()
    with_options(own, qtbot, "python train.py --lr 0.3 \\\n  --steps 2")
    assert own.form.spec().program.line == ("python", "train.py", "--lr", "0.3", "--steps", "2")
    shown = shlex.split(own.copies.view.toPlainText().replace("\\\n", " "))
    assert shown[1:3] == ["--project", str(project)]
    assert shown[shown.index("--") + 1 :] == ["python", "train.py", "--lr", "0.3", "--steps", "2"]
    own.copies.tabs.setCurrentIndex(1)
    assert json.loads(own.copies.view.toPlainText()) == schema.to_json(own.form.spec())
    assert own.sentence.text() == "Runs train.py in project."


def test_that_an_untouched_page_says_what_belongs_there_and_a_wrong_line_what_is_wrong(own: OwnScript) -> None:
    assert own.sentence.text().startswith("Write the line you train with")
    assert not own.start_button.isEnabled()
    assert not own.rehearse.button.isEnabled()
    assert own.sentence.property("role") == "dim"
    line(own).setPlainText("python 'train.py")
    assert own.sentence.property("role") == "bad"
    assert not own.copies.copy_button.isEnabled()
    line(own).setPlainText("python no_such_file.py")
    assert "no_such_file.py" in " ".join(found.text() for found in own.form.box("line").findChildren(QLabel))
    line(own).setPlainText("bash -c 'sleep 1'")
    assert own.start_button.isEnabled()
    line(own).setPlainText("")
    assert own.sentence.property("role") == "dim"


def test_that_options_that_must_be_given_come_first_and_are_marked(own: OwnScript, project: Path, qtbot: QtBot) -> None:
    (project / "many.py").write_text(
        "import argparse\np = argparse.ArgumentParser()\n"
        + "".join(f"p.add_argument('--o{place}', type=int, default={place})\n" for place in range(30))
        + "p.add_argument('--lr', required=True)\np.parse_args()\n"
    )
    with_options(own, qtbot, "python many.py")
    assert own.options.boxes[0].option.flag == "--lr"
    assert field(own, "lr").property("wrong") == "true"
    more = own.findChild(QPushButton, "own_script.more_options")
    assert more.text() == "Show all 31"
    more.click()
    assert len(own.options.boxes) == 31
    assert more.isHidden()
    type_option(own, "lr", "0.1")
    assert field(own, "lr").property("wrong") == "false"
    looks.settle()
    assert looks.faults(own) == []
    change_language("zh")
    looks.settle()
    assert looks.faults(own) == []


def test_that_a_dropped_file_becomes_the_line_that_runs_it(own: OwnScript, project: Path) -> None:
    (project / "run all.sh").write_text("python train.py\n")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(project / "run all.sh"))])
    line(own).insertFromMimeData(data)
    assert line(own).toPlainText() == "bash 'run all.sh'"
    assert own.form.problems() == ()


def test_that_each_project_keeps_its_choice_and_its_line(
    own: OwnScript, project: Path, session: Session, shell: Shell, tmp_path: Path
) -> None:
    page = shell.page_widget("launch")
    line(own).setPlainText("python train.py")
    other = tmp_path / "other"
    other.mkdir()
    session.open_project(other)
    assert page.tabs.currentIndex() == 0
    assert own.form.spec().program.line == ()
    assert own.form.spec().program.workdir == other
    session.open_project(project)
    assert page.tabs.currentIndex() == 1
    assert line(own).toPlainText() == "python train.py"


def test_that_a_window_opened_later_begins_with_the_last_own_script_of_the_project(
    project: Path, session: Session, qtbot: QtBot
) -> None:
    spec = schema.with_value(OwnSpec(), "line", ("python", "train.py", "--steps", "3"))
    runs.create(make_runs_folder(session.project), "script", schema.to_json(spec), project)
    session.look()
    page = make_page(session)
    qtbot.addWidget(page)
    assert page.tabs.currentIndex() == 1
    assert page.own().form.spec() == spec
    assert session.run is None


def test_that_a_log_pattern_shows_what_it_finds_while_it_is_written(
    own: OwnScript, project: Path, session: Session, qtbot: QtBot
) -> None:
    own.form.card("recording").fold(False)
    preview = own.pattern
    qtbot.waitUntil(lambda: "There is no log" in preview.sentence.text())
    spec = schema.with_value(OwnSpec(), "line", ("python", "train.py"))
    run = runs.create(make_runs_folder(session.project), "script", schema.to_json(spec), project)
    run.log.write_text("".join(f"it {step} | cost {1 / step:.3f}\n" for step in range(1, 9)))
    session.look()
    own.form.set_spec(
        schema.with_value(
            schema.with_value(own.form.spec(), "log_pattern", "own"), "pattern", "it {step} : cost {loss}"
        )
    )
    qtbot.waitUntil(lambda: "No line of" in preview.sentence.text(), timeout=20_000)
    own.form.set_value("pattern", "it {step} [|] cost {loss}")
    qtbot.waitUntil(lambda: "8 lines of train.py" in preview.sentence.text(), timeout=20_000)
    cells = [label.text() for label in preview.table.findChildren(QLabel) if label.isVisible()]
    assert cells[:2] == ["step", "Loss"]
    assert "0.1250" in cells
    own.form.set_value("pattern", "it (")
    qtbot.waitUntil(lambda: "is not an expression" in preview.sentence.text(), timeout=20_000)
    press(preview, "own_script.paste")
    own.form.set_value("log_pattern", "auto")
    preview.paste.setPlainText("iter 10: loss 2.5000, time 12.00ms, mfu 3.00%")
    qtbot.waitUntil(lambda: "nanoGPT: 1 lines of the pasted lines match" in preview.sentence.text(), timeout=20_000)
    looks.settle()
    assert looks.faults(own) == []
    own.form.set_value("log_pattern", "off")
    assert preview.isHidden()


def test_that_ctrl_return_starts_what_is_shown(own: OwnScript, project: Path, session: Session, shell: Shell) -> None:
    trust.set_trust(project, True)
    line(own).setPlainText("python train.py --steps nonsense")
    action = next(one for one in shell.page_widget("launch").actions() if one.objectName() == "launch.start")
    action.trigger()
    assert session.run is not None
    assert session.run.asked.command == "script"
    ended(session.run, 60)
