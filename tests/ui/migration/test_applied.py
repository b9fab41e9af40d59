"""What is said of a migration's result: that nothing is left to do takes a training on the virtual NPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.common.rehearsal import FILE, VIRTUAL, Report
from backends.migration.certify.certificate import Certificate, Rehearsal
from backends.migration.migrate.changes import Changes
from studio import files
from studio.texts import t
from ui.migration.changes.applied_card import AppliedCard
from ui.migration.run_results import AppliedMigration, with_training

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

DONE = {"auto": 3, "edit": 0, "manual": 0, "none": 0, "unverified": 0}


def migration(folder: Path, after: dict[str, int]) -> AppliedMigration:
    (folder / "copy").mkdir(exist_ok=True)
    changes = Changes(folder=str(folder), style="minimal", files=(), after=after, target=str(folder / "copy"))
    return AppliedMigration(run=folder / "runs" / "migrate", changes=changes)


def proof(folder: Path, *, granted: bool = True, migrated: str = "copy", device: str = VIRTUAL) -> Certificate:
    report = Report(
        stance="npu", device=device, steps=3, losses=(1.0,), redirected={}, blocked=(), operators=1, processes=1,
        ended="steps", answer=True,
    )  # fmt: skip
    (folder / "runs" / "npu" / FILE).parent.mkdir(parents=True, exist_ok=True)
    files.write_json(folder / "runs" / "npu" / FILE, report)
    return Certificate(
        granted=granted, original=str(folder), migrated=str(folder / migrated), line=(), migrated_line=(), workdir="",
        seed=0, checks=(), rehearsals=(Rehearsal(run="cuda"), Rehearsal(run="npu")),
    )  # fmt: skip


def said(qtbot: QtBot, applied: AppliedMigration | None) -> str:
    card = AppliedCard()
    qtbot.addWidget(card)
    card.show_applied(applied)
    return card._text.text()


def test_that_nothing_needs_you_only_after_a_training_on_the_virtual_npu(qtbot: QtBot, tmp_path: Path) -> None:
    applied = migration(tmp_path, DONE)
    assert said(qtbot, applied).endswith(t("migration.changes.read"))
    assert said(qtbot, with_training(applied, proof(tmp_path))).endswith(t("migration.changes.trained"))


@pytest.mark.parametrize("values", [{"granted": False}, {"migrated": "other"}, {"device": "cpu"}])
def test_that_another_proof_says_nothing_of_the_result(
    qtbot: QtBot, tmp_path: Path, values: dict[str, str | bool]
) -> None:
    applied = with_training(migration(tmp_path, DONE), proof(tmp_path, **values))  # type: ignore[arg-type]
    assert said(qtbot, applied).endswith(t("migration.changes.read"))


def test_that_what_is_left_is_told_also_after_a_training(qtbot: QtBot, tmp_path: Path) -> None:
    applied = migration(tmp_path, DONE | {"manual": 1, "unverified": 1})
    assert said(qtbot, applied).endswith(t("migration.changes.read_left", n=2, total=5))
    trained = with_training(applied, proof(tmp_path))
    assert said(qtbot, trained).endswith(t("migration.changes.trained_left", n=2, total=5))
