"""What each rule means: its state, its effort and where it is from. Its sentences are `rule.<id>.title`, why, todo."""

from __future__ import annotations

import sys
from functools import lru_cache

import msgspec

from backends.migration.found import Effort, State  # noqa: TC001 - msgspec reads the fields
from backends.migration.scan.facts.libraries import libraries
from backends.migration.scan.facts.tables import FOLDER

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """`source`: an address that a person can open."""

    state: State
    effort: Effort
    source: str


@lru_cache(maxsize=1)
def rules() -> dict[str, Rule]:
    """By id; the rules of libraries among them."""
    read = tomllib.loads((FOLDER / "rules.toml").read_text("utf-8"))
    addresses = read["sources"]
    found = {
        name: Rule(state=row["state"], effort=row["effort"], source=addresses.get(row["source"], row["source"]))
        for name, row in read["rules"].items()
    }
    return found | {
        one.rule: Rule(state=one.state, effort=one.effort, source=one.source) for one in libraries().values()
    }


def source(rule: str) -> str:
    """The address behind a rule, empty for a rule of a newer studio."""
    known = rules().get(rule)
    return known.source if known else ""
