"""From a CUDA project to a certificate without a card, by clicks in one window: scanned, migrated, trained on the
virtual NPU with live curves, its memory and operators looked at, a mistake found, mended, certified."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QPushButton, QWidget

from studio import schema
from studio.security import trust
from studio.texts import t
from tests.ui import looks
from ui.curves.page import CurvesPage
from ui.launch.page import LaunchPage
from ui.migration.page import MigrationPage
from ui.migration.views import CHANGES, FINDINGS

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session
    from ui.shell.window import Shell

STEPS = 12
TRAIN = """\
import time

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 1)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
data, target = torch.randn(8, 16), torch.randn(8, 1)
for step in range(12):
    with torch.autocast(device.type, dtype=torch.bfloat16):
        loss = (model(data.to(device)).float() - target.to(device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
    time.sleep(0.25)
"""
MISTAKE = ("torch.bfloat16", "torch.float16")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "gpu-project"
    folder.mkdir()
    (folder / "train.py").write_text(TRAIN, encoding="utf-8")
    return folder


class Walk:
    """What the user does, page by page."""

    def __init__(self, qtbot: QtBot, shell: Shell, session: Session) -> None:
        self.qtbot, self.shell, self.session = qtbot, shell, session

    def press(self, place: QWidget, name: str) -> None:
        (button,) = [each for each in place.findChildren(QPushButton, name) if each.isVisible()]
        assert button.isEnabled()
        button.click()

    def until_runs(self, condition: object) -> None:
        assert callable(condition)
        self.qtbot.waitUntil(lambda: self.session.refresh_runs() or condition())

    def runs(self, command: str) -> list[Run]:
        return [run for run, _ in self.session.listed if run.request.command == command]

    def migrate(self) -> MigrationPage:
        page = self.shell.page_widget("migration")
        assert isinstance(page, MigrationPage)
        self.shell.show_page("migration")
        self.press(page, "migration_scan_first")
        self.until_runs(lambda: page.scan is not None)
        page.tabs.setCurrentIndex(FINDINGS)
        assert page.scan is not None
        assert {finding.line for finding in page.scan.findings} >= {6, 12}
        page.tabs.setCurrentIndex(CHANGES)
        self.press(page, "migration_plan")
        self.qtbot.waitUntil(lambda: page.changes.plan is not None and bool(page.changes.diff.rows))
        self.press(page, "migration.changes.apply")
        self.qtbot.waitUntil(lambda: self._sheet(page, "migration_apply_sheet") is not None)
        self.press(self._sheet(page, "migration_apply_sheet") or page, "migration.changes.apply_now")
        self.until_runs(lambda: not page.changes.applied.isHidden())
        return page

    def _sheet(self, page: QWidget, name: str) -> QWidget | None:
        return next((each for each in page.window().findChildren(QWidget, name) if each.isVisible()), None)

    def train(self, folder: Path) -> CurvesPage:
        """Open the copy, take the offer of a rehearsal as NPU, and watch its curves while it trains."""
        self.session.open_project(folder)
        trust.set_trust(folder, True)
        self.shell.show_page("launch")
        launch = self.shell.page_widget("launch")
        assert isinstance(launch, LaunchPage)
        launch.show_own()
        own = launch.own()
        own.form.set_value("line", ("python", "train.py"))
        own.form.set_value("python", Path(sys.executable))
        own.rehearse.spec = schema.with_value(own.rehearse.spec, "steps", STEPS)
        self.qtbot.waitUntil(own.npu_offer.isVisible)
        self.press(own, "own_script_npu_rehearse")
        self.qtbot.waitUntil(lambda: self.shell.page == "curves")
        curves = self.shell.page_widget("curves")
        assert isinstance(curves, CurvesPage)
        self.until_runs(lambda: self._points(curves) > 2)
        assert self._state() == "running", "its curves are drawn while it trains"
        self.until_runs(lambda: self._state() == "ended")
        self.qtbot.waitUntil(lambda: self._points(curves) == STEPS)
        return curves

    def _state(self) -> str:
        return next(glance.state for run, glance in self.session.listed if run == self.session.run)

    def _points(self, curves: CurvesPage) -> int:
        series = curves.watcher.curves.series if curves.watcher is not None else {}
        return len(series[0, "loss"]) if (0, "loss") in series else 0

    def prove(self, page: MigrationPage) -> str:
        """Return what the certificate says."""
        before = page.proof.certificate
        self.press(page, "migration.proof.prove" if before is None else "migration.proof.again")
        if page.consent.isVisible():
            page.consent._agree.click()
        self.until_runs(lambda: page.proof.certificate not in (None, before))
        return page.proof.chip.text()


def test_that_a_cuda_project_becomes_a_certified_npu_project_without_a_card(
    qtbot: QtBot, shell: Shell, session: Session, project: Path
) -> None:
    walk = Walk(qtbot, shell, session)
    session.open_project(project)
    migration = walk.migrate()
    copy = project.with_name("gpu-project-npu")
    assert (project / "train.py").read_text() == TRAIN

    curves = walk.train(copy)
    card = curves.content.rehearsal
    qtbot.waitUntil(lambda: card.isVisible() and card.memory is not None and card.inventory is not None)
    assert card.report is not None
    assert card.report.is_virtual
    assert card.memory_view.kinds.isVisible()
    assert card.operators_view.isVisible()
    qtbot.waitUntil(lambda: not looks.faults(curves))

    right = (copy / "train.py").read_text()
    assert MISTAKE[0] in right
    (copy / "train.py").write_text(right.replace(*MISTAKE))
    session.open_project(project)
    shell.show_page("migration")
    qtbot.waitUntil(lambda: migration.scan is not None and not migration.changes.applied.isHidden())
    migration.tabs.setCurrentIndex(CHANGES)
    walk.press(migration, "migration.changes.prove")
    migration.proof.boxes["line"].input.setPlainText("python train.py")
    migration.proof._set("python", Path(sys.executable))
    migration.proof._judge()
    assert walk.prove(migration) == t("migration.proof.refused")
    certificate = migration.proof.certificate
    assert certificate is not None
    assert "dtypes" in {check.name for check in certificate.checks if check.state == "fail"}

    (copy / "train.py").write_text(right)
    assert walk.prove(migration) == t("migration.proof.granted")
    qtbot.waitUntil(lambda: not looks.faults(migration))
