"""The step of a migration on Home: what comes next follows from what the project's runs left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtWidgets import QPushButton

from backends.migration.certify.spec import CertifySpec
from backends.migration.migrate.spec import MigrateSpec
from backends.migration.scan.spec import ScanSpec
from studio import run as runs
from studio import schema
from studio.events import Ended, Journal, Note
from ui.home.journey_steps import steps
from ui.home.page import make_page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session

SPECS = {"scan": ScanSpec(), "migrate": MigrateSpec(), "certify": CertifySpec()}


@pytest.fixture
def put(session: Session, tmp_path: Path) -> Callable[..., Run]:
    """A run of a migration that ended, newer than those before it."""
    session.open_project(tmp_path)

    def make(command: str, code: int = 0, *, total: int | None = None, **values: Any) -> Run:
        spec = SPECS[command]
        for name, value in values.items():
            spec = schema.with_value(spec, name, value)
        session.folder.mkdir(parents=True, exist_ok=True)
        made = runs.create(session.folder, command, schema.to_json(spec))
        named = session.folder / f"20260101-0000{len(session.listed):02d}-{command}"
        run = runs.open_run(made.folder.rename(named))
        if total is not None:
            Journal(run.folder, 1).write(Note(key="migration.scan.done", args={"total": total}))
        Journal(run.folder, 1).write(Ended(code=code, reason="no" if code == 3 else ""))
        session.refresh_runs()
        return run

    return make


def step_of(session: Session) -> tuple[str, str]:
    step = next(step for step in steps(session) if step.id == "migration")
    return step.key.removeprefix("journey."), step.state


def test_that_a_migration_goes_from_a_scan_over_the_edits_to_the_proof(
    session: Session, put: Callable[..., Run], tmp_path: Path
) -> None:
    assert step_of(session) == ("migration", "open")
    put("scan", total=4)
    assert step_of(session) == ("migration_migrate", "next")
    put("migrate", into=tmp_path / "npu")
    assert step_of(session) == ("migration_certify", "next")
    put("certify", 3)
    assert step_of(session) == ("migration_certify", "next")
    put("certify")
    assert step_of(session) == ("migration", "done")


def test_that_a_scan_that_answers_no_is_a_scan(session: Session, put: Callable[..., Run]) -> None:
    put("scan", 3, total=4)
    assert step_of(session) == ("migration_migrate", "next")


def test_that_a_scan_that_failed_is_none(session: Session, put: Callable[..., Run]) -> None:
    put("scan", 1)
    assert step_of(session) == ("migration", "open")


def test_that_a_project_without_a_place_needs_no_migration(session: Session, put: Callable[..., Run]) -> None:
    put("scan", total=4)
    put("scan", total=0)
    assert step_of(session) == ("migration", "done")


def test_that_a_plan_applies_nothing(session: Session, put: Callable[..., Run]) -> None:
    put("scan", total=4)
    put("migrate")
    assert step_of(session) == ("migration_migrate", "next")


def test_that_a_migration_that_was_taken_back_counts_no_more(
    session: Session, put: Callable[..., Run], tmp_path: Path
) -> None:
    put("scan", total=4)
    run = put("migrate", into=tmp_path / "npu")
    put("migrate", undo=run.folder)
    assert step_of(session) == ("migration_migrate", "next")
    put("migrate", branch="npu")
    assert step_of(session) == ("migration_certify", "next")


def test_that_a_proof_of_an_older_migration_does_not_stand_for_a_newer_one(
    session: Session, put: Callable[..., Run], tmp_path: Path
) -> None:
    put("migrate", into=tmp_path / "one")
    put("certify")
    put("migrate", into=tmp_path / "two")
    assert step_of(session) == ("migration_certify", "next")


def test_that_scans_without_a_project_say_nothing(session: Session, put: Callable[..., Run]) -> None:
    session.open_project(None)
    put("scan", total=4)
    assert session.listed
    assert step_of(session) == ("migration", "open")


def test_that_the_step_leads_to_the_page(session: Session, put: Callable[..., Run], qtbot: QtBot) -> None:
    page = make_page(session)
    qtbot.addWidget(page)
    page.show()
    put("scan", total=4)
    button = page.findChild(QPushButton, "home.step.migration")
    assert button is not None
    assert button.text() == "Apply the migration"
    with qtbot.waitSignal(session.page_requested) as wanted:
        button.click()
    assert wanted.args == ["migration"]
