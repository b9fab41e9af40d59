"""A training with a loss that is no number, on Curves: amber, with its sentence and the way to the overflow check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.common.nonfinite_losses import judged_end
from studio.events import Ended, Finding, Journal, Metric
from studio.texts import t
from tests.ui.curves.recording import recorded
from ui.curves.page import CurvesPage
from ui.services.run_titles import tone_of

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session


@pytest.fixture
def page(qtbot: QtBot, session: Session) -> CurvesPage:
    page = CurvesPage(session)
    qtbot.addWidget(page)
    page.resize(1280, 800)
    page.show()
    return page


def training(session: Session, *losses: float | str) -> Run:
    """A run with these losses, that ended with code 0."""
    run = recorded(session.folder, *(Metric(step=n, values={"loss": loss}) for n, loss in enumerate(losses, 1)))
    ended, findings = judged_end(run.folder, 1, Ended(code=0))
    Journal(run.folder, 1).write(*findings, ended)
    return run


def watch(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    session.refresh_runs()
    qtbot.waitUntil(lambda: page.watcher is not None and page.watcher.is_loaded)
    qtbot.waitUntil(lambda: page.content.is_end_visible)


def test_that_a_loss_that_is_nan_makes_the_run_amber(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    training(session, 1.0, 0.5, "NaN", "NaN")
    watch(qtbot, page, session)
    assert page.chip.text().endswith(t("state.nonfinite"))
    assert page.watcher is not None
    assert page.watcher.glance is not None
    assert tone_of(page.watcher.glance) == "warning"
    assert "in 2 of the 4 steps" in page.sentence.text()
    assert page.overflow.button.isVisible()
    with qtbot.waitSignal(session.page_requested) as asked:
        page.overflow.button.click()
    assert asked.args == ["precision"]


def test_that_a_healthy_run_is_green_without_that_way(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    training(session, 1.0, 0.5, 0.25)
    watch(qtbot, page, session)
    assert page.chip.text().endswith(t("state.done"))
    assert not page.overflow.button.isVisible()


def test_that_the_first_such_step_is_told_while_it_runs(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    args = {"step": 3, "name": "loss", "value": "NaN"}
    finding = Finding(rule="run.nonfinite", severity="warning", args=args)
    recorded(session.folder, Metric(step=3, values={"loss": "NaN"}), finding)
    session.refresh_runs()
    qtbot.waitUntil(lambda: t("run.nonfinite", **args) in page.content.notice.text())
    assert page.overflow.button.isVisible()
    assert page.watcher is not None
    assert page.watcher.status.marks.first("nan") is not None


def test_that_a_dump_of_the_run_is_opened(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    run = training(session, "NaN")
    folder = run.folder / "artifacts/captures/a"
    folder.mkdir(parents=True)
    text = '{"state": "done", "kind": "dump", "path": "artifacts/captures/a/rank0"}'
    (folder / "rank0.json").write_text(text)
    watch(qtbot, page, session)
    with qtbot.waitSignal(session.path_requested) as asked:
        page.overflow.button.click()
    assert asked.args == ["dump", folder / "rank0"]
