"""Your own script on the Launch page: a line and its options are one thing, and what starts is what is shown."""

from __future__ import annotations

import json
import os
import shlex
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

from backends.common.rehearsal import read_report
from backends.launch.own.spec import OwnSpec
from backends.launch.rehearse.spec import RehearseSpec
from backends.migration.certify.certificate import CERTIFICATE_FILE, Certificate
from backends.migration.certify.spec import CertifySpec
from studio import files, interpreters, schema, texts
from studio import run as runs
from studio.events import Ended, Journal
from studio.paths import ASSETS
from studio.project import make_runs_folder
from studio.security import trust
from tests.runs import ended
from tests.ui import looks
from ui.home import journey_steps as home_steps
from ui.launch.page import make_page
from ui.services import last_program
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.launch.user_script.side import OwnScript
    from ui.services.session import Session
    from ui.shell.window import Shell

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
NPU_SCRIPT = """
import torch
import torch_npu

model = torch.nn.Linear(1, 1).npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    loss = model(torch.ones(4, 1, device="npu")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
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
    qtbot.waitUntil(lambda: own.findChild(QLineEdit, "own_option.lr") is not None)


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
    qtbot.waitUntil(lambda: runs.glance(run).state == "ended")
    assert runs.glance(run).code == 0, run.log.read_text()
    losses = printed(run)
    assert [rate for _, rate in losses] == ["0.25"] * 12
    page = shell.page_widget("curves")
    qtbot.waitUntil(lambda: page.watcher is not None and (0, "loss") in page.watcher.curves.series)
    drawn = page.watcher.curves.series[0, "loss"]
    qtbot.waitUntil(lambda: len(drawn) == 12)
    assert [float(value) for value in drawn.values] == [float(text) for text, _ in losses]
    assert page.content.grid.isVisible()
    assert "train.py" in page.chip.text()
    assert page.content.add_line.isHidden()
    session.refresh_runs()
    assert [step.key for step in home_steps.steps(session) if step.id == "launch"] == ["journey.launch_again"]


def test_that_a_script_for_an_npu_is_offered_the_virtual_one_where_the_host_has_none(
    own: OwnScript, project: Path, session: Session, shell: Shell, qtbot: QtBot
) -> None:
    line(own).setPlainText("python train.py")
    assert own.npu_offer.isHidden()
    (project / "npu.py").write_text(NPU_SCRIPT)
    line(own).setPlainText("python npu.py")
    qtbot.waitUntil(own.npu_offer.isVisible)
    line(own).setPlainText("python")
    assert own.npu_offer.isHidden()
    line(own).setPlainText("python npu.py")
    own.form.set_value("python", Path(sys.executable))
    qtbot.waitUntil(own.npu_offer.isVisible)
    press(own, "own_script_npu_rehearse")
    press(own.consent, "launch.trust")
    run = session.run
    assert run is not None
    qtbot.waitUntil(lambda: runs.glance(run).state == "ended", timeout=60_000)
    report = read_report(run.folder)
    assert report is not None, run.log.read_text()
    assert (report.stance, report.device, report.steps) == ("npu", "virtual_npu", 3)
    page = shell.page_widget("curves")
    qtbot.waitUntil(lambda: page.watcher is not None and (0, "loss") in page.watcher.curves.series)


def test_that_the_choice_is_named_in_both_languages(own: OwnScript, shell: Shell) -> None:
    tabs = shell.page_widget("launch").tabs
    assert [tabs.tabText(0), tabs.tabText(1)] == ["Studio's recipe", "Your own script"]
    change_language("zh")
    assert [tabs.tabText(0), tabs.tabText(1)] == ["工作台样例", "自己的脚本"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_that_each_card_has_a_section_in_the_help(language: texts.Language) -> None:
    page = (ASSETS / "help" / language / "6-own-scripts.md").read_text(encoding="utf-8")
    cards = {field.section for spec in (OwnSpec, RehearseSpec) for field in schema.fields(spec)}
    names = texts.all_texts(language)
    assert not [card for card in cards if f"\n## {names[f'launch.section.{card}']}\n" not in page]


def test_that_interpreters_are_listed_with_what_they_have_and_can_be_chosen(own: OwnScript, qtbot: QtBot) -> None:
    card = own.interpreters
    qtbot.waitUntil(lambda: bool(card.rows))
    # Where the environment is active, PATH leads to it by another of its names first.
    mine = next(row for row in card.rows if row.path.parent == Path(sys.executable).parent)
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
    qtbot.waitUntil(lambda: bool(card.rows))
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
    qtbot.waitUntil(lambda: any(row.path == python for row in card.rows))
    row = next(row for row in card.rows if row.path == python)
    assert row.button.text() == ".venv/bin/python"
    assert row.hint.text() == "Python 3.11.9 · torch 2.9.0"
    card.rows = [row]
    card.try_them()
    assert row.hint.text() == "Python 3.11.9 · torch 2.9.0"
    assert not ran.exists()
    trust.set_trust(project, True)
    card.try_them()
    qtbot.waitUntil(lambda: "crashed" in row.hint.text())
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
    assert own.sentence.text().startswith("Write the command you train with")
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
    line(own).setPlainText("python many.py --o20 5")
    assert field(own, "o20").text() == "5"
    assert len(own.options.boxes) == 13
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


def test_that_a_capture_that_precision_asked_for_is_not_in_the_next_plain_start(
    project: Path, session: Session, qtbot: QtBot
) -> None:
    spec = schema.with_value(OwnSpec(), "line", ("python", "train.py"))
    for name, value in (("capture", "dump"), ("capture_level", "mix"), ("capture_casts", True), ("capture_steps", 1)):
        spec = schema.with_value(spec, name, value)
    runs.create(make_runs_folder(session.project), "script", schema.to_json(spec), project)
    session.refresh_runs()
    page = make_page(session)
    qtbot.addWidget(page)
    qtbot.waitUntil(lambda: page.own().form.spec().program.line == ("python", "train.py"))
    chosen = page.own().form.spec()
    assert chosen.planned == OwnSpec().planned


def test_that_a_window_opened_later_begins_with_the_last_own_script_of_the_project(
    project: Path, session: Session, qtbot: QtBot
) -> None:
    spec = schema.with_value(OwnSpec(), "line", ("python", "train.py", "--steps", "3"))
    runs.create(make_runs_folder(session.project), "script", schema.to_json(spec), project)
    session.refresh_runs()
    page = make_page(session)
    qtbot.addWidget(page)
    assert page.tabs.currentIndex() == 1
    qtbot.waitUntil(lambda: page.own().form.spec() == spec)
    assert session.run is None


def test_that_the_window_waits_for_no_folder_and_no_certificate(
    project: Path, session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search takes as long here as the page takes to be used; a line that is written meanwhile stays."""
    threads, is_there, is_open = [], last_program._is_there, threading.Event()

    def slowly(*args: Any) -> bool:
        threads.append(threading.current_thread())
        is_open.wait()
        return is_there(*args)

    monkeypatch.setattr(last_program, "_is_there", slowly)
    spec = schema.with_value(OwnSpec(), "line", ("python", "train.py"))
    runs.create(make_runs_folder(session.project), "script", schema.to_json(spec), project)
    session.refresh_runs()
    page = make_page(session)
    qtbot.addWidget(page)
    page.own().form.set_value("line", ("python", "other.py"))
    session.refresh_runs()
    is_open.set()
    qtbot.waitUntil(lambda: not page.own()._search._is_running)
    assert threads
    assert threading.main_thread() not in threads
    assert page.own().form.spec().program.line == ("python", "other.py")


