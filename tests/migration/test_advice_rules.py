"""The rules of advice: each has a state, a source and its sentences."""

from __future__ import annotations

import string

import pytest

from backends.migration.scan.advice.rules import RULES
from backends.migration.scan.facts.rules import rules
from studio import texts


@pytest.mark.parametrize("rule", sorted(RULES))
def test_that_a_rule_has_a_state_a_source_and_sentences(rule: str) -> None:
    known = rules()[rule]
    assert known.state in ("auto", "manual")
    assert known.source.startswith("https://")
    for language in texts.LANGUAGES:
        said = [texts.rule_texts(language)[f"rule.{rule}.{part}"] for part in ("title", "why", "todo")]
        filled = {name for text in said for _, name, _, _ in string.Formatter().parse(text) if name}
        assert filled <= {"name", "text"}


def test_that_no_rule_of_advice_is_left_over() -> None:
    assert {rule for rule in rules() if rule.startswith(("advice.", "tutorial."))} == set(RULES)
