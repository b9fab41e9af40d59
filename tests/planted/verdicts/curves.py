"""What a line of a chart says: whose it is, whether it was measured, and where it has a value."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from studio import run as runs
from studio.events import Metric
from studio.rank_losses import MOST_RANKS
from studio.sentences import loss_text
from studio.series import Curves, Series
from tests.planted.verdicts.case import Observation, VerdictCase
from ui.widgets.chart_lines import Line, is_sparse, run_style

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    # Attempt, rank, pid and steps of a batch, in the order in which it is read.
    Batch = tuple[int, int, int, range]


def observation(state: str, success: bool) -> Observation:
    return Observation(state=state, success=success)


def case(name: str, verdict: str, expected: Observation, observe: Callable[[Path], Observation]) -> VerdictCase:
    return VerdictCase(name=name, verdict=verdict, expected=expected, observe=observe)


# What the loss of a list of runs is of

MEAN, FIRST, OWN = observation("mean of ranks", True), observation("rank 0", False), observation("its own", True)


def basis_of(ranks: tuple[tuple[int, int, range], ...], folder: Path) -> Observation:
    """Write the losses of processes (rank, pid, steps), each its rank + step, and see what the list says of them."""
    run = runs.create(folder, "launch", {})
    for rank, pid, steps in ranks:
        lines = (f'{{"type":"metric","time":1,"step":{step},"values":{{"loss":{rank + step}.0}}}}\n' for step in steps)
        (run.folder / f"events.a1.r{rank}.p{pid}.jsonl").write_text("".join(lines))
    glance = runs.glance(run)
    text, last = loss_text(glance), min(max(steps) for _, _, steps in ranks)
    if "mean" in text and glance.values["loss"] == sum(rank + last for rank, _, _ in ranks) / len(ranks):
        return MEAN
    return FIRST if "rank 0" in text else OWN


TOGETHER: dict[str, tuple[tuple[int, int, range], ...]] = {
    f"{count} ranks{name}": tuple((rank, 9 + rank, steps(rank)) for rank in range(count))
    for count in (2, 3, 8, 64)
    for name, steps in (
        ("", lambda _rank: range(1, 30)),
        (", one a step behind", lambda rank: range(1, 30 - (rank == 1))),
        (", every tenth step", lambda _rank: range(10, 300, 10)),
    )
}
NOT_TOGETHER: dict[str, tuple[tuple[int, int, range], ...]] = {
    "two ranks without a common step": ((0, 9, range(50, 60)), (1, 10, range(1, 9))),
    "two processes that claim one rank": ((0, 9, range(1, 9)), (0, 10, range(1, 9)), (1, 11, range(1, 9))),
    "more ranks than a list reads": tuple((rank, 9 + rank, range(1, 3)) for rank in range(MOST_RANKS + 1)),
}

# Processes that claim one rank

ONE_LINE, APART = observation("one line a rank", True), observation("apart", False)


def lines_of(batches: tuple[Batch, ...], _folder: Path) -> Observation:
    curves = Curves()
    for attempt, rank, pid, steps in batches:
        curves.extend(attempt, rank, [Metric(step=step, values={"loss": float(pid)}) for step in steps], pid)
    return APART if curves.processes else ONE_LINE


CLAIMS: dict[str, tuple[Batch, ...]] = {
    "two processes, read in turns": tuple((1, 0, pid, range(n, n + 9)) for n in (1, 10, 19) for pid in (7, 8)),
    "two processes, one after the other": ((1, 0, 7, range(1, 100)), (1, 0, 8, range(1, 100))),
    "four processes": tuple((1, 0, pid, range(1, 30)) for pid in (7, 8, 9, 10)),
    "eight processes": tuple((1, 0, pid, range(1, 30)) for pid in range(7, 15)),
    "a second stage that counts from 1": ((1, 0, 7, range(1, 50)), (1, 0, 8, range(1, 9))),
    "a process that begins in the middle of another": ((1, 0, 7, range(1, 50)), (1, 0, 8, range(25, 75))),
    "a process that begins at the last step": ((1, 0, 7, range(1, 50)), (1, 0, 8, range(49, 75))),
    "two of rank 3": ((1, 3, 7, range(1, 50)), (1, 3, 8, range(1, 50))),
    "one step each": ((1, 0, 7, range(1, 2)), (1, 0, 8, range(1, 2))),
    "two in a second attempt": ((1, 0, 6, range(1, 9)), (2, 0, 7, range(5, 9)), (2, 0, 8, range(5, 9))),
}
ALONE: dict[str, tuple[Batch, ...]] = {
    "one process": ((1, 0, 7, range(1, 100)),),
    "one process, read in pieces": tuple((1, 0, 7, range(n, n + 9)) for n in range(1, 90, 9)),
    "two ranks": tuple((1, rank, 7 + rank, range(1, 30)) for rank in (0, 1)),
    "eight ranks, read in turns": tuple((1, rank, 7 + rank, range(n, n + 9)) for n in (1, 10) for rank in range(8)),
    "a process that goes on where another ended": ((1, 0, 7, range(1, 50)), (1, 0, 8, range(50, 99))),
    "three that go on": ((1, 0, 7, range(1, 9)), (1, 0, 8, range(9, 20)), (1, 0, 9, range(20, 30))),
    "a second attempt": ((1, 0, 7, range(1, 50)), (2, 0, 8, range(30, 60))),
    "a second attempt from the beginning": ((1, 0, 7, range(1, 50)), (2, 0, 8, range(1, 60))),
    "a second attempt of two ranks": tuple((n, rank, 10 * n + rank, range(1, 20)) for n in (1, 2) for rank in (0, 1)),
    "late points of the attempt before": ((1, 0, 7, range(1, 9)), (2, 0, 8, range(5, 9)), (1, 0, 7, range(9, 12))),
}

# Sampled metrics

POINTS, LINE = observation("sampled", False), observation("line", True)


def sampling_of(steps: tuple[int, ...], _folder: Path) -> Observation:
    series = Series()
    series.extend(steps, [1.0] * len(steps))
    return POINTS if is_sparse(series) else LINE


SAMPLED = {
    "three values of 135 steps": (1, 2, 135), "two evaluations": (20, 40),
    "every tenth step": tuple(range(10, 400, 10)),
    "every third step": tuple(range(1, 100, 3)), "a gap of ninety steps": (*range(1, 11), *range(100, 110)),
    "the first step and the last": (1, 1000), "fewer and fewer": tuple(2**n for n in range(12)),
}  # fmt: skip
DENSE = {
    "every step": tuple(range(1, 200)), "one value": (7,), "two steps": (1, 2), "three of four steps": (1, 2, 4),
    "a step that is missing": (*range(1, 50), *range(51, 100)), "every second step": tuple(range(1, 100, 2)),
    "steps from a thousand on": tuple(range(1000, 1100)),
}  # fmt: skip

# The value at the pointer

NOTHING, VALUE = observation("no value", False), observation("a value", True)


def value_at(first: int, last: int, step: int, _folder: Path) -> Observation:
    series = Series()
    series.extend(range(first, last + 1), [1.0] * (last - first + 1))
    return NOTHING if Line(name="", style=run_style(0), series=series).nearest(step) is None else VALUE


OUTSIDE = ((1, 20, 149), (1, 20, 21), (5, 20, 4), (5, 20, 0), (100, 200, 1), (7, 7, 8), (7, 7, 6))
INSIDE = ((1, 20, 1), (1, 20, 20), (1, 20, 10), (100, 200, 150), (7, 7, 7), (5, 6, 5), (1, 1000, 999))

CASES = (
    *(case(f"loss in a list: {name}", "loss of ranks", MEAN, partial(basis_of, ranks))
      for name, ranks in TOGETHER.items()),
    *(case(f"loss in a list: {name}", "loss of ranks", FIRST, partial(basis_of, ranks))
      for name, ranks in NOT_TOGETHER.items()),
    case("loss in a list: one rank", "loss of ranks", OWN, partial(basis_of, ((0, 9, range(1, 30)),))),
    *(case(f"one rank: {name}", "line of a rank", APART, partial(lines_of, batches))
      for name, batches in CLAIMS.items()),
    *(case(f"ranks: {name}", "line of a rank", ONE_LINE, partial(lines_of, batches))
      for name, batches in ALONE.items()),
    *(case(f"sampled: {name}", "sampled metric", POINTS, partial(sampling_of, steps))
      for name, steps in SAMPLED.items()),
    *(case(f"dense: {name}", "sampled metric", LINE, partial(sampling_of, steps)) for name, steps in DENSE.items()),
    *(case(f"pointer at {at} beside {first} to {last}", "value at the pointer", NOTHING,
           partial(value_at, first, last, at)) for first, last, at in OUTSIDE),
    *(case(f"pointer at {at} in {first} to {last}", "value at the pointer", VALUE, partial(value_at, first, last, at))
      for first, last, at in INSIDE),
)  # fmt: skip
