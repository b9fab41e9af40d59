"""The tables of msprobe's compare, as five of its versions wrote them."""

from __future__ import annotations

import csv
import io
import zipfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from backends.precision.compare.comparison import ERROR, NO_RESULT, PASS, WARNING
from backends.precision.msprobe import table
from backends.precision.msprobe.compare import results_in
from backends.precision.msprobe.table import read_table, result_of
from studio.errors import StudioError
from tests.precision.msprobe.recorded import RECORDED

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["compare_26.2.0.csv", "compare_26.2.0.xlsx"])
def test_that_a_table_of_26_2_is_read_as_csv_and_as_workbook(name: str) -> None:
    found = results_in(RECORDED / name)
    assert len(found.rows) == 80
    assert found.results["Functional.embedding.0.forward.input.1"] == PASS
    assert found.first is not None
    assert (found.first.target, found.first.result) == ("Functional.linear.0.forward.output.0", ERROR)
    assert found.first.message.startswith("error: The NormRelativeErr of output is greater than 0.5. warning:")
    figures = dict(zip(found.header, found.first.figures, strict=True))
    assert figures["NormRelativeErr"].startswith("155.56")
    assert figures["NPU Tensor Shape"] == "[4, 6, 16]"
    assert "NPU_Stack_Info" not in found.header


@pytest.mark.parametrize(
    ("version", "rows", "first"),
    [
        ("8.3.3", 80, "Functional.dropout.1.forward.output.0"),
        ("8.1.0", 80, "Functional.dropout.1.forward.output.0"),
        ("1.3.0", 80, "Functional.linear.0.forward.output.0"),
        ("1.0.4", 73, "Functional.linear.0.forward.output.0"),
    ],
)
def test_that_tables_of_older_versions_are_read(version: str, rows: int, first: str) -> None:
    found = results_in(RECORDED / f"compare_{version}.xlsx", version)
    assert (len(found.rows), found.version) == (rows, version)
    assert sum(row.result == WARNING for row in found.rows) == 5
    assert found.first is not None
    assert found.first.target == first
    assert found.results["Functional.linear.0.forward.output.0"] == WARNING
    assert found.results["Functional.embedding.0.forward.input.1"] == PASS


@pytest.mark.parametrize(
    ("cell", "verdict", "golden", "expected"),
    [
        ("", "Result", "x", PASS), ("", "Result", "N/A", NO_RESULT), ("", "Accuracy Reached or Not", "x", NO_RESULT),
        ("Yes", "Accuracy Reached or Not", "x", PASS), ("No", "Accuracy Reached or Not", "x", ERROR),
        ("Unmatched", "Accuracy Reached or Not", "x", NO_RESULT), ("Different", "Result", "x", ERROR),
        ("Warning", "Result", "x", WARNING), ("N/A", "Result", "N/A", NO_RESULT), ("of a newer one", "Result", "x", 0),
    ],
)  # fmt: skip
def test_that_every_verdict_that_it_ever_used_is_known(cell: str, verdict: str, golden: str, expected: int) -> None:
    assert result_of(cell, verdict, golden) == expected


def test_that_a_table_of_something_else_is_refused_with_a_reason(tmp_path: Path) -> None:
    for name, data in (("a.csv", b"step,loss\n1,2\n"), ("b.csv", b""), ("c.xlsx", b"PK\x03\x04 cut off")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(StudioError, match="not an msprobe table"):
            read_table(tmp_path / name)
    with pytest.raises(StudioError):
        read_table(tmp_path / "gone.csv")


def test_that_a_workbook_that_would_unpack_to_more_than_it_may_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "UNPACKED", 1_000_000)
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 2_000_000)
    with pytest.raises(StudioError, match="unpacked"):
        read_table(path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=some.lists(some.lists(some.text(max_size=8), max_size=6), max_size=6), data=some.binary(max_size=60))
def test_that_any_csv_is_a_table_or_a_sentence(tmp_path: Path, rows: list[list[str]], data: bytes) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([["NPU Name", "Bench Name", "Result", "Max diff"], *rows])
    path = tmp_path / "any.csv"
    path.write_bytes(text.getvalue().encode("utf-8", "replace") + data)
    said, found = "", None
    try:
        found = read_table(path)
    except StudioError as error:
        said = str(error)
    assert str(path) in said or (found is not None and all(len(row.figures) == 1 for row in found.rows))
