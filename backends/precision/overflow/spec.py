"""Which dump is looked through for a NaN or an Inf."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class OverflowSources:
    """`overflow_steps`: "0, 2"; empty for all. `check_python`: the interpreter whose msprobe looks too; empty for the
    studio's own."""

    dump: Path = option(Path(), positional=True, names_runs=True)
    overflow_steps: str = option("", flag_name="steps")
    check_python: Path = option(Path(), wants="file")


def _dump_exists(spec: OverflowSpec) -> Iterable[Problem]:
    dump = spec.looked.dump
    if dump == Path():
        yield Problem(field="dump", rule="precision.rule.no_dump")
    elif not dump.exists():
        yield Problem(field="dump", rule="precision.rule.dump_not_there", args={"place": str(dump)})


def _steps_are_numbers(spec: OverflowSpec) -> Iterable[Problem]:
    text = spec.looked.overflow_steps
    if not re.fullmatch(r"[\d,\s]*", text):
        yield Problem(field="overflow_steps", rule="precision.rule.no_numbers", args={"text": text[:40]})


@dataclass(frozen=True, kw_only=True)
class OverflowSpec:
    looked: OverflowSources = field(default_factory=OverflowSources)

    RULES = (_dump_exists, _steps_are_numbers)
