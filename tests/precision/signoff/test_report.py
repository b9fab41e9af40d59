from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

import studio
from backends.precision.deeper.spec import DeeperSpec
from backends.precision.deeper.work import ANSWER
from backends.precision.issue.markdown import issue_text
from backends.precision.report.html import report
from backends.precision.report.spec import ReportSpec
from backends.precision.report.work import REPORT_FILE, write_report
from backends.precision.sides import open_comparison_run
from studio import run as runs
from studio import schema
from studio.events import Ended, Journal, Metric
from tests.precision.dump.recorded import copy_of, json_of
from tests.precision.signoff.made import compared, compared_dumps, perturb

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run
    from studio.texts import Language


def linear() -> str:
    return next(call for call in json_of("torch_statistics")["data"] if ".linear." in call and call.endswith("forward"))


def reported(folder: Path, comparison: Run, language: str) -> str:
    spec = schema.with_value(ReportSpec(), "comparison", comparison.folder)
    spec = schema.with_value(spec, "report_language", language)
    run = runs.create(folder / "runs", "precision-report", schema.to_json(spec))
    write_report(spec, run)
    return (run.folder / REPORT_FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_that_a_report_names_the_first_divergence_and_where_each_figure_is_from(tmp_path: Path, language: str) -> None:
    page = reported(tmp_path, compared(tmp_path, "torch_statistics", perturb(linear())), language)
    assert f"data[&quot;{linear()}&quot;].output.0" in page
    assert str(tmp_path / "target" / "dump.json") in page
    assert f'<html lang="{language}">' in page
    assert not re.search(r"precision\.\w+\.\w+", page)
    assert "<script" not in page


def test_that_a_report_of_equal_sides_says_so(tmp_path: Path) -> None:
    page = reported(tmp_path, compared(tmp_path, "torch_statistics"), "en")
    assert "No divergence" in page


def test_that_a_report_opens_with_its_outcome_and_ends_the_opening_with_a_line_to_sign(tmp_path: Path) -> None:
    passed = reported(tmp_path / "a", compared(tmp_path / "a", "mindspore_tensor"), "en")
    failed = reported(tmp_path / "b", compared(tmp_path / "b", "torch_statistics", perturb(linear())), "en")
    assert [re.search(r'class="outcome (\w+)">(\w+)<', page) for page in (passed, failed)]
    assert '<p class="outcome pass">PASS</p>' in passed
    assert '<p class="outcome differs">FAIL</p>' in failed
    for page in (passed, failed):
        places = [
            page.index(text) for text in ("outcome", "What was covered", ">Tools<", "Signature", "Calls by verdict")
        ]
        assert places == sorted(places)


def test_that_a_report_of_a_comparison_with_gaps_is_no_pass(tmp_path: Path) -> None:
    run = compared(tmp_path, "torch_statistics")
    comparison = open_comparison_run(run.folder)
    gap = {"key": "precision.compare.tensors_failed", "args": {"count": 3}}
    page = report(dataclasses.replace(comparison, notes=(gap,)), run, "en").decode()
    assert '<p class="outcome incomplete">INCOMPLETE</p>' in page
    assert page.index("3 tensor files could not be read") < page.index(">Tools<")


def test_that_a_report_has_the_digests_of_both_dumps_the_tools_and_the_tolerance(tmp_path: Path) -> None:
    page = reported(tmp_path, compared(tmp_path, "torch_statistics", perturb(linear())), "en")
    for side in ("target", "golden"):
        assert hashlib.sha256((tmp_path / side / "dump.json").read_bytes()).hexdigest() in page
    assert f"<td>studio</td><td>{studio.__version__}</td>" in page
    assert "<td>torch</td><td>unknown</td>" in page, "a dump from elsewhere does not say its version"
    assert "the limits are those of the model of rounding alone" in page
    assert "Written again after the comparison" not in page
    (tmp_path / "golden" / "dump.json").write_bytes((tmp_path / "golden" / "dump.json").read_bytes() + b" ")
    (comparison,) = [run for run in runs.runs_in(tmp_path / "runs") if run.request.command == "compare"]
    assert "Written again after the comparison" in reported(tmp_path, comparison, "en")


def test_that_a_report_draws_every_call_without_a_script(tmp_path: Path) -> None:
    run = compared(tmp_path, "torch_statistics", perturb(linear()))
    page = reported(tmp_path, run, "en")
    drawn = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    assert len(drawn.findall("circle")) == len(open_comparison_run(run.folder).names)
    assert [mark.get("class") for mark in drawn.findall("circle")].count("first") == 1


def test_that_the_report_of_a_deeper_comparison_keeps_the_whole_step(tmp_path: Path) -> None:
    whole = compared(tmp_path, "torch_statistics", perturb(linear()))
    narrow = compared(tmp_path / "deeper", "torch_statistics")
    spec = schema.with_value(DeeperSpec(), "comparison", whole.folder)
    deeper = runs.create(narrow.folder.parent, "deeper", schema.to_json(spec))
    assert "The whole step" not in reported(tmp_path, narrow, "en")
    (deeper.folder / ANSWER).write_text(json.dumps({"comparison": str(narrow.folder)}))
    page = reported(tmp_path, narrow, "en")
    assert page.index("The whole step, before going deeper") < page.index(whole.name)
    assert page.count("<svg") == 2
    assert linear() in page[page.index("The whole step") :]
    assert "The whole step" not in reported(tmp_path, whole, "en")


def test_that_the_losses_of_both_trainings_stand_in_the_report(tmp_path: Path) -> None:
    sides = [trained(tmp_path, losses) for losses in ([2.0, 1.0, 0.5], [2.0, 1.0, 0.7])]
    run = compared_dumps(tmp_path, *(side.folder for side in sides))
    page = reported(tmp_path, run, "en")
    assert "The losses differ: the mean relative error is" in page
    assert '<polyline class="golden"' in page


def test_that_a_report_of_chosen_steps_or_of_trainings_without_a_loss_is_no_pass(tmp_path: Path) -> None:
    sides = [trained(tmp_path, [2.0, 1.0, 0.5], "mindspore_tensor") for _ in "tg"]
    for side in sides:
        copy_of("mindspore_tensor", side.folder / "artifacts" / "captures" / "a" / "step2" / "rank0")
    folders = [side.folder for side in sides]
    assert '<p class="outcome pass">PASS</p>' in reported(tmp_path, compared_dumps(tmp_path, *folders), "en")
    chosen = reported(tmp_path, compared_dumps(tmp_path, *folders, step_numbers="1"), "en")
    assert '<p class="outcome incomplete">INCOMPLETE</p>' in chosen
    assert "Only the steps or ranks that were asked for were compared" in chosen
    for folder in folders:
        for path in folder.glob("events.*"):
            path.unlink()
        Journal(folder, 1).write(Ended(code=0))
    silent = reported(tmp_path, compared_dumps(tmp_path, *folders), "en")
    assert "Neither of the two trainings recorded a loss" in silent
    assert all(folder.name in silent for folder in folders)


@pytest.mark.parametrize("is_run_damaged", [True, False])
def test_that_a_report_of_one_training_whose_losses_are_gone_names_it(tmp_path: Path, is_run_damaged: bool) -> None:
    target, golden = (trained(tmp_path, [2.0, 1.0, 0.5], "mindspore_tensor").folder for _ in "tg")
    comparison = compared_dumps(tmp_path, target, golden)
    assert '<p class="outcome pass">PASS</p>' in reported(tmp_path, comparison, "en")
    if is_run_damaged:
        (target / "run.json").write_text("{")
    else:
        for path in target.glob("events.*"):
            path.unlink()
    page = reported(tmp_path, comparison, "en")
    assert '<p class="outcome incomplete">INCOMPLETE</p>' in page
    assert f"were not compared; {target.name} has none" in page


def trained(folder: Path, losses: list[float], dump: str = "torch_statistics") -> Run:
    run = runs.create(folder / "trained", "script", {})
    events = (Metric(step=step, values={"loss": loss}) for step, loss in enumerate(losses, 1))
    Journal(run.folder, 1).write(*events, Ended(code=0))
    copy_of(dump, run.folder / "artifacts" / "captures" / "a" / "step1" / "rank0")
    return run


def test_that_names_of_a_dump_cannot_become_html(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        entry = data.pop(linear())
        data["Functional.<script>alert(1)</script>.0.forward"] = entry

    page = reported(tmp_path, compared(tmp_path, "torch_statistics", change), "en")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("language", ["en", "zh"])
def test_that_an_issue_has_the_figures_the_line_and_no_key(tmp_path: Path, language: Language) -> None:
    comparison = open_comparison_run(compared(tmp_path, "torch_statistics", perturb(linear())).folder)
    assert comparison.first is not None
    text = issue_text(comparison, comparison.first.call, language, "reproduce.py")
    assert linear() in text
    assert "| output 0 | float32 |" in text
    assert "reproduce.py" in text
    assert not re.search(r"precision\.\w+\.\w+", text)
