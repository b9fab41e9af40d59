"""Preview splits: from the button on the Launch page to the answer on Curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.launch.preview.from_launch import preview_of
from backends.launch.preview.spec import PreviewSpec
from studio import run as runs
from studio import schema
from tests.launch.specs import launch_spec
from tests.ui import looks
from tests.ui.form.entries import pick, type_into
from ui.curves.page import CurvesPage
from ui.launch.answers.preview_card import PreviewCard
from ui.launch.page import LaunchPage
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from ui.launch.preview_button import PreviewSplits
    from ui.services.session import Session
    from ui.shell.window import Shell


@pytest.fixture
def page(shell: Shell) -> LaunchPage:
    shell.show_page("launch")
    found = shell.findChild(LaunchPage)
    assert isinstance(found, LaunchPage)
    return found


@pytest.fixture
def preview(page: LaunchPage) -> PreviewSplits:
    page.preview.open()
    return page.preview


def test_that_a_preview_is_started_in_the_window_and_its_answer_shown(
    shell: Shell, session: Session, preview: PreviewSplits, qtbot: QtBot
) -> None:
    assert preview.form is not None
    pick(preview.form, "network", "llama")
    type_into(preview.form, "cards", "16")
    preview.start_button.click()
    run = session.run
    assert run is not None
    assert run.request.command == "preview"
    assert run.request.values["training"]["batch"] == PreviewSpec().training.batch  # not that of the recipe on the page
    qtbot.waitUntil(lambda: runs.glance(run).state == "ended")
    session.refresh_runs()
    curves = shell.findChild(CurvesPage)
    assert isinstance(curves, CurvesPage)
    card = curves.content.answers.card("preview")
    assert isinstance(card, PreviewCard)
    qtbot.waitUntil(card.isVisible)
    assert shell.page == "curves"
    assert "6,738,415,616 parameters" in card.before.text()
    assert "16" in card.before.text()


def test_that_what_cannot_be_previewed_says_why_and_is_not_started(
    session: Session, preview: PreviewSplits, qtbot: QtBot
) -> None:
    assert preview.form is not None
    pick(preview.form, "network", "gpt")
    type_into(preview.form, "heads", "7")
    type_into(preview.form, "part", "h100")
    assert [problem.field for problem in preview.form.problems()] == ["heads", "part"]
    with qtbot.assertNotEmitted(session.page_requested):
        preview.start_button.click()
    assert preview._wrong.text()


def test_that_it_begins_with_what_is_chosen_on_the_page(page: LaunchPage) -> None:
    chosen = launch_spec(
        recipe="dense", parallel="semi_auto", mode="graph", workers=4, strategy=(("matmul1", "2x1,1x2"),), device="auto"
    )
    page.form.set_spec(chosen)
    page.preview.open()
    assert page.preview.form is not None
    found = page.preview.form.spec()
    assert found == preview_of(chosen)
    assert (found.net.network, found.cluster.cards, found.training.optimizer) == ("dense", 4, "momentum")
    assert found.shown.shard == (("128x64,64x128", "2x1,1x2"),)
    assert schema.problems(found) == ()


def test_that_a_network_that_the_preview_does_not_know_leaves_a_large_one() -> None:
    assert preview_of(launch_spec(recipe="resnet50")) == PreviewSpec()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_that_nothing_of_it_is_cut_off(preview: PreviewSplits, language: str) -> None:
    assert preview.form is not None
    for card in ("training", "assumed", "shown"):
        preview.form.card(card).fold(False)
    pick(preview.form, "network", "gpt")
    change_language("zh" if language == "zh" else "en")
    looks.settle()
    assert looks.faults(preview) == []
    change_language("en")
    assert looks.left_in_chinese(preview) == []
