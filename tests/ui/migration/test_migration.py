"""The Migration page, clicked through: scan, filter, source, editor, suppress, changes to a copy and back,
certificate."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QPushButton, QWidget

from backends.migration.certify import certificate
from backends.migration.certify.certificate import Certificate, Check, Reason
from backends.migration.certify.folder_digest import digest_folder
from backends.migration.certify.metric_rows import MetricRow
from backends.migration.certify.operators import Operator
from backends.migration.finding import STATES, ScanFinding
from backends.migration.migrate.changes import Changes, FileChanges, Hunk
from backends.migration.official.tool import SCRIPT
from backends.migration.scan.overview import FileHeat
from backends.migration.scan.suppressions import suppress_findings
from studio import files
from studio import run as runs
from studio.events import Ended, Journal
from studio.project import Project, make_runs_folder
from studio.security import trust
from studio.texts import t
from tests.ui import looks
from ui.curves.page import CurvesPage
from ui.migration.certificate.check_lines import states_text
from ui.migration.changes.diff_rows import common_ends, diff_rows, differing_span
from ui.migration.changes.plan import start_decisions
from ui.migration.excerpt import read_excerpt
from ui.migration.findings.finding_model import FindingModel
from ui.migration.findings.finding_query import FindingQuery
from ui.migration.findings.highlighting import highlight_spans
from ui.migration.overview.heat_map import HeatMap
from ui.migration.overview.tiles import lay_tiles
from ui.migration.page import MigrationPage
from ui.migration.start_sheets import ScanSheet
from ui.migration.verdict_card import verdict_sentence
from ui.migration.views import CERTIFICATE, CHANGES, FINDINGS, OVERVIEW
from ui.precision.page import PrecisionPage
from ui.services import editor
from ui.services.run_titles import page_of, title_of
from ui.widgets.basic import Chip
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from ui.services.session import Session
    from ui.shell.window import Shell

TRAIN = '''\
"""Trains on cuda."""
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(2, 1).to(device)
if device.type == "cuda":
    model = model.half()
print(torch.cuda.get_arch_list())
'''
RUN = "#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=0\npython train.py\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "gpu-project"
    folder.mkdir()
    (folder / "train.py").write_text(TRAIN, encoding="utf-8")
    (folder / "run.sh").write_text(RUN, encoding="utf-8")
    return folder


@pytest.fixture
def page(qtbot: QtBot, shell: Shell, session: Session) -> MigrationPage:
    shell.show_page("migration")
    migration_page = shell.findChild(MigrationPage)
    assert migration_page is not None
    return migration_page


@pytest.fixture
def scanned(qtbot: QtBot, page: MigrationPage, session: Session, project: Path) -> MigrationPage:
    """Return the page after a real scan by its worker."""
    session.open_project(project)
    press(page, "migration_scan_first")
    qtbot.waitUntil(lambda: session.refresh_runs() or page.scan is not None)
    return page


def press(page: MigrationPage, name: str) -> None:
    button = page.findChild(QPushButton, name)
    assert button is not None
    button.click()


def a_finding(number: int, path: str = "a.py", **values: object) -> ScanFinding:
    given: dict[str, object] = {
        "kind": "place", "path": path, "line": number, "end": number, "category": "cuda_api", "rule": "cuda_api.plain",
        "state": "auto", "effort": 0, "text": f"torch.cuda.synchronize({number})",
    }  # fmt: skip
    return ScanFinding(**(given | values))  # type: ignore[arg-type]


def put_run(session: Session, command: str, artifacts: dict[str, object]) -> runs.Run:
    """Write a run of the project that ended with these artifacts."""
    assert session.project is not None
    run = runs.create(make_runs_folder(session.project), command, {}, session.project.folder)
    for name, value in artifacts.items():
        files.write_json(run.folder / "artifacts" / name, value)
    Journal(run.folder, 1).write(Ended(code=0))
    session.refresh_runs()
    return run


def test_that_without_a_project_the_page_asks_for_one_and_then_for_a_scan(
    page: MigrationPage, session: Session, project: Path
) -> None:
    opener = page.findChild(QPushButton, "migration_open_project")
    assert opener is not None
    assert opener.isVisible()
    session.open_project(project)
    first = page.findChild(QPushButton, "migration_scan_first")
    assert first is not None
    assert first.isVisible()
    assert not opener.isVisible()
    assert not looks.faults(page)


def test_that_a_click_scans_and_shows_findings_beside_their_source(qtbot: QtBot, scanned: MigrationPage) -> None:
    view = scanned.findings
    assert view.findings.rows
    assert {finding.path for finding in view.findings.all_findings} == {"run.sh", "train.py"}
    row = next(row for row, found in enumerate(view.findings.rows) if found.path == "train.py" and found.line == 6)
    view.list.setCurrentIndex(view.findings.index(row))
    qtbot.waitUntil(lambda: 'if device.type == "cuda":' in view.source.toPlainText())
    assert view.source.textCursor().blockNumber() == 5
    assert len(view.source.extraSelections()) == 2
    assert view.rule.why.text()
    counts = scanned.verdict.counts
    assert sum(counts.values()) == sum(found.kind == "place" for found in view.findings.all_findings)
    assert f"{sum(counts.values())} findings" in scanned.sentence.text()
    assert not looks.faults(scanned)


def test_that_a_part_of_the_bar_a_file_and_a_text_filter(qtbot: QtBot, scanned: MigrationPage) -> None:
    view = scanned.findings
    every = len(view.findings.rows)
    scanned.verdict.buttons["edit"].click()
    assert {finding.state for finding in view.findings.rows} == {"edit"}
    assert len(view.findings.rows) == scanned.verdict.counts["edit"]
    view.file_list.setCurrentIndex(view.files.index(view.files.row_of("run.sh")))
    assert {(found.state, found.path) for found in view.findings.rows} == {("edit", "run.sh")}
    press(scanned, "migration.show_all")
    assert len(view.findings.rows) == every
    assert not scanned.verdict.chosen_states()
    view.filter.text.setText("get_arch_list")
    qtbot.waitUntil(lambda: len(view.findings.rows) == 1)
    assert view.findings.rows[0].line == 8
    view.filter.text.setText("nothing like that")
    qtbot.waitUntil(lambda: not view.findings.rows)
    assert t("migration.none_fit") in [widget.text() for widget in view.findChildren(QLabel) if widget.isVisible()]


def test_that_a_double_click_opens_the_editor_at_the_line_without_a_shell(
    qtbot: QtBot, scanned: MigrationPage, tmp_path: Path, project: Path
) -> None:
    arguments = tmp_path / "told"
    program = tmp_path / "an editor"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > "{arguments}"\n', encoding="utf-8")
    program.chmod(0o755)
    editor.remember((str(program), "--at", "{path}:{line}", "$(touch pwned)"))
    view = scanned.findings
    row = next(row for row, finding in enumerate(view.findings.rows) if finding.line == 8)
    view.go_to(row)
    rect = view.list.visualRect(view.findings.index(row))
    view.list.scrollTo(view.findings.index(row))
    rect = view.list.visualRect(view.findings.index(row))
    qtbot.mouseClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    qtbot.mouseDClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    qtbot.waitUntil(lambda: arguments.exists() and bool(arguments.read_text()))
    assert arguments.read_text() == f"--at|{project / 'train.py'}:8|$(touch pwned)|"
    assert not (project / "pwned").exists()


def test_that_a_finding_left_with_a_reason_no_longer_counts_and_nothing_is_written_into_the_project(
    qtbot: QtBot, scanned: MigrationPage, project: Path
) -> None:
    before = sum(scanned.verdict.counts.values())
    view = scanned.findings
    view.go_to(next(row for row, finding in enumerate(view.findings.rows) if finding.kind == "place"))
    press(scanned, "migration.suppress")
    sheet = next(child for child in scanned.window().children() if child.objectName() == "suppress_sheet")
    reason, keep = sheet.findChild(QLineEdit), sheet.findChild(QPushButton, "migration.suppress_keep")
    box = sheet.findChild(QCheckBox)
    assert reason is not None
    assert keep is not None
    assert box is not None
    assert not keep.isEnabled()
    reason.setText("never runs")
    keep.click()
    qtbot.waitUntil(lambda: sum(scanned.verdict.counts.values()) == before - 1)
    assert scanned.verdict.suppressed.text() == t("migration.suppressed_one", n=1)
    assert not (project / ".ascend-studio" / "migration.json").exists()


def test_that_a_finding_that_was_left_can_be_brought_back(qtbot: QtBot, scanned: MigrationPage, project: Path) -> None:
    before = sum(scanned.verdict.counts.values())
    assert scanned.scan is not None
    mark = next(
        mark for finding, mark in zip(scanned.scan.findings, scanned.scan.marks, strict=True) if finding.kind == "place"
    )
    suppress_findings(project, (mark,), "never runs", in_project=False)
    scanned.newest.read_scan()
    qtbot.waitUntil(lambda: sum(scanned.verdict.counts.values()) == before - 1)
    press(scanned, "migration_left")
    sheet = next(one for one in scanned.window().children() if one.objectName() == "left_sheet")
    assert any(one.text() == "never runs" for one in sheet.findChildren(QLabel))
    back = sheet.findChild(QPushButton, "migration_left_back")
    assert back is not None
    back.click()
    qtbot.waitUntil(lambda: sum(scanned.verdict.counts.values()) == before)
    assert not scanned.verdict.suppressed.isVisible()


def test_that_a_saved_file_is_scanned_again_and_what_is_done_is_counted(
    qtbot: QtBot, scanned: MigrationPage, project: Path
) -> None:
    before = len(scanned.findings.findings.all_findings)
    scanned.watch.check()
    qtbot.waitUntil(lambda: scanned.watch._stamps is not None)
    (project / "train.py").write_text(TRAIN.replace("print(torch.cuda.get_arch_list())\n", ""), encoding="utf-8")
    future = time.time() + 5
    os.utime(project / "train.py", (future, future))
    scanned.watch.check()
    qtbot.waitUntil(lambda: len(scanned.findings.findings.all_findings) < before)
    assert scanned.scan is not None
    assert scanned.scan.done
    assert t("migration.since", done=scanned.scan.done, new=0) in scanned.verdict.since.whole_text()


def test_that_the_overview_leads_to_the_findings_of_a_file(qtbot: QtBot, scanned: MigrationPage) -> None:
    scanned.tabs.setCurrentIndex(OVERVIEW)
    heat = scanned.overview.heat
    assert {file.path for file in heat.files} == {"train.py", "run.sh"}
    assert any(cell.text.startswith("torch.") for cell, *_ in scanned.overview.apis.rows)
    assert not looks.faults(scanned)
    center = heat.tile_rect("run.sh").center()
    qtbot.mouseClick(heat, Qt.MouseButton.LeftButton, pos=QPoint(int(center.x()), int(center.y())))
    assert scanned.findings.isVisible()
    assert {finding.path for finding in scanned.findings.findings.rows} == {"run.sh"}


@pytest.mark.parametrize("format", ["html", "csv", "sarif", "json"])
def test_that_a_report_can_be_exported(qtbot: QtBot, scanned: MigrationPage, tmp_path: Path, format: str) -> None:
    path = tmp_path / f"report.{format}"
    scanned.export.write(format, path)
    qtbot.waitUntil(path.exists)
    text = path.read_text(encoding="utf-8-sig")
    if format == "csv":
        assert len(list(csv.reader(text.splitlines()))) > len(scanned.findings.findings.all_findings)
    elif format == "html":
        assert "train.py" in text
    else:
        assert json.loads(text)


def test_that_hunks_are_decided_edited_applied_to_a_copy_and_taken_back(
    qtbot: QtBot, scanned: MigrationPage, session: Session, project: Path
) -> None:
    view = scanned.changes
    scanned.tabs.setCurrentIndex(CHANGES)
    press(scanned, "migration_plan")
    qtbot.waitUntil(lambda: view.plan is not None and bool(view.diff.rows))
    hunks = {(hunk.path, hunk.first): hunk for hunk in view.decisions.hunks.values()}
    compared, shell = hunks["train.py", 6], hunks["run.sh", 2]
    view.toggle(shell.id)
    assert not view.decisions.is_accepted(shell)
    view._choose(compared.id)
    press(scanned, "migration.changes.edit")
    view.panel.lines.setPlainText('if device.type in ("cuda", "npu"):  # mine')
    press(scanned, "migration.changes.keep")
    assert view.decisions.text_of(compared) == 'if device.type in ("cuda", "npu"):  # mine\n'
    qtbot.waitUntil(lambda: not looks.faults(scanned))
    assert not project.with_name("gpu-project-npu").exists()

    press(scanned, "migration.changes.apply")
    sheet = sheet_of(qtbot, scanned, "migration_apply_sheet")
    now = sheet.findChild(QPushButton, "migration.changes.apply_now")
    assert now is not None
    now.click()
    card = view.applied
    qtbot.waitUntil(lambda: session.refresh_runs() or not card.isHidden())
    copy = project.with_name("gpu-project-npu")
    assert "# mine" in (copy / "train.py").read_text()
    assert (copy / "run.sh").read_text() == RUN
    assert (project / "train.py").read_text() == TRAIN

    press(scanned, "migration.changes.undo")
    qtbot.waitUntil(lambda: session.refresh_runs() or card.isHidden())
    assert (copy / "train.py").read_text() == TRAIN


def test_that_the_edit_of_a_finding_that_is_left_is_not_accepted(
    qtbot: QtBot, scanned: MigrationPage, project: Path
) -> None:
    assert scanned.scan is not None
    mark = next(scanned.scan.fingerprint_of(finding) for finding in scanned.scan.findings if finding.path == "run.sh")
    suppress_findings(project, (mark,), "set by the cluster", in_project=False)
    scanned.newest.read_scan()
    qtbot.waitUntil(lambda: scanned.scan is not None and bool(scanned.scan.reasons))
    scanned.changes.make_plan()
    qtbot.waitUntil(lambda: scanned.changes.plan is not None)
    decided = scanned.changes.decisions
    assert {hunk.path: decided.is_accepted(hunk) for hunk in decided.hunks.values() if hunk.state == "ready"} == {
        "run.sh": False, "train.py": True,
    }  # fmt: skip


def test_that_a_run_that_fails_says_why(qtbot: QtBot, scanned: MigrationPage, session: Session, tmp_path: Path) -> None:
    with qtbot.waitSignal(session.trouble) as trouble:
        scanned.starter.start_undo(tmp_path / "no such run")
        qtbot.waitUntil(lambda: session.refresh_runs() or bool(trouble.args))
    assert trouble.args
    assert str(trouble.args[0])


def test_that_scans_are_not_among_the_curves(shell: Shell, session: Session, project: Path) -> None:
    session.open_project(project)
    run = put_run(session, "scan", {"findings.json": []})
    shell.show_page("curves")
    curves = shell.findChild(CurvesPage)
    assert curves is not None
    assert not curves.run_list.model.listed
    assert curves.run is None
    assert title_of(run) == t("migration.did.scan")
    assert page_of(run) == "migration"


def test_that_another_style_makes_another_plan(qtbot: QtBot, scanned: MigrationPage) -> None:
    view = scanned.changes
    view.make_plan()
    qtbot.waitUntil(lambda: view.plan is not None)
    assert view.plan is not None
    minimal = view.plan
    press(scanned, "migration_style_explicit")
    qtbot.waitUntil(lambda: view.plan is not minimal)
    assert view.plan.style == "explicit"
    assert view.styles["explicit"].isChecked()
    assert not view.styles["minimal"].isChecked()


A_PROOF = Certificate(
    granted=False, original="/a", migrated="/b", line=("python", "train.py"),
    migrated_line=("python", "train.py"), workdir="", seed=1,
    checks=(
        Check(name="losses", state="fail",
              reason=Reason(key="migration.certify.reason.losses_differ",
                            args={"step": 2, "original": "0.5", "migrated": "0.25"})),
        Check(name="npu", state="no_card", reason=Reason(key="migration.certify.reason.no_npu")),
    ),
    losses=(MetricRow(process=0, step=1, name="loss", original=1.0, migrated=1.0, equal=True),
            MetricRow(process=0, step=2, name="loss", original=0.5, migrated=0.25, equal=False)),
    operators=(Operator(name="linalg_eig", kind="fallback", count=3, phases=("train",), modules=()),),
    unproven=(Reason(key="migration.certify.unproven.speed"),), before={"auto": 2, "edit": 3}, after={"auto": 5},
)  # fmt: skip


def test_that_a_certificate_tells_the_line_of_the_result_where_it_is_another() -> None:
    assert "npu" not in states_text(A_PROOF)
    other = msgspec.structs.replace(A_PROOF, migrated_line=("python", "train.py", "--device", "npu"))
    assert t("migration.proof.line", line="python train.py --device npu") in states_text(other)


def test_that_a_certificate_is_shown_with_what_it_does_not_prove(
    qtbot: QtBot, page: MigrationPage, session: Session, project: Path
) -> None:
    session.open_project(project)
    put_run(session, "scan", {"findings.json": [a_finding(1, "train.py")]})
    put_run(session, "certify", {certificate.CERTIFICATE_FILE.rpartition("/")[2]: A_PROOF})
    page.tabs.setCurrentIndex(CERTIFICATE)
    proof = page.proof
    qtbot.waitUntil(lambda: proof.certificate is not None and page.scan is not None)
    assert page.sentence.text() == t("migration.proof.sentence_refused")
    assert proof.chip.text() == t("migration.proof.refused")
    why = t("migration.certify.reason.losses_differ", step=2, original="0.5", migrated="0.25")
    qtbot.waitUntil(lambda: why in [widget.text() for widget in proof.findChildren(QLabel) if widget.isVisible()])
    assert t("migration.certify.unproven.speed") in proof.unproven.text()
    assert [cells[3].token for cells in proof.losses.rows] == ["good", "bad"]
    assert proof.operators.rows[0][0].text == "linalg_eig"
    qtbot.waitUntil(lambda: not looks.faults(page))


def test_that_the_form_begins_with_the_projects_own_command_and_offers_interpreters(
    qtbot: QtBot, page: MigrationPage, session: Session, project: Path
) -> None:
    session.open_project(project)
    put_run(session, "scan", {"findings.json": [a_finding(1, "train.py")]})
    page.tabs.setCurrentIndex(CERTIFICATE)
    qtbot.waitUntil(lambda: page.proof.spec.training.line == ("bash", "run.sh"))
    choices = page.proof.choices
    assert [text for text, _ in choices.lines.offered] == ["bash run.sh  (run.sh)"]
    assert choices.pythons.offered
    choices.pythons.offered[0][1]()
    assert page.proof.spec.training.python.is_file()
    qtbot.waitUntil(lambda: not looks.faults(page))


def order_of(page: MigrationPage) -> list[str]:
    form, result = page.proof.boxes["line"], page.proof.findChild(Chip, "migration_proof_state")
    assert result is not None
    tops = {name: widget.mapTo(page.proof, QPoint()).y() for name, widget in (("form", form), ("result", result))}
    return sorted(tops, key=lambda name: tops[name])


def test_that_a_certificate_is_no_proof_of_another_copy_nor_of_files_that_changed(
    qtbot: QtBot, page: MigrationPage, session: Session, project: Path, tmp_path: Path
) -> None:
    copies = [tmp_path / name for name in ("first", "second")]
    for copy in copies:
        copy.mkdir()
        (copy / "train.py").write_text("a = 1\n")
    session.open_project(project)
    put_run(session, "scan", {"findings.json": [a_finding(1, "train.py")]})
    proof = msgspec.structs.replace(
        A_PROOF, granted=True, original=str(project), migrated=str(copies[0]), checks=(), operators=(),
        folders=tuple(map(digest_folder, (project, copies[0]))),
    )  # fmt: skip
    put_run(session, "certify", {"certificate.json": proof})
    page.tabs.setCurrentIndex(CERTIFICATE)
    qtbot.waitUntil(lambda: page.proof.chip.text() == t("migration.proof.granted"))
    qtbot.waitUntil(lambda: order_of(page) == ["result", "form"])
    (copies[0] / "train.py").write_text("a = 2\n")
    page.newest.read_results_again()
    qtbot.waitUntil(lambda: page.proof.chip.text() == t("migration.proof.stale"))
    assert page.sentence.text() == t("migration.proof.sentence_stale")
    qtbot.waitUntil(lambda: order_of(page) == ["form", "result"])
    (copies[0] / "train.py").write_text("a = 1\n")
    put_run(
        session,
        "migrate",
        {"changes.json": Changes(folder=str(project), style="explicit", files=(), target=str(copies[1]))},
    )
    qtbot.waitUntil(lambda: page.proof.chip.text() == t("migration.proof.other"))
    assert str(copies[1]) in page.proof.findChild(QLabel, "migration_proof_standing").text()  # type: ignore[union-attr]


def test_that_a_proof_asks_before_it_runs_code_of_a_project_that_is_not_trusted(
    qtbot: QtBot, page: MigrationPage, session: Session, project: Path, tmp_path: Path
) -> None:
    session.open_project(project)
    put_run(session, "scan", {"findings.json": [a_finding(1, "train.py")]})
    qtbot.waitUntil(lambda: page.scan is not None)
    page.tabs.setCurrentIndex(CERTIFICATE)
    migrated = tmp_path / "migrated"
    migrated.mkdir()
    page.proof.show_migrated(migrated)
    assert not page.proof.prove.isEnabled()
    page.proof.boxes["line"].input.setPlainText("python train.py")
    assert page.proof.prove.isEnabled()
    press(page, "migration.proof.prove")
    assert page.consent.isVisible()
    assert not [run for run, _ in session.listed if run.request.command == "certify"]
    assert not trust.is_trusted(project)


def test_that_everything_follows_the_language(qtbot: QtBot, scanned: MigrationPage) -> None:
    scanned.changes.make_plan()
    qtbot.waitUntil(lambda: scanned.changes.plan is not None)
    for tab in range(4):
        scanned.tabs.setCurrentIndex(tab)
        change_language("zh")
        qtbot.wait(1)
        assert not looks.faults(scanned)
        change_language("en")
        assert not looks.left_in_chinese(scanned)


@pytest.mark.parametrize("size", [(720, 480), (1000, 700), (1280, 800), (1920, 1080)])
def test_that_it_fits_windows_of_all_sizes(
    qtbot: QtBot, scanned: MigrationPage, shell: Shell, size: tuple[int, int]
) -> None:
    scanned.changes.make_plan()
    qtbot.waitUntil(lambda: scanned.changes.plan is not None)
    shell.resize(*size)
    for tab in range(4):
        scanned.tabs.setCurrentIndex(tab)
        qtbot.waitUntil(lambda: not looks.faults(scanned))


def test_that_twenty_thousand_findings_are_only_rows_that_are_asked_for() -> None:
    model = FindingModel()
    model.show_findings(tuple(a_finding(number, f"f{number % 100}.py") for number in range(20_000)))
    assert model.rowCount() == 20_000
    model.set_query(FindingQuery(path="f7.py", text="SYNCHRONIZE(107)"))
    assert [finding.line for finding in model.rows] == [107]


def test_that_the_place_of_a_notebook_is_a_line_of_its_cell(tmp_path: Path) -> None:
    cells = [{"source": ["import torch\n"]}, {"source": ["a = 1\n", "b = torch.cuda.device_count()"]}]
    (tmp_path / "demo.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    excerpt = read_excerpt(tmp_path, "demo.ipynb", 1, 2)
    assert excerpt.lines == ("a = 1", "b = torch.cuda.device_count()")
    assert read_excerpt(tmp_path, "gone.py", None, 1).problem


def test_that_only_the_lines_around_a_place_are_shown(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("\n".join(f"line_{n}" for n in range(1, 100_001)), encoding="utf-8")
    excerpt = read_excerpt(tmp_path, "long.py", None, 50_000)
    assert excerpt.lines[50_000 - excerpt.first] == "line_50000"
    assert len(excerpt.lines) < 2_000
    assert excerpt.contains("long.py", None, 50_100)
    assert not excerpt.contains("long.py", None, 70_000)


def test_that_a_triple_quote_colours_the_lines_below_it() -> None:
    spans, inside = highlight_spans('x = f"a" + """text # no comment', "py")
    assert [kind for _, _, kind in spans] == ["string", "string"]
    assert inside == '"""'
    spans, inside = highlight_spans('end""" + 1  # yes', "py", inside)
    assert [kind for _, _, kind in spans] == ["string", "number", "comment"]
    assert inside == ""


