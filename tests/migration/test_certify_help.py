"""The help says of each contract what a certificate compares, in both languages."""

from __future__ import annotations

import re

import pytest

from backends.migration.certify.contracts.topics import TOPICS
from studio.paths import ASSETS


@pytest.mark.parametrize(
    ("language", "head"), [("en", "| contract | what is compared |"), ("zh", "| 约定 | 比较的内容 |")]
)
def test_that_the_help_has_a_row_for_each_contract(language: str, head: str) -> None:
    text = (ASSETS / "help" / language / "8-migration.md").read_text("utf-8")
    table = text[text.index(head) :].partition("\n\n")[0].splitlines()[2:]
    assert len(table) == len(TOPICS)
    assert all(re.fullmatch(r"\| [^|]+ \| [^|]+ \|", row) for row in table)
