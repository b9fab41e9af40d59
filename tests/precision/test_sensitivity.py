"""The short form of what `prove precision` says of tolerances: what moves where one of them is halved or doubled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.precision.compare import tolerances
from backends.precision.compare.tolerances import TOLERANCES
from tests.precision.planted_dumps import HEALTHY, PAIRS, PLANTED
from tests.prove.support.precision_sensitivity import names, read, scaled, score, sensitivity, table

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", names())
def test_that_each_tolerance_can_be_moved_alone(name: str) -> None:
    moved = scaled(name, 2.0)
    assert moved != TOLERANCES
    assert scaled(name, 1.0) == TOLERANCES


def test_that_the_documented_sensitivity_names_every_tolerance() -> None:
    documented = {line.split()[0] for line in (tolerances.__doc__ or "").splitlines() if line.startswith("    ")}
    assert set(names()) <= documented


def test_that_tolerances_move_what_is_named(planted_dumps: Path, tmp_path: Path) -> None:
    dumps = read([PAIRS[name] for name in (*PLANTED, *HEALTHY)], planted_dumps)
    baseline = score(dumps, TOLERANCES, tmp_path)
    assert (baseline.right, baseline.alarms) == (len(PLANTED), 0)
    assert score(dumps, scaled("rounding_ulps", 1 / 64), tmp_path).alarms > 0
    assert score(dumps, scaled("rounding_ulps", 1e6), tmp_path).right < len(PLANTED)
    scores = sensitivity(dumps, tmp_path, ["rounding_ulps"])
    assert table(baseline, scores).splitlines()[0] == f"as it is: {baseline}"
