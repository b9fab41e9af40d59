"""The answer of the judge of one category."""

from __future__ import annotations

from typing import Literal, NamedTuple

Confidence = Literal["high", "medium", "low"]


class Verdict(NamedTuple):
    """`rule` is one of assets/migration/rules.toml, which has its state and effort; `because`: a key under
    `rule_because`."""

    rule: str
    because: str
    confidence: Confidence = "high"
