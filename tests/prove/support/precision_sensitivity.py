"""What moves when a tolerance of the comparison is halved or doubled: planted divergences named right, false alarms.

The pairs are judged in this process, from dumps that are read once, by the same passes as the command's.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

from backends.precision.compare.builder import ComparisonBuilder
from backends.precision.compare.inputs import open_dumps, select_passes
from backends.precision.compare.judgement.drift import DriftState
from backends.precision.compare.passes import judge_pass
from backends.precision.compare.spec import CompareSpec, Sides
from backends.precision.compare.tolerances import TOLERANCES, Growth, Tolerances
from backends.precision.compare.values.joined import join_dumps
from backends.precision.compare.values.tensor_distance import measure_tensors
from studio.gc_pause import gc_paused
from tests.planted.scoring import PairVerdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from backends.precision.compare.comparison import First
    from backends.precision.dump.dump import Dump
    from tests.planted.plant import Pair

FACTORS = (0.5, 2.0)


@dataclass(frozen=True, kw_only=True)
class Dumps:
    """The dumps of a pair: step, rank, target and golden side of each pass."""

    pair: Pair
    passes: tuple[tuple[int, int, Dump, Dump], ...]


@dataclass(frozen=True, kw_only=True)
class Score:
    """`right` of `planted` divergences named, `alarms` in `healthy` pairs."""

    right: int
    planted: int
    alarms: int
    healthy: int

    def __str__(self) -> str:
        return f"{self.right}/{self.planted} named right, {self.alarms}/{self.healthy} false alarms"


def names() -> tuple[str, ...]:
    """Return the tolerances, those of a kind of operator as "growth.soft"."""
    plain = [field.name for field in fields(Tolerances) if field.name != "growth"]
    return (*plain, *(f"growth.{name}" for name in Growth._fields))


def scaled(name: str, factor: float) -> Tolerances:
    """Return the tolerances with one of them times `factor`."""
    group, _, kind = name.rpartition(".")
    if group:
        growth = TOLERANCES.growth
        return replace(TOLERANCES, growth=growth._replace(**{kind: getattr(growth, kind) * factor}))
    return replace(TOLERANCES, **{name: getattr(TOLERANCES, name) * factor})


def read(pairs: Iterable[Pair], folder: Path) -> list[Dumps]:
    return [_read(pair, folder) for pair in pairs]


def _read(pair: Pair, folder: Path) -> Dumps:
    sides = Sides(target=folder / pair.target.folder, golden=folder / pair.golden.folder)
    selected = select_passes(CompareSpec(sides=sides), lambda key, **args: None)
    passes = [(each.step, each.rank, *open_dumps(each, lambda key, **args: None)) for each in selected]
    return Dumps(pair=pair, passes=tuple(passes))


def first_of(dumps: Dumps, tolerances: Tolerances, scratch: Path) -> First | None:
    builder = ComparisonBuilder()
    states: dict[int, DriftState] = {}
    for step, rank, target, golden in dumps.passes:
        joined = join_dumps(target, golden, tolerances=tolerances)
        if target.file and golden.file:
            joined = measure_tensors(joined, lambda done, total: None, scratch).joined
        judged = judge_pass(joined, states.get(rank, DriftState()), step, rank)
        states[rank] = judged.state()
        builder.add(joined, judged.judgement, step, rank, judged.first)
    return builder.build(()).first


def score(dumps: Sequence[Dumps], tolerances: Tolerances, scratch: Path) -> Score:
    with gc_paused():
        answers = [PairVerdict(pair=each.pair, first=fields_of(first_of(each, tolerances, scratch))) for each in dumps]
    planted = [answer for answer in answers if answer.pair.plant is not None]
    healthy = [answer for answer in answers if answer.pair.plant is None]
    return Score(
        right=sum(answer.is_right for answer in planted), planted=len(planted),
        alarms=sum(not answer.is_right for answer in healthy), healthy=len(healthy),
    )  # fmt: skip


def fields_of(first: First | None) -> dict[str, object] | None:
    return None if first is None else {field.name: getattr(first, field.name) for field in fields(first)}


def sensitivity(
    dumps: Sequence[Dumps], scratch: Path, chosen: Iterable[str] | None = None
) -> dict[str, tuple[Score, Score]]:
    """Return, for each tolerance, the scores where it is halved and where it is doubled."""
    return {
        name: (score(dumps, scaled(name, FACTORS[0]), scratch), score(dumps, scaled(name, FACTORS[1]), scratch))
        for name in (names() if chosen is None else chosen)
    }


def table(baseline: Score, scores: dict[str, tuple[Score, Score]]) -> str:
    """Return the figures as text: what is named right and what is alarmed, as differences from the baseline."""
    rows = [("tolerance", "halved", "doubled")]
    rows += [(name, _moved(baseline, halved), _moved(baseline, doubled)) for name, (halved, doubled) in scores.items()]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join((f"as it is: {baseline}", *lines))


def _moved(baseline: Score, other: Score) -> str:
    moved = (
        (other.right - baseline.right, "named"),
        (other.alarms - baseline.alarms, "alarms"),
    )
    return ", ".join(f"{difference:+d} {what}" for difference, what in moved if difference) or "-"