def a_hunk(id: str, first: int, before: str, after: str, **values: object) -> Hunk:
    return Hunk(
        id=id, path="a.py", first=first, last=first, before=before, after=after, rules=("device_str.compared",),
        **({"state": "ready"} | values),
    )  # fmt: skip


def a_plan(*hunks: Hunk) -> Changes:
    return Changes(
        folder="/p", style="minimal", files=(FileChanges(path="a.py", encoding="utf-8", digest="", hunks=hunks),)
    )


def test_that_hunks_of_a_group_are_decided_together_and_with_what_they_need() -> None:
    plan = a_plan(
        a_hunk("prelude", 1, "import torch\n", "import torch\nimport torch_npu\n"),
        a_hunk("one", 3, "a\n", "b\n", group="g", needs=("prelude",)),
        a_hunk("two", 5, "c\n", "d\n", group="g"),
        a_hunk("alone", 7, "e\n", "f\n"),
        a_hunk("yours", 9, "h\n", "h\n", state="yours"),
    )
    first = start_decisions(plan)
    assert first.accepted == {"prelude", "one", "two", "alone"}
    assert first.decide(("two",), False).accepted == {"prelude", "alone"}
    assert first.decide(("prelude",), False).decide(("one",), True).accepted == first.accepted
    edited = first.edit("yours", "mine\n")
    assert "yours" in edited.accepted
    assert edited.edit("yours", None).accepted == first.accepted


