"""What is compared with what."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.precision.dump.pairs import StepAndRank

NUMBERS = re.compile(r"\d{1,9}")
PAIR = re.compile(r"(\d{1,9})\.(\d{1,9})=(\d{1,9})\.(\d{1,9})")


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Dumps, or folders and runs that hold some. `golden_again`: the golden run captured once more, whose distance from
    the first is the noise."""

    target: Path = option(Path(), positional=True, names_runs=True)
    golden: Path = option(Path(), positional=True, names_runs=True)
    golden_again: Path = option(Path(), names_runs=True)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """`step_numbers`, `rank_numbers`: "0, 2"; empty for all. `pairs`: which step and rank of the
    target belongs to which of the golden side, where their numbers do not tell: "1.0=0.0, 2.0=1.0"."""

    step_numbers: str = option("", flag_name="steps")
    rank_numbers: str = option("", flag_name="ranks")
    pairs: str = option("")
    tensors: Literal["auto", "off"] = option("auto")


@dataclass(frozen=True, kw_only=True)
class MsprobeChoices:
    """msprobe's own comparison; `msprobe_python`: an interpreter that has it, empty for the studio's."""

    msprobe: bool = option(False)
    msprobe_python: Path = option(Path(), wants="file", visible_when=("msprobe", (True,)))


def numbers_of(text: str) -> frozenset[int]:
    """Return the numbers of "0, 2"; empty for all."""
    return frozenset(int(each) for each in NUMBERS.findall(text))


def pairs_of(text: str) -> tuple[tuple[StepAndRank, StepAndRank], ...]:
    """Step and rank of the target, and of the golden side."""
    return tuple(((int(a), int(b)), (int(c), int(d))) for a, b, c, d in PAIR.findall(text))


def pairs_text(chosen: Iterable[tuple[StepAndRank, StepAndRank]]) -> str:
    """What `pairs_of` reads."""
    return ", ".join(f"{a}.{b}={c}.{d}" for (a, b), (c, d) in chosen)


def _sides_exist(spec: CompareSpec) -> Iterable[Problem]:
    for name, path in (("target", spec.sides.target), ("golden", spec.sides.golden)):
        if path == Path():
            yield Problem(field=name, rule="precision.rule.no_dump")
        elif not path.exists():
            yield Problem(field=name, rule="precision.rule.dump_not_there", args={"place": str(path)})
    again = spec.sides.golden_again
    if again != Path() and not again.exists():
        yield Problem(field="golden_again", rule="precision.rule.dump_not_there", args={"place": str(again)})


def _golden_is_another(spec: CompareSpec) -> Iterable[Problem]:
    """A capture compared with itself passes whatever it holds; its steps may be compared with one another."""
    sides = spec.sides
    if sides.golden != Path() and sides.target.resolve() == sides.golden.resolve() and not spec.compared.pairs:
        yield Problem(field="golden", rule="precision.rule.same_dump")


def _second_golden_is_another(spec: CompareSpec) -> Iterable[Problem]:
    """What the target does wrong is no noise of the golden side, and a capture beside itself has none."""
    again = spec.sides.golden_again
    if again != Path() and again.resolve() in (spec.sides.target.resolve(), spec.sides.golden.resolve()):
        yield Problem(field="golden_again", rule="precision.rule.golden_again_twice")


def _numbers_are_numbers(spec: CompareSpec) -> Iterable[Problem]:
    for name in ("step_numbers", "rank_numbers"):
        text = getattr(spec.compared, name)
        if not re.fullmatch(r"[\d,\s]*", text):
            yield Problem(field=name, rule="precision.rule.no_numbers", args={"text": text[:40]})
    if re.sub(r"[,\s]", "", PAIR.sub("", spec.compared.pairs)):
        yield Problem(field="pairs", rule="precision.rule.no_pairs", args={"text": spec.compared.pairs[:40]})


@dataclass(frozen=True, kw_only=True)
class CompareSpec:
    sides: Sides = field(default_factory=Sides)
    compared: Compared = field(default_factory=Compared)
    beside: MsprobeChoices = field(default_factory=MsprobeChoices)

    RULES = (_sides_exist, _golden_is_another, _second_golden_is_another, _numbers_are_numbers)