def certified(session: Session, project: Path, code: int) -> Path:
    """A certificate as it ends, with the rehearsal that ran in a copy that is gone; returns the migrated folder."""
    migrated, folder = project.with_name("gpt-npu"), make_runs_folder(session.project)
    migrated.mkdir(exist_ok=True)
    spec = CertifySpec()
    line = ("python", str(project / "train.py"), "--device", "cuda")
    for name, value in {"original": project, "migrated": migrated, "line": line, "workdir": project}.items():
        spec = schema.with_value(spec, name, value)
    run = runs.create(folder, "certify", schema.to_json(spec), project)
    files.write_json(run.folder / CERTIFICATE_FILE, Certificate(
        granted=not code, original=str(project), migrated=str(migrated), line=line, workdir="", seed=1, checks=(),
        migrated_line=(*line[:-1], "npu"),
    ))  # fmt: skip
    Journal(run.folder, 1).write(Ended(code=code, reason="no" if code else ""))
    rehearsed = schema.with_value(RehearseSpec(), "line", line)
    rehearsed = schema.with_value(rehearsed, "workdir", run.folder / "copies" / "migrated" / "gpt")
    Journal(runs.create(folder, "rehearse", schema.to_json(rehearsed), project).folder, 1).write(Ended(code=0))
    session.refresh_runs()
    return migrated


