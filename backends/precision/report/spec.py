"""What a report is of, where it is written, and in which language."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class ReportSources:
    """`out`: the file; in the run itself where it is empty."""

    comparison: Path = option(Path(), wants="run", positional=True)
    out: Path = option(Path(), wants="file")
    report_language: Literal["system", "en", "zh"] = option("system")


def _has_comparison(spec: ReportSpec) -> Iterable[Problem]:
    if spec.shown.comparison == Path():
        yield Problem(field="comparison", rule="precision.rule.no_comparison")


def _out_can_be_written(spec: ReportSpec) -> Iterable[Problem]:
    out = spec.shown.out
    if out.is_dir() and out != Path():
        yield Problem(field="out", rule="precision.rule.is_folder", args={"path": str(out)})
    elif out != Path() and not out.parent.is_dir():
        yield Problem(field="out", rule="precision.rule.no_folder", args={"path": str(out.parent)})


@dataclass(frozen=True, kw_only=True)
class ReportSpec:
    shown: ReportSources = field(default_factory=ReportSources)

    RULES = (_has_comparison, _out_can_be_written)
