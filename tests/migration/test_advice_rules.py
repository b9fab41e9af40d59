"""The rules of advice: each has a state, a source and its sentences."""

from __future__ import annotations

import string

import pytest

from backends.migration.scan.advice.advice_rules import ADVICE_RULES
from backends.migration.scan.facts.rules import load_rules
from studio import texts


@pytest.mark.parametrize("rule", sorted(ADVICE_RULES))
def test_that_a_rule_has_a_state_a_source_and_sentences(rule: str) -> None:
    rule_facts = load_rules()[rule]
    assert rule_facts.state in ("auto", "manual")
    assert rule_facts.source.startswith("https://")
    for language in texts.LANGUAGES:
        sentences = [texts.catalogue(language, "rule")[f"rule.{rule}.{part}"] for part in ("title", "why", "todo")]
        filled = {name for text in sentences for _, name, _, _ in string.Formatter().parse(text) if name}
        assert filled <= {"name", "text"}


def test_that_no_rule_of_advice_is_left_over() -> None:
    assert {rule for rule in load_rules() if rule.startswith(("advice.", "tutorial."))} == set(ADVICE_RULES)