def test_that_lines_behind_an_accepted_hunk_are_counted_on() -> None:
    plan = a_plan(
        a_hunk("add", 1, "import torch\n", "import torch\nimport torch_npu\n"),
        a_hunk("edit", 3, "x = 'cuda'\n", "x = 'npu'\n"),
    )
    lines = {"a.py": ("import torch", "y = 1", "x = 'cuda'", "z = 2")}
    diff = [(row.kind, row.old, row.new) for row in diff_rows(plan.files, start_decisions(plan), lines)]
    assert diff == [
        ("file", 0, 0), ("hunk", 0, 0), ("same", 1, 1), ("added", 0, 2), ("same", 2, 3),
        ("hunk", 0, 0), ("removed", 3, 0), ("added", 0, 4), ("same", 4, 5),
    ]  # fmt: skip
    rejected = start_decisions(plan).decide(("add",), False)
    assert ("added", 0, 3) in [(row.kind, row.old, row.new) for row in diff_rows(plan.files, rejected, lines)]


def test_that_the_difference_of_two_lines_is_what_lies_between_their_ends() -> None:
    assert differing_span("x = 'cuda'", "x = 'npu'") == (5, 9)
    assert differing_span("same", "same") == (4, 4)
    assert common_ends(["a", "b", "c"], ["a", "x", "y", "c"]) == (1, 1)
    assert common_ends(["a", "a"], ["a"]) == (1, 0)


