"""A rehearsal that is asked for in the window: its card says what came of it, and that it was one."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel, QPushButton

from backends.common.rehearsal import FILE, OPERATORS, Fallback
from studio import run as runs
from tests.ui import looks
from tests.ui.launch.rehearsals import REPORT, rehearsed
from ui.launch.user_script.rehearse_button import RehearsalSheet
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from ui.curves.page import CurvesPage
    from ui.services.session import Session
    from ui.shell.window import Shell

SCRIPT = """
import torch

torch.manual_seed(0)
model = torch.nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(50):
    loss = model(torch.ones(2, 4, device="cuda")).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("LOSS", repr(loss.item()))
"""


def test_that_a_script_for_cuda_is_rehearsed_from_the_launch_page_and_its_card_holds_what_ran(
    shell: Shell, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    shell.show_page("launch")
    launch = shell.page_widget("launch")
    launch.show_own()
    own = launch.own()
    own.choose_script(tmp_path / "train.py")
    own.form.set_value("python", Path(sys.executable))
    own.rehearse.button.click()
    sheet = shell.findChild(RehearsalSheet)
    assert isinstance(sheet, RehearsalSheet)
    sheet.boxes["steps"].input.setText("0")
    sheet.boxes["steps"].input.edited.emit()
    assert not sheet.start_button.isEnabled()
    sheet.boxes["steps"].input.setText("4")
    sheet.boxes["steps"].input.edited.emit()
    sheet.start_button.click()
    run = session.run
    assert run is not None
    assert run.request.command == "rehearse"
    assert shell.page == "curves"
    page = shell.page_widget("curves")
    assert page.sentence.text().startswith("A rehearsal on the CPU")
    qtbot.waitUntil(lambda: runs.glance(run).state == "ended")
    qtbot.waitUntil(page.content.rehearsal.isVisible)
    found = page.content.rehearsal.report
    assert found is not None
    assert found.answer, run.log.read_text()
    assert found.stance == "cuda"
    printed = [float(text.split()[1]) for text in run.log.read_text().splitlines() if text.startswith("LOSS")]
    assert list(found.losses)[: len(printed)] == printed
    assert len(found.losses) == 4
    assert found.redirected
    assert page.content.rehearsal.redirections.isVisible()
    assert "Rehearsal" in page.chip.text()
    assert page.content.grid.isVisible()
    with (run.folder / OPERATORS).open(newline="") as file:
        assert len({row["operator"] for row in csv.DictReader(file)}) == found.operators
    assert page.content.rehearsal.open_button.isVisible()
    qtbot.waitUntil(lambda: looks.faults(page.content.rehearsal) == [])


def test_that_a_refusal_says_so_and_where(page: CurvesPage, session: Session, qtbot: QtBot) -> None:
    rehearsed(session, REPORT, code=3)
    qtbot.waitUntil(page.content.rehearsal.isVisible)
    assert page.content.rehearsal.ended.text() == "A host with an NPU could not train this as it is."
    assert page.content.rehearsal.blocked.text() == "train.py:5 raises: Torch not compiled with CUDA enabled"
    assert page.content.rehearsal.rest.text() == "8 more are in artifacts/rehearsal.json."
    assert "the answer is no" in page.sentence.text()
    assert page.chip.text() == "Rehearsal · train.py · Not passed"
    assert page.chip.property("tone") == "bad"
    assert page.content.reason.isHidden()
    assert not page.content.rehearsal.open_button.isVisible()
    change_language("zh")
    assert page.content.rehearsal.ended.text() == "不做修改就无法在 NPU 主机上训练。"
    looks.settle()
    assert looks.faults(page.content.rehearsal) == []


def test_that_a_script_that_left_the_npu_alone_is_told_so(page: CurvesPage, session: Session, qtbot: QtBot) -> None:
    report = replace(REPORT, steps=3, redirected={}, blocked=())
    rehearsed(session, report, code=3)
    qtbot.waitUntil(page.content.rehearsal.isVisible)
    assert "put nothing on the NPU" in page.content.rehearsal.ended.text()
    assert not page.content.rehearsal.blocked.isVisible()


def test_that_the_card_says_that_the_npu_was_a_virtual_one(page: CurvesPage, session: Session, qtbot: QtBot) -> None:
    fallback = Fallback(operator="mode", kind="fallback", path="/x/train.py", line=7, calls=2, bytes_moved=3000)
    report = replace(
        REPORT, device="virtual_npu", device_operators=1234, answer=True, blocked=(), fallbacks=(fallback,)
    )
    rehearsed(session, report)
    card = page.content.rehearsal
    qtbot.waitUntil(card.isVisible)
    texts = [widget.text() for widget in card.findChildren(QLabel) if widget.isVisible()]
    assert "Virtual NPU, computed by this host's CPU" in texts
    assert "Calls of torch.npu" in texts
    assert not [text for text in texts if "redirected" in text]
    assert card.blocked.text() == "train.py:7 needs mode, which a card leaves to the host: 3.0 kB moved"
    assert looks.faults(card) == []


def test_that_a_rehearsal_without_a_report_shows_no_card(page: CurvesPage, session: Session, qtbot: QtBot) -> None:
    run = rehearsed(session, None, code=1)
    qtbot.waitUntil(lambda: page.watcher is not None and page.watcher.is_loaded and bool(page.sentence.text()))
    assert "A rehearsal on the CPU that failed" in page.sentence.text()
    assert page.content.rehearsal.isHidden()
    (run.folder / FILE).write_text('{"stance": 4}')
    assert page.content.rehearsal.isHidden()
    assert page.findChild(QPushButton, "curves.rehearsal.open") is not None
