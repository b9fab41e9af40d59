"""A comparison of two checkpoints, in the worker."""

from __future__ import annotations

import math
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.measure.measures import measure
from backends.precision.weights import result
from backends.precision.weights.in_child import Stopped
from backends.precision.weights.names import matched
from backends.precision.weights.opened import open_weights
from backends.precision.weights.result import FILE, Row, Weights, row_of
from studio.events import Artifact, Ended, Journal, Note, Progress
from studio.supervisor import STOP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.precision.measure.measures import Tensor
    from backends.precision.weights.names import Pair
    from backends.precision.weights.spec import WeightsSpec
    from studio.run import Run

NO = 3  # done, and the answer is no
BETWEEN = 0.2
"""Seconds between two events of progress."""
SCRATCH = "scratch"


def compare_weights(spec: WeightsSpec, run: Run) -> Ended:
    """Leaves artifacts/weights.json. Raises StudioError and OSError."""
    journal = Journal(run.folder, 1)
    scratch = run.folder / SCRATCH
    scratch.mkdir(exist_ok=True)
    try:
        found = _compared(spec, scratch, journal)
    except Stopped:
        return Ended(code=128 + signal.SIGTERM, reason="stopped")
    finally:
        _forget(scratch)
    result.keep(run, found)
    journal.write(Artifact(kind="weights", path=FILE), _note(found))
    return Ended(code=0) if found.passes() else Ended(code=NO, reason="no")


def _compared(spec: WeightsSpec, scratch: Path, journal: Journal) -> Weights:
    given = spec.checkpoints
    chosen = spec.accepted.torch_python
    python = chosen if chosen != Path() else Path(sys.executable)
    target = open_weights(given.target_weights, scratch / "target", python)
    golden = open_weights(given.golden_weights, scratch / "golden", python)
    pairs = matched(_shapes(target), _shapes(golden))
    told = _Told(journal, sum(math.prod(golden[pair.golden].shape) for pair in pairs.pairs))
    rows = (_row(pair, target, golden, spec.accepted.allow_weights) for pair in told.over(pairs.pairs, golden))
    return Weights(
        target=str(given.target_weights), golden=str(given.golden_weights), allow=spec.accepted.allow_weights,
        rows=tuple(rows), missing=pairs.missing, extra=pairs.extra,
    )  # fmt: skip


def _shapes(tensors: dict[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def _row(pair: Pair, target: dict[str, Tensor], golden: dict[str, Tensor], allow: float) -> Row:
    one, other = target[pair.target], golden[pair.golden]
    return row_of(pair, one, other, measure(one, other, _look), allow)


def _look() -> None:
    if STOP.asked:
        raise Stopped


class _Told:
    """Progress in elements. Raises Stopped."""

    def __init__(self, journal: Journal, total: int) -> None:
        self._journal, self._total = journal, total
        self._last = 0.0

    def over(self, pairs: tuple[Pair, ...], golden: dict[str, Tensor]) -> Iterator[Pair]:
        done = 0
        for pair in pairs:
            _look()
            yield pair
            done += math.prod(golden[pair.golden].shape)
            self._tell(done)

    def _tell(self, done: int) -> None:
        if done == self._total or time.monotonic() - self._last > BETWEEN:
            self._last = time.monotonic()
            with suppress(OSError):
                self._journal.write(Progress(done=done, total=self._total, phase="check"))


def _note(found: Weights) -> Note:
    first = found.first_different()
    args = {
        "tensors": len(found.rows), "differs": found.count("differs"), "close": found.count("close"),
        "missing": len(found.missing), "extra": len(found.extra), "name": first.name if first else "",
    }  # fmt: skip
    if found.passes():
        return Note(key="precision.weights.pass", args=args)
    return Note(key="precision.weights.differ" if first else "precision.weights.unpaired", args=args)


def _forget(scratch: Path) -> None:
    with suppress(OSError):
        for path in scratch.iterdir():
            path.unlink()
        scratch.rmdir()
