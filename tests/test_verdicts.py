"""No planted fault is told as success, and no healthy case as a fault: the cases that need no training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.planted.verdicts.collection import every_case

if TYPE_CHECKING:
    from pathlib import Path

    from tests.planted.verdicts.case import VerdictCase

SHORT = [case for case in every_case() if not case.needs_training]


@pytest.mark.parametrize("case", SHORT, ids=lambda case: case.name)
def test_that_the_verdict_is_the_one_expected(case: VerdictCase, tmp_path: Path) -> None:
    assert case.observe(tmp_path) == case.expected
