"""`check-first` against what then came: times, memory and disk of 300 steps, the largest batch under a limit."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.launch.check.answer import Answer, answer_in
from backends.launch.check.guard import Limits
from backends.launch.check.predictions import prediction_pairs
from backends.launch.check.spec import CheckSpec
from backends.launch.check.trial import spec_of, try_out
from backends.launch.check.work import STEPS_FOR_MEMORY
from studio import run as runs
from studio import schema, worker
from tests.bench.figure import Figure
from tests.runs import ended, launch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.launch.check.predictions import Pair
    from studio.run import Run

RECIPES = ("linear", "digits", "text")
STEPS = 300
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


def _figure(recipe: str, pair: Pair) -> Figure:
    stated = pair.predicted.error
    part = None if stated is None else 100 * stated / pair.predicted.value
    return Figure(
        what=f"{recipe}: {pair.what} predicted, off by", value=pair.off, unit="%", peer=part, peer_name="stated"
    )


def _of_recipe(recipe: str) -> Iterator[Figure]:
    chosen = {"recipe": recipe, "mode": "jit", "device": "cpu", "steps": STEPS, "checkpoint_every": 100}
    with tempfile.TemporaryDirectory() as folder:
        _, found = checked(Path(folder), spec_with(**chosen, largest=False))
        run = launch(Path(folder), **chosen)
        assert ended(run, seconds=600).code == 0, run.log.read_text()
        yield from (_figure(recipe, pair) for pair in prediction_pairs(found, run))


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
    return [*(figure for recipe in RECIPES for figure in _of_recipe(recipe)), *_largest()]
