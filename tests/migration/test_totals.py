"""The same project is counted the same everywhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from backends.migration.certify.checks import RehearsalOutcome
from backends.migration.certify.spec import CertifySpec
from backends.migration.certify.work import Certification
from backends.migration.export.report import render_report
from backends.migration.migrate.plan import plan_changes
from backends.migration.migrate.spec import Migrated, MigrateSpec
from backends.migration.scan import suppressions
from backends.migration.scan.fingerprint import fingerprints
from backends.migration.scan.overview import make_overview
from backends.migration.scan.project_scan import survey_project
from backends.migration.scan.spec import ScanSpec
from backends.migration.scan.work import scan, scan_answer
from studio import run as runs
from studio import schema
from studio.events import Note
from studio.sentences import sentence_of
from studio.texts import t
from tests.migration.plans import FACTS, of, project
from ui.migration.run_results import count_states
from ui.migration.verdict_card import verdict_of

if TYPE_CHECKING:
    from pathlib import Path

MODEL = (
    "import torch\nnet = torch.nn.TransformerEncoder(layer, 2).cuda()\nx = torch.export.export(net, (y,))\n"
    "pool = torch.nn.AvgPool3d(2)\nfor x in loader:\n    loss.backward()\n    print(loss.item())\n"
)


def test_that_an_api_that_an_npu_refuses_stands_in_all_totals(tmp_path: Path) -> None:
    folder = project(
        tmp_path / "project", model__py=MODEL, job__sh="#!/bin/sh\n#SBATCH --gres=gpu:1\npython model.py\n"
    )
    survey = survey_project(folder, FACTS)
    overview = make_overview(folder, survey, FACTS, {})
    counted = {finding.rule for finding in survey.findings if finding.is_counted}
    assert {"api.unsupported", "api.composed", "api.disputed", "shell_cuda.cluster"} <= counted
    expected = {"auto": 1, "edit": 0, "manual": 2, "none": 0, "unverified": 2}
    assert overview.places == expected == count_states(survey.findings)
    assert {state: sum(file.places[state] for file in overview.heat) for state in expected} == expected
    assert overview.hours[1] > 0
    run, _ = of(tmp_path, MigrateSpec(migrated=Migrated(path=folder)))
    assert json.loads((run.folder / "artifacts" / "changes.json").read_text())["before"] == expected
    yours = [hunk.rules for hunk in plan_changes(folder, survey.findings, "minimal").hunks() if hunk.state == "yours"]
    assert sorted(yours) == [("api.unsupported",), ("shell_cuda.cluster",)]
    text = render_report(survey.findings, overview, "html", "en").decode()
    assert "1 of 5 findings need nothing, 0 edits are ready, 2 need you" in text


def test_that_a_migration_counts_without_what_is_suppressed(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", model__py=MODEL)
    findings = survey_project(folder, FACTS).findings
    mark = next(mark for finding, mark in zip(findings, fingerprints(findings), strict=True) if finding.is_counted)
    suppressions.suppress_findings(folder, [mark], "seen", in_project=False)
    overview = make_overview(folder, survey_project(folder, FACTS), FACTS, suppressions.read_suppressions(folder))
    run, _ = of(tmp_path, MigrateSpec(migrated=Migrated(path=folder)))
    before = json.loads((run.folder / "artifacts" / "changes.json").read_text())["before"]
    assert before == overview.places
    assert sum(before.values()) == sum(finding.is_counted for finding in findings) - 1


def test_that_apis_that_no_table_answers_for_are_told_beside_every_total(tmp_path: Path) -> None:
    folder = project(tmp_path / "project", model__py="import torch\ny = torch.relu(torch.bucketize(x, b)).cuda()\n")
    run = runs.create(tmp_path / "runs", "scan", {}, None)
    scan(schema.with_value(ScanSpec(), "path", folder), run)
    survey = survey_project(folder, FACTS)
    overview = make_overview(folder, survey, FACTS, {})
    unanswered = [use.name for use in overview.apis if "unverified" in (use.a2, use.a3)]
    assert unanswered == ["torch.relu"]
    expected = t("migration.scan.apis", count=1, total=len(overview.apis))
    assert expected in [sentence_of(event) for event in runs.last_events(run.folder) if isinstance(event, Note)]
    assert scan_answer(run)["apis"] == {"called": len(overview.apis), "unverified": 1}
    assert expected in verdict_of(survey.findings, overview.apis)
    assert expected in render_report(survey.findings, overview, "html", "en").decode()


def test_that_a_certificate_counts_without_what_is_suppressed(tmp_path: Path) -> None:
    original, migrated = (project(tmp_path / name, model__py=MODEL) for name in ("original", "migrated"))
    findings = survey_project(original, FACTS).findings
    mark = next(mark for finding, mark in zip(findings, fingerprints(findings), strict=True) if finding.is_counted)
    outcome = RehearsalOutcome(run="none", code=1, report=None)

    def counts() -> tuple[int, int]:
        spec = schema.with_value(schema.with_value(CertifySpec(), "original", original), "migrated", migrated)
        run = runs.create(tmp_path / "runs", "certify", schema.to_json(spec), None)
        certification = Certification(spec, run, run.folder / "copies")
        evidence = certification.gather(outcome, outcome, outcome)
        certificate = certification.make_certificate(evidence, (), ())
        return sum(certificate.before.values()), sum(certificate.after.values())

    before, after = counts()
    suppressions.suppress_findings(original, [mark], "seen", in_project=False)
    assert counts() == (before - 1, after - 1)
