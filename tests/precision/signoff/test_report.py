from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.issue.markdown import issue_text
from backends.precision.report.spec import ReportSpec
from backends.precision.report.work import REPORT_FILE, write_report
from backends.precision.sides import open_comparison_run
from studio import run as runs
from studio import schema
from tests.precision.dump.recorded import json_of
from tests.precision.signoff.made import compared, perturb

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
