"""The table of what transfer_to_npu covers, held against the wheel that it was read from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.contract.transfer_to_npu import TABLE, covered

if TYPE_CHECKING:
    from pathlib import Path


def test_that_the_table_says_what_the_wheel_says(wheel: Path) -> None:
    assert covered(wheel) == json.loads(TABLE.read_text("utf-8"))
