"""`check-first` against what then came: times, memory and disk of 300 steps, the largest batch under a limit.

Nine of ten predictions lie inside their stated error on a machine that is left alone. Where other processes kept cores
busy, in the check or in the training that followed, there is no verdict: the load was another one in each.
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.launch.check.answer import Answer, answer_in
from backends.launch.check.guard import Limits
from backends.launch.check.host import Load
from backends.launch.check.messages import BUSY
from backends.launch.check.predictions import prediction_pairs
from backends.launch.check.spec import CheckSpec
from backends.launch.check.trial import spec_of, try_out
from backends.launch.check.work import STEPS_FOR_MEMORY
from studio import run as runs
from studio import schema, worker
from tests.bench.figure import Figure
from tests.runs import ended, launch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.launch.check.predictions import Pair
    from studio.run import Run

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "linear": {"recipe": "linear", "mode": "jit"},
    "digits": {"recipe": "digits", "mode": "jit"},
    "text": {"recipe": "text", "mode": "jit"},
    "digits, PyNative": {"recipe": "digits", "mode": "pynative"},
    "linear, 2 workers": {"recipe": "linear", "mode": "jit", "parallel": "data", "workers": 2},
}
STEPS = 300
OUTSIDE = 10.0
"""Percent of the predictions that may lie outside of their stated error."""
LIMIT_MB = 1000
CLOSE = 0.02  # of the batch, to which the truth is searched for


def spec_with(**chosen: Any) -> CheckSpec:
    spec = CheckSpec()
    for name, value in chosen.items():
        spec = schema.with_value(spec, name, value)
    return spec


def checked(folder: Path, spec: CheckSpec) -> tuple[Run, Answer]:
    run = runs.create(folder, "check-first", schema.to_json(spec))
    worker.start(run)
    glance = ended(run, seconds=300)
    found = answer_in(run)
    assert found is not None, f"{glance} {run.log.read_text()}"
    return run, found


def is_inside(pair: Pair) -> bool:
    """Whether what came lies in the stated error; without one only the very figure does."""
    return abs(pair.predicted.value - pair.measured) <= (pair.predicted.error or 0.0)


def _figure(name: str, pair: Pair) -> Figure:
    stated = pair.predicted.error
    part = None if stated is None else 100 * stated / pair.measured
    inside = "inside" if is_inside(pair) else "OUTSIDE"
    return Figure(
        what=f"{name}: {pair.what} predicted, off by ({inside})", value=pair.off, unit="%", peer=part,
        peer_name="stated",
    )  # fmt: skip


def pairs_of(choices: dict[str, Any], steps: int = STEPS) -> tuple[tuple[Pair, ...], float]:
    """Predictions beside what came, and the cores that others kept busy meanwhile."""
    chosen = {"device": "cpu", "steps": steps, "checkpoint_every": 100, **choices}
    with tempfile.TemporaryDirectory() as folder:
        _, found = checked(Path(folder), spec_with(**chosen, largest=False))
        reap()
        load = Load()
        run = launch(Path(folder), **chosen)
        assert ended(run, seconds=600).code == 0, run.log.read_text()
        reap()
        return prediction_pairs(found, run), max(found.busy, load.cores_of_others())


def reap(seconds: float = 20.0) -> None:
    """Wait for workers that have ended, so that what they and their trainings computed counts as this process's own: a
    worker writes its end some time before it leaves."""
    deadline = time.monotonic() + seconds
    with suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.01)


def summed_up(pairs: Sequence[Pair], busy: float) -> Figure:
    """How many lie outside; no verdict where the machine was not left alone."""
    outside = 100 * sum(not is_inside(pair) for pair in pairs) / len(pairs)
    share = 100 * busy / (os.cpu_count() or 1)
    what = f"{len(pairs)} predictions: outside of their stated error, others kept {busy:.1f} cores busy"
    return Figure(what=what, value=outside, unit="%", bar=OUTSIDE, noise=share if share > 100 * BUSY else None)


def fits(spec: CheckSpec, batch: int, run: Run) -> bool:
    folder = run.folder / "trials" / f"truth-{batch}"
    limits = Limits(memory=LIMIT_MB * 10**6, seconds=120, space=0)
    return not try_out(spec_of(spec, batch, STEPS_FOR_MEMORY), folder, run, limits).guarded.cut


def truth_of(spec: CheckSpec, run: Run, low: int, high: int) -> int:
    """Search by halving; `low` is known to fit."""
    while fits(spec, high, run):
        low, high = high, 2 * high
    while high - low > max(1, CLOSE * low):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(spec, middle, run) else (low, middle)
    return low


def _largest() -> Iterator[Figure]:
    spec = spec_with(recipe="text", mode="jit", device="cpu", memory_limit=LIMIT_MB)
    with tempfile.TemporaryDirectory() as folder:
        run, found = checked(Path(folder), spec)
        assert found.largest is not None
        begin = found.largest.points[0].batch
        truth = truth_of(spec, run, begin, 4 * begin)
        peer = {"peer": float(truth), "peer_name": "by halving"}
        yield Figure(
            what=f"text: largest batch under {LIMIT_MB} MB, run", value=found.largest.ran, unit="samples", **peer
        )
        if found.largest.estimate is not None:
            what = f"text: largest batch under {LIMIT_MB} MB, estimate"
            yield Figure(what=what, value=found.largest.estimate, unit="samples", **peer)


def figures() -> list[Figure]:
    found: list[Figure] = []
    all_pairs: list[Pair] = []
    busy = 0.0
    for name, choices in CONFIGURATIONS.items():
        pairs, others = pairs_of(choices)
        found += [_figure(name, pair) for pair in pairs]
        all_pairs += pairs
        busy = max(busy, others)
    return [*found, summed_up(all_pairs, busy), *_largest()]
