"""A preview among the runs of the curves page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.preview.answer import FILE
from backends.launch.preview.spec import PreviewSpec
from backends.launch.preview.work import preview
from studio import files, schema
from studio import run as runs
from studio.events import Journal
from ui.home import journey_steps as home_steps
from ui.launch.answers.preview_card import PreviewCard, answer_in
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.curves.page import CurvesPage
    from ui.services.session import Session


def previewed(session: Session, **values: object) -> Run:
    spec = PreviewSpec()
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    session.folder.mkdir(parents=True, exist_ok=True)
    run = runs.create(session.folder, "preview", schema.to_json(spec))
    Journal(run.folder, 1).write(preview(spec, run))
    return run


def preview_card(page: CurvesPage) -> PreviewCard:
    card = page.content.answers.card("preview")
    assert isinstance(card, PreviewCard)
    return card


def test_that_a_preview_shows_its_splits_instead_of_curves(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    previewed(session)
    session.refresh_runs()
    qtbot.waitUntil(preview_card(page).isVisible)
    assert "6,738,415,616 parameters" in preview_card(page).before.text()
    assert "The first one wins" in preview_card(page).after.text()
    assert "https://gitcode.com" in preview_card(page).source.text()
    assert page.sentence.text().startswith("The best splits are below")
    assert not page.content.grid.isVisible()
    assert not page.content.figures.isVisible()
    assert not page.content.nothing.text()
    change_language("zh")
    page.retranslate()
    assert "第一种最快" in preview_card(page).after.text()


def test_that_a_preview_where_nothing_fits_warns(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    previewed(session, cards=1)
    session.refresh_runs()
    qtbot.waitUntil(preview_card(page).isVisible)
    assert "Nothing fits" in page.content.notice.text()
    assert page.sentence.text().startswith("The answer is no")
    assert not preview_card(page).table.isVisible()
    assert "Nothing fits" not in preview_card(page).after.text()


def test_that_a_preview_whose_answer_is_gone_shows_no_card(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    run = previewed(session)
    (run.folder / "artifacts" / "preview.json").write_text("{}")
    session.refresh_runs()
    qtbot.waitUntil(lambda: page.watcher is not None and page.watcher.is_loaded)
    page.retranslate()
    assert not preview_card(page).isVisible()
    assert page.content.nothing.text()


def test_that_the_answer_of_an_earlier_version_is_read(session: Session) -> None:
    run = previewed(session)
    before, path = answer_in(run), run.folder / FILE
    kept = files.read_json(path)
    for estimate in kept["splits"]:
        estimate["octets"] = sum(estimate["memory"].values())
    files.write_json(path, kept)
    assert before is not None
    assert answer_in(run) == before


def test_that_a_preview_is_no_training(session: Session) -> None:
    previewed(session)
    session.refresh_runs()
    assert [step.state for step in home_steps.steps(session) if step.id == "launch"] == ["next"]
