"""Which operator of which comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """`comparison`: a run of `compare`; `call`: the name of a call in it, the first divergence where it is empty."""

    comparison: Path = option(Path(), wants="run", positional=True)
    call: str = option("")


@dataclass(frozen=True, kw_only=True)
class Written:
    """`out`: a folder that is made; in the run itself where it is empty."""

    out: Path = option(Path())
    report_language: Literal["system", "en", "zh"] = option("system")


def has_comparison(spec: ReproduceSpec) -> Iterable[Problem]:
    if spec.chosen.comparison == Path():
        yield Problem(field="comparison", rule="precision.rule.no_comparison")


def _out_is_new(spec: ReproduceSpec) -> Iterable[Problem]:
    out = spec.written.out
    if out == Path():
        return
    if out.exists() and not _is_empty(out):
        yield Problem(field="out", rule="precision.rule.not_empty", args={"path": str(out)})
    elif not out.parent.is_dir():
        yield Problem(field="out", rule="precision.rule.no_folder", args={"path": str(out.parent)})


def _is_empty(folder: Path) -> bool:
    """Not one that cannot be looked into either."""
    try:
        return folder.is_dir() and not any(folder.iterdir())
    except OSError:
        return False


@dataclass(frozen=True, kw_only=True)
class ReproduceSpec:
    chosen: Chosen = field(default_factory=Chosen)
    written: Written = field(default_factory=Written)

    RULES = (has_comparison, _out_is_new)