def test_that_a_proof_is_followed_by_the_migrated_project_and_by_no_copy_that_is_gone(
    project: Path, session: Session, qtbot: QtBot
) -> None:
    certified(session, project, code=3)
    page = make_page(session)
    qtbot.addWidget(page)
    form = page.own().form
    qtbot.waitUntil(lambda: form.spec().program.line[1:2] == (str(project / "train.py"),))
    assert form.spec().program.workdir == project, "refused: the original"
    migrated = certified(session, project, code=0)
    qtbot.waitUntil(lambda: form.spec().program.workdir == migrated)
    program = form.spec().program
    assert program.line == ("python", str(migrated / "train.py"), "--device", "npu")
    page.own().form.set_value("line", ("python", "other.py"))
    certified(session, project, code=0)
    qtbot.waitUntil(lambda: not page.own()._search._is_running)
    assert form.spec().program.line == ("python", "other.py"), "what was written stays"


def test_that_a_log_pattern_shows_what_it_finds_while_it_is_written(
    own: OwnScript, project: Path, session: Session, qtbot: QtBot
) -> None:
    own.form.card("recording").fold(False)
    preview = own.pattern
    qtbot.waitUntil(lambda: "There is no log" in preview.sentence.text())
    spec = schema.with_value(OwnSpec(), "line", ("python", "train.py"))
    run = runs.create(make_runs_folder(session.project), "script", schema.to_json(spec), project)
    run.log.write_text("".join(f"it {step} | cost {1 / step:.3f}\n" for step in range(1, 9)))
    session.refresh_runs()
    qtbot.waitUntil(lambda: own.form.spec().program.line == ("python", "train.py"))
    own.form.set_spec(
        schema.with_value(
            schema.with_value(own.form.spec(), "log_pattern", "own"), "pattern", "it {step} : cost {loss}"
        )
    )
    qtbot.waitUntil(lambda: "No line of" in preview.sentence.text())
    own.form.set_value("pattern", "it {step} [|] cost {loss}")
    qtbot.waitUntil(lambda: "8 lines of train.py" in preview.sentence.text())
    looks.settle()
    labels = [label for label in preview.table.findChildren(QLabel) if label.isVisible()]
    cells = [label.text() for label in sorted(labels, key=lambda label: (label.y(), label.x()))]
    assert cells[:2] == ["step", "Loss"]
    assert "0.1250" in cells
    own.form.set_value("pattern", "it (")
    qtbot.waitUntil(lambda: "is not a valid Python regular expression" in preview.sentence.text())
    press(preview, "own_script.paste")
    own.form.set_value("log_pattern", "auto")
    preview.paste.setPlainText("iter 10: loss 2.5000, time 12.00ms, mfu 3.00%")
    qtbot.waitUntil(lambda: "nanoGPT: 1 lines of the pasted lines match" in preview.sentence.text())
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
    assert session.run.request.command == "script"
    ended(session.run)


def test_that_the_fields_of_a_subcommand_come_with_it(own: OwnScript, project: Path, qtbot: QtBot) -> None:
    (project / "train.py").write_text(
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr')\n"
        "s = p.add_subparsers(dest='mode')\none = s.add_parser('fit')\none.add_argument('--epochs', default='1')\n"
        "one = s.add_parser('test')\none.add_argument('--folds', default='2')\n"
    )
    with_options(own, qtbot, "python train.py --lr 1")
    mode = own.findChild(QComboBox, "own_option.mode")
    for chosen, name, gone in (("fit", "epochs", "folds"), ("test", "folds", "epochs")):
        mode.setCurrentIndex(mode.findData(chosen))
        mode.activated.emit(mode.currentIndex())
        assert line(own).toPlainText() == f"python train.py --lr 1 {chosen}"
        assert [box.option.name for box in own.options.boxes] == ["lr", "mode", name]
        assert gone not in [box.option.name for box in own.options.boxes]
    type_option(own, "folds", "3")
    assert line(own).toPlainText() == "python train.py --lr 1 test --folds 3"


