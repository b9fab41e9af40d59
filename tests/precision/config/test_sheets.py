"""result.xlsx of msprobe's config_check, as three of its versions wrote it of the same two packs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from backends.precision.config.sheets import level_of, read_sheets
from studio.errors import StudioError
from studio.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = ROOT / "tests" / "recorded" / "precision_tools"
EXPECTED = {"env": "pass", "pip": "pass", "dataset": "error", "weights": "error", "random": "pass"}


@pytest.mark.parametrize("version", ["26.2.0", "8.3.3", "8.1.0"])
def test_that_every_version_s_result_has_its_verdicts_and_its_rows(version: str) -> None:
    verdicts, parts = read_sheets(RECORDED / f"config_check_{version}.xlsx")
    assert verdicts == EXPECTED
    found = {one.name: one for one in parts}
    assert {name: one.verdict for name, one in found.items()} == {name: EXPECTED[name] for name in found}
    assert found["weights"].header[:4] == ("step", "rank", "weight_name", "equal")
    assert sorted(row.cells[2] for row in found["weights"].rows) == ["a.bias", "a.weight"]
    assert [row.level for row in found["dataset"].rows] == ["error", "pass"]
    assert found["env"].rows == ()
    assert found["random"].total == 4


@pytest.mark.parametrize(
    ("cell", "level"),
    [("True", "pass"), ("False", "error"), ("warning", "warning"), ("only bench have", "error"), ("pass", "pass")],
)
def test_that_a_cell_is_a_level(cell: str, level: str) -> None:
    assert level_of(cell) == level


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=some.integers(0, 10**6), size=some.integers(0, 9000))
def test_that_a_damaged_result_is_a_result_or_a_sentence(tmp_path: Path, at: int, size: int) -> None:
    data = bytearray((RECORDED / "config_check_26.2.0.xlsx").read_bytes())
    data[at % len(data)] ^= 0x55
    path = tmp_path / "result.xlsx"
    path.write_bytes(data[: len(data) if size > 8000 else size])
    said = ""
    try:
        read_sheets(path)
    except StudioError as error:
        said = str(error)
    assert not said or "result.xlsx" in said
