"""What each rule means: its state, its effort and where it is from. Its sentences are `rule.<id>.title`, why, todo."""

from __future__ import annotations

import sys
from functools import lru_cache

import msgspec

from backends.migration.finding import Effort, FindingState  # noqa: TC001 - msgspec reads the fields
from backends.migration.scan.facts.libraries import load_libraries
from backends.migration.scan.facts.tables import FOLDER

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class RuleFacts(msgspec.Struct, frozen=True, kw_only=True):
    """`source`: an address that a person can open."""

    state: FindingState
    effort: Effort
    source: str


@lru_cache(maxsize=1)
def load_rules() -> dict[str, RuleFacts]:
    """Return the rules by id, those of libraries included."""
    tables = tomllib.loads((FOLDER / "rules.toml").read_text("utf-8"))
    addresses = tables["sources"]
    by_id = {
        name: RuleFacts(state=row["state"], effort=row["effort"], source=addresses.get(row["source"], row["source"]))
        for name, row in tables["rules"].items()
    }
    return by_id | {
        library.rule: RuleFacts(state=library.state, effort=library.effort, source=library.source)
        for library in load_libraries().values()
    }


def rule_source(rule: str) -> str:
    """Return the address behind a rule, "" for a rule of a newer studio."""
    facts = load_rules().get(rule)
    return facts.source if facts else ""