NANO = """
out_dir = 'out' # where it goes
learning_rate = 6e-4
batch_size = 12 # rows
compile = True
dtype = 'a' if compile else 'b'
config_keys = [k for k in globals()]
exec(open('configurator.py').read())
"""


def nano(project: Path) -> None:
    (project / "config").mkdir()
    (project / "train.py").write_text(NANO)
    (project / "config" / "small.py").write_text("# small\nbatch_size = 4\nlearning_rate = 1e-3\ncompile = False\n")
    (project / "config" / "long.py").write_text("batch_size = 64\n")


def test_that_a_file_of_assignments_gives_the_defaults_and_a_change_is_written_behind_it(
    own: OwnScript, project: Path, qtbot: QtBot
) -> None:
    nano(project)
    line(own).setPlainText("python train.py")
    qtbot.waitUntil(lambda: own.findChild(QLineEdit, "own_option.batch_size") is not None)
    batch, rate = field(own, "batch_size"), field(own, "learning_rate")
    assert (batch.placeholderText(), rate.placeholderText()) == ("12", "0.0006")
    press(own, "own_option.config.browse")
    dialog = own.window().findChild(QFileDialog, "file_dialog")
    dialog.fileSelected.emit(str(project / "config" / "small.py"))
    dialog.close()
    assert line(own).toPlainText() == "python train.py config/small.py"
    qtbot.waitUntil(lambda: batch.placeholderText() == "4")
    assert rate.placeholderText() == "0.001"
    hints = [found.text() for found in batch.parentWidget().findChildren(QLabel)]
    assert "Set by small.py. rows" in hints
    type_option(own, "batch_size", "12")  # the script's own value, which the file has changed
    type_option(own, "learning_rate", "1")
    choice = own.findChild(QComboBox, "own_option.compile")
    assert choice.itemText(0) == "Default: False"
    choice.setCurrentIndex(choice.findData(True))
    choice.activated.emit(choice.currentIndex())
    words = shlex.split(line(own).toPlainText())[2:]
    assert words == ["config/small.py", "--learning_rate=1.0", "--batch_size=12", "--compile=True"]
    line(own).setPlainText("python train.py config/small.py config/long.py --batch_size=4")
    qtbot.waitUntil(lambda: batch.placeholderText() == "64")
    assert batch.text() == "4"
    assert batch is field(own, "batch_size")
    (project / "config" / "long.py").write_text("batch_size = 65\nlearning_rate = 2e-3\n")
    type_option(own, "batch_size", "5")
    qtbot.waitUntil(lambda: rate.placeholderText() == "0.002")
    assert line(own).toPlainText() == "python train.py config/small.py config/long.py --batch_size=5"
    line(own).setPlainText("python train.py config/nope.py")
    qtbot.waitUntil(lambda: bool(own.options.configs))
    assert "nope.py does not exist" in own.options.configs[0].findChildren(QLabel)[2].text()
    assert batch.placeholderText() == "12"
    looks.settle()
    assert looks.faults(own) == []


def test_that_a_configuration_that_the_line_names_is_shown_and_never_written(
    own: OwnScript, project: Path, qtbot: QtBot
) -> None:
    (project / "train.py").write_text(SCRIPT + "\n# --config\n")
    conf = project / "conf.yaml"
    conf.write_text("train:\n  lr: 1e-3  # fast\n  sizes: [1, 2]\napi_key: very-secret\n名字: 值 🎉\n")
    before = conf.read_bytes()
    with_options(own, qtbot, "python train.py --lr 0.1 --config conf.yaml")
    qtbot.waitUntil(lambda: len(own.options.configs) == 1)
    shown = own.options.configs[0]
    said = [found.text() for found in shown.findChildren(QLabel)]
    assert said[0] == "Values in conf.yaml"
    assert said[3:9] == ["train.lr", "1e-3", "train.sizes", "[1, 2]", "api_key", "hidden: it may be a secret"]
    assert not [text for text in said if "very-secret" in text]
    looks.settle()
    assert looks.faults(own) == []
    change_language("zh")
    looks.settle()
    assert looks.faults(own) == []
    assert shown.findChildren(QLabel)[0].text() == "conf.yaml 中的值"
    assert conf.read_bytes() == before
    conf.write_bytes(b"\xff\xfe\0")
    type_option(own, "lr", "0.2")
    qtbot.waitUntil(lambda: own.options.configs != [shown])
    assert "UTF-8" in own.options.configs[0].findChildren(QLabel)[2].text()
    line(own).setPlainText("python train.py --lr 0.2")
    qtbot.waitUntil(lambda: own.options.configs == [])


