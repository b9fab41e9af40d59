"""A cell that a spreadsheet would evaluate is text, wherever a table leaves the studio."""

from __future__ import annotations

import csv
import io

import pytest

from backends.launch.rehearse.report import csv_table
from studio.output.spreadsheet import safe_column, safe_row, safe_text, tab_separated
from studio.paths import ROOT


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "\r=1", "\n=1", "  =1", "\0=1", "＝1",
     "-inf=cmd", "+1,2;=3", "--1"],
)  # fmt: skip
def test_that_text_that_begins_like_a_formula_gets_an_apostrophe(text: str) -> None:
    assert safe_text(text) == "'" + text.replace("\0", "")


@pytest.mark.parametrize("text", ["", "-", "-1", "+1.5e-9", "-.5", "-1,234.5", "-12.5 %", "aten::add", "a=b", "中文"])
def test_that_other_text_and_numbers_stay_as_they_are(text: str) -> None:
    assert safe_text(text) == text


def test_that_cells_that_are_numbers_stay_numbers() -> None:
    assert safe_row(("=x", -1, -0.5, None)) == ("'=x", -1, -0.5, None)


def test_that_on_the_clipboard_no_cell_ends_its_line_or_begins_another() -> None:
    assert tab_separated([("a\tb", "-1"), ("c\r\n=d", "=e")]) == "a b\t-1\nc  =d\t'=e"
    assert safe_column(["\t=1", "x", ""]) == ["' =1", "x", ""]


def test_that_the_table_of_operators_is_safe() -> None:
    rows = list(csv.reader(io.StringIO(csv_table([("=cmd()", "forward", "", "", "", "", "m", 3)]).decode())))
    assert rows[1] == ["'=cmd()", "forward", "", "", "", "", "m", "3"]


def test_that_whatever_writes_a_table_makes_its_cells_safe() -> None:
    paths = [path for folder in ("studio", "backends", "ui") for path in sorted((ROOT / folder).rglob("*.py"))]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}
    files = {name for name, text in texts.items() if "csv.writer(" in text or "DictWriter(" in text}
    assert len(files) == 3
    assert not {name for name in files if "safe_row" not in texts[name]}
    copies = {name for name, text in texts.items() if '"\\t".join' in text}
    assert not {name for name in copies if "safe_column" not in texts[name]}
