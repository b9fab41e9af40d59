"""What is to be captured, and of which run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable

Kind = Literal["profile", "dump"]
_RANKS = re.compile(r"\d{1,6}(,\d{1,6})*|")


@dataclass(frozen=True, kw_only=True)
class Capture:
    """`run` goes on meanwhile. `at`: the first step, or the next one; `ranks`: '0,3', or all of them where it is
    empty; `keep_free`: decimal megabytes of the disk."""

    run: Path = option(Path(), wants="run", positional=True)
    kind: Kind = option("profile")
    steps: int = option(2, low=1, high=1000)
    at: int | None = option(None, low=0, high=10**12)
    ranks: str = option("")
    stacks: bool = option(False, shown_when=("kind", ("profile",)))
    task: Literal["statistics", "tensor"] = option("statistics", shown_when=("kind", ("dump",)))
    level: Literal["L1", "L0", "mix"] = option("L1", shown_when=("kind", ("dump",)))
    keep_free: int = option(500, unit="mb", low=0, high=100_000_000)


def _run_is_given(spec: CaptureSpec) -> Iterable[Problem]:
    if spec.capture.run == Path():
        yield Problem(field="run", rule="capture.rule.no_run")


def _ranks_are_a_list(spec: CaptureSpec) -> Iterable[Problem]:
    if not _RANKS.fullmatch(spec.capture.ranks):
        yield Problem(field="ranks", rule="capture.rule.ranks")


@dataclass(frozen=True, kw_only=True)
class CaptureSpec:
    capture: Capture = field(default_factory=Capture)

    RULES = (_run_is_given, _ranks_are_a_list)


def ranks_of(chosen: Capture) -> tuple[int, ...]:
    return tuple(int(rank) for rank in chosen.ranks.split(",") if rank)