def test_that_a_file_is_shown_as_a_configuration_only_where_the_line_says_that_it_is_one(
    own: OwnScript, project: Path, qtbot: QtBot
) -> None:
    (project / "d.json").write_text('{"lr": 1}')
    with_options(own, qtbot, "python train.py --config d.json")
    qtbot.waitUntil(lambda: len(own.options.configs) == 1)
    line(own).setPlainText("python train.py --data d.json")
    qtbot.waitUntil(lambda: own.options.configs == [])


@pytest.mark.parametrize("text", ["python -m tool.train {}", "tool-cli train {}", "bash run.sh -c {}"])
def test_that_a_line_without_a_script_to_read_shows_its_configuration_as_well(
    own: OwnScript, project: Path, qtbot: QtBot, text: str
) -> None:
    (project / "run.sh").write_text("tool $*\n")
    (project / "c.yaml").write_text("stage: sft\n")
    line(own).setPlainText(text.format("c.yaml"))
    qtbot.waitUntil(lambda: [box.config.path.name for box in own.options.configs] == ["c.yaml"])
    assert own.options.isVisible()
    looks.settle()
    assert looks.faults(own) == []
    line(own).setPlainText(text.format("d.txt"))
    qtbot.waitUntil(lambda: own.options.configs == [] and own.options.isHidden())


def test_that_a_configuration_that_is_a_pipe_is_not_waited_for(own: OwnScript, project: Path, qtbot: QtBot) -> None:
    os.mkfifo(project / "conf.yaml")
    with_options(own, qtbot, "python train.py --config conf.yaml")
    qtbot.waitUntil(lambda: len(own.options.configs) == 1)
    assert "is not a UTF-8 text file" in own.options.configs[0].findChildren(QLabel)[2].text()


def _environment(folder: Path, *packages: str) -> Path:
    """A virtual environment as its files tell; its interpreter does nothing and succeeds."""
    site = folder / "lib" / "python3.11" / "site-packages"
    for name in packages:
        (site / name).mkdir(parents=True)
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text("version = 3.11")
    (folder / "bin" / "python").write_text("#!/bin/sh\nexit 0\n")
    (folder / "bin" / "python").chmod(0o755)
    return folder / "bin" / "python"


def test_that_the_interpreter_offered_first_can_import_what_the_script_imports(
    qtbot: QtBot, shell: Shell, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare, having = _environment(tmp_path / "bare", "pip"), _environment(tmp_path / "having", "rare_package")
    monkeypatch.setattr(interpreters, "discover", lambda _project: (bare, having))
    monkeypatch.setenv("PATH", f"{bare.parent}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_text("import rare_package\n")
    session.open_project(folder)
    page = shell.page_widget("launch")
    shell.show_page("launch")
    page.show_own()
    side: OwnScript = page.own()
    side.form.set_value("line", ("python", "train.py"))
    qtbot.waitUntil(lambda: side.form.spec().program.python == having)
    assert [row.path for row in side.interpreters.rows] == [having, bare]
    assert "rare_package" in side.interpreters.rows[1].hint.text()
    assert side.interpreters.rows[0].button.isChecked()
    (folder / "other.py").write_text("import os\n")
    side.form.set_value("line", ("python", "other.py"))
    qtbot.waitUntil(lambda: side.form.spec().program.python == Path())
    side.interpreters.rows[1].button.click()
    assert side.form.spec().program.python == side.interpreters.rows[1].path
