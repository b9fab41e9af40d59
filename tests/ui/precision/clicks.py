"""Clicks that take minutes; `python -m tests.prove precision_clicks` runs them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from studio import run as runs
from studio.run import outcome_of
from studio.security import trust
from tests.precision.capture.digits_weights import weights
from tests.ui.looks import faults, settle
from tests.ui.precision.journey import capture_and_land, copy_issue, make_reproducer, see_tensors, until
from tests.ui.precision.mouse import drop_on, press, wait_for_captures
from ui.precision.views import CAPTURE, ENVIRONMENT, LOSSES_WEIGHTS

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from ui.precision.page import PrecisionPage
    from ui.services.session import Session


def test_that_going_deeper_brings_the_tensors(
    page: PrecisionPage, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    capture_and_land(page, session, qtbot, tmp_path, "statistics")
    press(page.compare.result_view.operator, "precision_deeper")
    until(qtbot, session, lambda: any(run.request.command == "deeper" for run, _ in session.listed))
    deeper = next(run for run, _ in session.listed if run.request.command == "deeper")
    until(qtbot, session, lambda: runs.glance(deeper).state == "ended")
    assert outcome_of(runs.glance(deeper)) == "done"
    until(qtbot, session, lambda: len(page.run_results.comparisons) == 3)
    newest = page.run_results.comparisons[0]
    qtbot.waitUntil(lambda: page.compare.loaded is not None and page.compare.loaded.run.folder == newest.folder)
    assert page.compare.choice.currentText().endswith("tensors")
    see_tensors(page, qtbot)
    make_reproducer(page, session, qtbot)
    copy_issue(page, qtbot)


def test_that_a_perturbed_weight_of_the_digits_recipe_is_landed_on(
    page: PrecisionPage, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    """MindSpore: both sides start from weights that differ in their first number."""
    files = [Path(weights(tmp_path / "golden.safetensors"))]
    files.append(Path(weights(tmp_path / "other.safetensors", "layers.3.weight")))
    project = tmp_path / "digits"
    project.mkdir()
    session.open_project(project)
    page.tabs.setCurrentIndex(CAPTURE)
    view = page.views.capture
    view.tabs.setCurrentIndex(1)
    for number, file in enumerate(files):
        view.recipe.set_value("weights", file)
        press(view, "precision_start_capture")
        if number == 0 and view.consent.isVisible():
            press(view.consent, "launch.trust")
        until(qtbot, session, lambda number=number: len(session.listed) == number + 1)
        until(qtbot, session, lambda: outcome_of(session.listed[0][1]) == "done")
        wait_for_captures(page, qtbot, number + 1)
    press(view, "precision_as_target_0")
    page.tabs.setCurrentIndex(CAPTURE)
    press(view, "precision_as_golden_1")
    press(page, "precision_compare")
    until(qtbot, session, lambda: page.compare.loaded is not None)
    assert page.compare.loaded is not None
    first = page.compare.loaded.comparison.first
    assert first is not None
    assert "conv" in first.name.lower()
    assert (first.step, first.direction) == (1, "forward")
    settle()
    assert not faults(page)
    _compare_weights(page, session, qtbot, files[::-1])


def _compare_weights(page: PrecisionPage, session: Session, qtbot: QtBot, files: list[Path]) -> None:
    page.tabs.setCurrentIndex(LOSSES_WEIGHTS)
    card = page.views.losses_weights.weights
    for side, file in zip((card.target, card.golden), files, strict=True):
        drop_on(side, file)
    press(card, "precision_compare_weights")
    until(qtbot, session, lambda: card.weights is not None)
    assert card.chip.text() == "Different"
    assert card.rows.rows[0][0].text == "layers.3.weight"


def test_that_a_training_is_proved_to_repeat_itself(
    page: PrecisionPage, session: Session, qtbot: QtBot, trained: Path
) -> None:
    session.open_project(trained)
    page.tabs.setCurrentIndex(ENVIRONMENT)
    view = page.views.environment
    until(qtbot, session, lambda: bool(view.determinism.boxes.spec.training.line))
    assert view.determinism.boxes.spec.training.python == Path(sys.executable), "as it ran last"
    press(view, "precision_prove")
    assert view.consent.isVisible()
    press(view.consent, "launch.trust")
    assert trust.is_trusted(trained)
    until(qtbot, session, lambda: view.determinism.result is not None)
    result = view.determinism.result
    assert result is not None
    assert result.deterministic
    assert result.tensors > 0
    assert result.capture_changes is False
    settle()
    assert view.determinism.chip.text() == "Deterministic"