def test_that_tiles_fill_the_whole_without_overlap() -> None:
    laid = lay_tiles([100.0, 40.0, 30.0, 20.0, 10.0, 1.0], 600, 200)
    area = sum(tile.rect.width() * tile.rect.height() for tile in laid)
    assert area == pytest.approx(600 * 200)
    for first in laid:
        for other in laid:
            if first is not other:
                both = first.rect.intersected(other.rect)
                assert both.width() * both.height() < 1e-6
    assert lay_tiles([], 600, 200) == []


def test_that_the_keyboard_chooses_a_tile(qtbot: QtBot) -> None:
    heat = HeatMap()
    qtbot.addWidget(heat)
    heat.resize(400, 200)
    places = {"auto": 1, "edit": 0, "manual": 0, "none": 0, "unverified": 0}
    heat.show_files(tuple(FileHeat(path=name, lines=10, effort=1, places=places, advice=0) for name in ("a", "b")))
    with qtbot.waitSignal(heat.file_chosen) as chosen:
        qtbot.keyClick(heat, Qt.Key.Key_Right)
        qtbot.keyClick(heat, Qt.Key.Key_Return)
    assert chosen.args == ["b"]


@pytest.mark.parametrize("text", ["", "code", "code '{path}", "{path}"])
def test_that_an_editor_has_to_name_a_program_and_the_file(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        editor.words_of(text)


def test_that_a_project_of_another_window_is_not_mixed_in(
    qtbot: QtBot, scanned: MigrationPage, session: Session, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    session.open_project(other)
    assert scanned.scan is None
    first = scanned.findChild(QPushButton, "migration_scan_first")
    assert first is not None
    assert first.isVisible()
    assert Project(folder=other).runs.exists() is False


def sheet_of(qtbot: QtBot, page: MigrationPage, name: str) -> QWidget:
    """Return the newest sheet of a name, as a closed one may still exist; its first values are looked up first."""

    def sheets() -> list[QWidget]:
        return [widget for widget in page.window().findChildren(QWidget, name) if widget.isVisible()]

    qtbot.waitUntil(lambda: bool(sheets()))
    return sheets()[-1]


def press_in(sheet: QWidget, name: str) -> None:
    button = sheet.findChild(QPushButton, name)
    assert button is not None
    assert button.isEnabled()
    button.click()


def planned(qtbot: QtBot, page: MigrationPage) -> None:
    page.tabs.setCurrentIndex(CHANGES)
    page.changes.make_plan()
    qtbot.waitUntil(lambda: page.changes.plan is not None and bool(page.changes.diff.rows))


def test_that_the_changes_become_a_commit_on_a_branch_and_the_files_stay(
    qtbot: QtBot, page: MigrationPage, session: Session, project: Path
) -> None:
    def git(*words: str) -> str:
        command = ["git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@b", *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "first")
    session.open_project(project)
    page.start_scan()
    qtbot.waitUntil(lambda: session.refresh_runs() or page.scan is not None)
    planned(qtbot, page)
    press(page, "migration.changes.to_branch")
    press_in(sheet_of(qtbot, page, "migration_apply_sheet"), "migration.changes.apply_now")
    card = page.changes.applied
    qtbot.waitUntil(lambda: session.refresh_runs() or not card.isHidden())
    assert "transfer_to_npu" in git("show", "npu:train.py")
    assert "ASCEND_RT_VISIBLE_DEVICES" in git("show", "npu:run.sh")
    assert (project / "train.py").read_text() == TRAIN
    assert "npu" in card._text.text()
    assert not card.prove.isVisible()


def test_that_a_hunk_that_nobody_saw_does_not_go_in_and_is_told(
    qtbot: QtBot, scanned: MigrationPage, session: Session, project: Path
) -> None:
    planned(qtbot, scanned)
    scanned.watch.watch(None, ())
    press(scanned, "migration.changes.apply")
    changed = TRAIN.replace("print(torch", 'if device.type == "cuda":\n    print("new")\nprint(torch')
    (project / "train.py").write_text(changed, encoding="utf-8")
    press_in(sheet_of(qtbot, scanned, "migration_apply_sheet"), "migration.changes.apply_now")
    card = scanned.changes.applied
    qtbot.waitUntil(lambda: session.refresh_runs() or not card.isHidden())
    copied = (project.with_name("gpu-project-npu") / "train.py").read_text().splitlines()
    at = copied.index('    print("new")')
    assert copied[at - 1] == 'if device.type == "cuda":'
    assert "npu" in copied[at - 3]
    assert t("migration.changes.changed", files="train.py") in card._text.text()


def test_that_decisions_stay_with_hunks_whose_lines_moved_and_new_ones_are_told(
    qtbot: QtBot, scanned: MigrationPage, project: Path
) -> None:
    planned(qtbot, scanned)
    view = scanned.changes
    compared = next(hunk for hunk in view.decisions.hunks.values() if (hunk.path, hunk.first) == ("train.py", 6))
    view.toggle(compared.id)
    assert not view.decisions.is_accepted(compared)
    before = view.plan
    changed = TRAIN.replace("import torch\n", "import torch\nimport os\n") + 'print(device.type == "cuda")\n'
    (project / "train.py").write_text(changed, encoding="utf-8")
    scanned._rescan_saved_files()
    qtbot.waitUntil(lambda: view.plan is not before)
    moved = next(hunk for hunk in view.decisions.hunks.values() if (hunk.path, hunk.first) == ("train.py", 7))
    assert moved.before == compared.before
    assert not view.decisions.is_accepted(moved)
    assert t("migration.changes.fresh_one", n=1) in scanned.sentence.text()
    view.toggle(moved.id)
    assert t("migration.changes.fresh_one", n=1) not in scanned.sentence.text()


def test_that_an_editor_is_asked_for_once_and_then_used(
    qtbot: QtBot, scanned: MigrationPage, tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, program = tmp_path / "told", tmp_path / "edit"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > "{arguments}"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(editor, "EDITORS", ())
    scanned.findings.go_to(next(row for row, finding in enumerate(scanned.findings.findings.rows) if finding.line == 8))
    press(scanned, "migration.open_editor")
    sheet = sheet_of(qtbot, scanned, "editor_sheet")
    line = sheet.findChild(QLineEdit)
    assert line is not None
    line.setText(f"{program} +{{line}} {{path}}")
    press_in(sheet, "editor.keep")
    qtbot.waitUntil(lambda: arguments.exists() and bool(arguments.read_text()))
    assert arguments.read_text() == f"+8|{project / 'train.py'}|"


def test_that_the_options_choose_the_version_that_the_next_scan_is_against(
    qtbot: QtBot, scanned: MigrationPage, session: Session
) -> None:
    before = scanned.scan
    press(scanned, "migration.options")
    sheet = sheet_of(qtbot, scanned, "migration_options_sheet")
    assert isinstance(sheet, ScanSheet)
    version = sheet.boxes["torch_version"].input
    version.show_value("2.7.1")
    version.edited.emit()
    press_in(sheet, "migration.options_scan")
    qtbot.waitUntil(lambda: session.refresh_runs() or scanned.scan is not before)
    assert scanned.spec.against.torch_version == "2.7.1"
    assert "2.7.1" in scanned.overview._facts.whole_text()


def test_that_another_project_leaves_nothing_of_the_one_before(
    qtbot: QtBot, scanned: MigrationPage, session: Session, tmp_path: Path
) -> None:
    planned(qtbot, scanned)
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("import torch\ntorch.cuda.synchronize()\n", encoding="utf-8")
    session.open_project(other)
    put_run(session, "scan", {"findings.json": [a_finding(2)]})
    qtbot.waitUntil(lambda: scanned.scan is not None)
    assert scanned.changes.plan is None
    assert scanned.changes.panel.hunk is None
    change_language("zh")
    change_language("en")
    assert [finding.path for finding in scanned.findings.findings.rows] == ["a.py"]


def test_that_a_project_that_is_gone_is_told_and_not_scanned_as_empty(
    qtbot: QtBot, scanned: MigrationPage, session: Session, project: Path
) -> None:
    before = scanned.scan
    shutil.rmtree(project)
    for again in (scanned._rescan_saved_files, scanned.start_scan):
        with qtbot.waitSignal(session.trouble) as trouble:
            again()
        assert str(project) in str(trouble.args[0])
    assert scanned.scan is before
    assert not project.exists()


TINY = """\
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    loss = model(torch.ones(8, 4, device=device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_that_a_migration_is_proven_after_consent_and_its_sides_are_captured_and_compared(
    qtbot: QtBot, page: MigrationPage, session: Session, project: Path, shell: Shell
) -> None:
    (project / "train.py").write_text(TINY, encoding="utf-8")
    session.open_project(project)
    page.start_scan()
    qtbot.waitUntil(lambda: session.refresh_runs() or page.scan is not None)
    planned(qtbot, page)
    press(page, "migration.changes.apply")
    press_in(sheet_of(qtbot, page, "migration_apply_sheet"), "migration.changes.apply_now")
    qtbot.waitUntil(lambda: session.refresh_runs() or not page.changes.applied.isHidden())
    press(page, "migration.changes.prove")
    assert page.proof.spec.pair.migrated == project.with_name("gpu-project-npu")
    page.proof.boxes["line"].input.setPlainText("python train.py")
    page.proof._set("python", Path(sys.executable))
    page.proof._judge()
    press(page, "migration.proof.prove")
    assert page.consent.isVisible()
    assert not [run for run, _ in session.listed if run.request.command == "certify"]
    page.consent._agree.click()
    qtbot.waitUntil(lambda: session.refresh_runs() or page.proof.certificate is not None)
    assert page.proof.chip.text() == t("migration.proof.granted")
    assert page.sentence.text() == t("migration.proof.sentence_granted")
    assert {cells[3].token for cells in page.proof.losses.rows} == {"good"}
    assert (project / "train.py").read_text() == TINY
    if importlib.util.find_spec("msprobe") is None:
        return
    press(page, "migration.proof.sides")
    qtbot.waitUntil(lambda: session.refresh_runs() or shell.page == "precision")
    (compared,) = [run for run, _ in session.listed if run.request.command == "compare"]
    precision = shell.page_widget("precision")
    assert isinstance(precision, PrecisionPage)
    qtbot.waitUntil(lambda: precision.compare.loaded is not None)
    assert precision.compare.loaded.run.folder == compared.folder


OFFICIAL = """\
while [ $# -gt 0 ]; do case $1 in -i) in=$2;; -o) out=$2;; esac; shift 2; done
read -r said
to="$out/$(basename "$in")_analysis"
mkdir "$to"
echo "File,Start Line,End Line,OP,Tips" > "$to/unsupported_api.csv"
echo "train.py,8,8,torch.cuda.get_arch_list," >> "$to/unsupported_api.csv"
echo "train.py,5,5,torch.nn.Linear,slow" >> "$to/unsupported_api.csv"
"""


def test_that_the_official_tool_is_asked_where_it_is_and_stands_beside_the_findings(
    qtbot: QtBot, scanned: MigrationPage, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned.tabs.setCurrentIndex(OVERVIEW)
    card = scanned.overview.opinion
    qtbot.waitUntil(lambda: SCRIPT in card.text.text())
    assert not card.start.isVisible()
    scanned.tabs.setCurrentIndex(FINDINGS)
    (tmp_path / SCRIPT).parent.mkdir(parents=True)
    (tmp_path / SCRIPT).write_text(OFFICIAL, encoding="utf-8")
    monkeypatch.setenv("ASCEND_TOOLKIT_HOME", str(tmp_path))
    scanned.tabs.setCurrentIndex(OVERVIEW)
    qtbot.waitUntil(card.start.isVisible)
    card.start.click()
    qtbot.waitUntil(lambda: session.refresh_runs() or card.opinion is not None)
    assert card.opinion is not None
    assert (card.opinion.matched, card.opinion.unmatched) == (1, 1)
    assert [cells[0].text for cells in card.rows.rows] == ["train.py:5", "train.py:8"]
    assert [cells[3].token for cells in card.rows.rows] == ["dim", "good"]
    qtbot.waitUntil(lambda: not looks.faults(scanned))
    scanned.tabs.setCurrentIndex(FINDINGS)
    model = scanned.findings.findings
    named = {finding.line for finding in model.rows if model.is_named(finding)}
    assert named == {8}
    scanned.findings.go_to(next(row for row, found in enumerate(model.rows) if found.line == 8))
    assert t("migration.opinion.too") in scanned.findings.rule.facts.text()


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ((7, 8, 7, 0, 0), "7 of 22 findings need nothing, 8 edits are ready, 7 need you."),
        (
            (1, 1, 1, 1, 1),
            "1 of 5 findings needs nothing, 1 edit is ready, 1 needs you, 1 has no solution, 1 is unverified.",
        ),
        ((0, 0, 0, 2, 0), "None of 2 findings works by itself, 2 have no solution."),
        ((0, 0, 0, 0, 0), "Nothing in this project touches the GPU stack."),
    ],
)
def test_that_the_verdict_says_nothing_of_what_there_is_none(page: MigrationPage, counts: Any, sentence: str) -> None:
    assert verdict_sentence(dict(zip(STATES, counts, strict=True))) == sentence


def test_that_a_scan_without_findings_looks_finished(
    qtbot: QtBot, page: MigrationPage, session: Session, tmp_path: Path
) -> None:
    folder = tmp_path / "npu-project"
    folder.mkdir()
    (folder / "train.py").write_text("import mindspore\nprint(mindspore)\n", encoding="utf-8")
    session.open_project(folder)
    press(page, "migration_scan_first")
    qtbot.waitUntil(lambda: session.refresh_runs() or page.scan is not None)
    clean = page.findChild(QWidget, "migration_clean")
    assert clean is not None
    qtbot.waitUntil(clean.isVisible)
    assert "Nothing to migrate" in "\n".join(label.text() for label in clean.findChildren(QLabel))
    open_button = [button for button in page.findChildren(QPushButton) if button.text() == "Open in editor"]
    assert not any(button.isVisible() for button in open_button)
