"""A preview among the runs of the curves page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.preview.spec import PreviewSpec
from backends.launch.preview.work import preview
from studio import run as runs
from studio import schema
from studio.events import Journal
from ui import journey
from ui.say import change_language

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.pages.curves import CurvesPage
    from ui.session import Session


def previewed(session: Session, **values: object) -> Run:
    spec = PreviewSpec()
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    session.folder.mkdir(parents=True, exist_ok=True)
    run = runs.create(session.folder, "preview", schema.to_json(spec))
    Journal(run.folder, 1).write(preview(spec, run))
    return run


def test_that_a_preview_shows_its_splits_instead_of_curves(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    previewed(session)
    session.look()
    qtbot.waitUntil(page.preview.isVisible)
    assert "6,738,415,616 parameters" in page.preview.before.text()
    assert "The first one wins" in page.preview.after.text()
    assert "https://gitcode.com" in page.preview.source.text()
    assert page.sentence.text().startswith("The best splits stand below")
    assert not page.grid.isVisible()
    assert not page.figures.isVisible()
    assert not page.nothing.text()
    change_language("zh")
    page.retranslate()
    assert "第一种最快" in page.preview.after.text()


def test_that_a_preview_where_nothing_fits_warns(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    previewed(session, cards=1)
    session.look()
    qtbot.waitUntil(page.preview.isVisible)
    assert "Nothing fits" in page.notice.text()
    assert page.sentence.text().startswith("The answer is no")
    assert not page.preview.table.isVisible()
    assert "Nothing fits" not in page.preview.after.text()


def test_that_a_preview_whose_answer_is_gone_shows_no_card(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    run = previewed(session)
    (run.folder / "artifacts" / "preview.json").write_text("{}")
    session.look()
    qtbot.waitUntil(lambda: page.watcher is not None and page.watcher.is_loaded)
    page.retranslate()
    assert not page.preview.isVisible()
    assert page.nothing.text()


def test_that_a_preview_is_no_training(session: Session) -> None:
    previewed(session)
    session.look()
    assert [step.state for step in journey.steps(session) if step.id == "launch"] == ["next"]
