"""A comparison of two checkpoints, in the worker."""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.measure.measures import measure
from backends.precision.weights import result
from backends.precision.weights.checkpoints import open_weights, refuse_same_files
from backends.precision.weights.elements import Outliers, count_outliers
from backends.precision.weights.names import match_weights
from backends.precision.weights.result import WEIGHTS_FILE, WeightRow, Weights, differing_values, is_within, row_of
from backends.precision.weights.sentences import weights_notes
from backends.precision.weights.unread_files import unread_files
from studio.errors import Stopped
from studio.events import Artifact, Ended, Journal
from studio.exit_codes import NO, STOPPED
from studio.progress import ThrottledProgress
from studio.supervisor import raise_if_stopped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backends.precision.measure.measures import Tensor
    from backends.precision.weights.names import WeightPair
    from backends.precision.weights.spec import WeightsSpec
    from studio.run import Run

SCRATCH = "scratch"


def compare_weights(spec: WeightsSpec, run: Run) -> Ended:
    """Leaves artifacts/weights.json. Raises StudioError and OSError."""
    journal = Journal(run.folder, 1)
    scratch = run.folder / SCRATCH
    scratch.mkdir(exist_ok=True)
    try:
        weights = _compared(spec, scratch, journal)
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")
    finally:
        _forget(scratch)
    result.write_weights(run, weights)
    journal.write(Artifact(kind="weights", path=WEIGHTS_FILE), *weights_notes(weights))
    if weights.passes():
        return Ended(code=0)
    return Ended(code=NO, reason="incomplete" if weights.verdict() == "incomplete" else "no")


def _compared(spec: WeightsSpec, scratch: Path, journal: Journal) -> Weights:
    choices = spec.checkpoints
    refuse_same_files(choices.target_weights, choices.golden_weights)
    chosen = spec.accepted.torch_python
    python = chosen if chosen != Path() else Path(sys.executable)
    checkpoints = (
        open_weights(choices.target_weights, scratch / "target", python),
        open_weights(choices.golden_weights, scratch / "golden", python),
    )
    target, golden = (checkpoint.tensors for checkpoint in checkpoints)
    pairs = match_weights(_shapes(target), _shapes(golden))
    progress = _WeightProgress(journal, sum(math.prod(golden[pair.golden].shape) for pair in pairs.pairs))
    rows = (_row(pair, target, golden, spec.accepted.allow_weights) for pair in progress.over(pairs.pairs, golden))
    return Weights(
        target=str(choices.target_weights), golden=str(choices.golden_weights), allow=spec.accepted.allow_weights,
        rows=tuple(rows), missing=pairs.missing, extra=pairs.extra, training_state=pairs.training_state,
        unread=(
            *dict.fromkeys((*checkpoints[0].unread, *checkpoints[1].unread)),
            *unread_files(choices.target_weights, choices.golden_weights),
        ),
        values=tuple(differing_values(*(checkpoint.values for checkpoint in checkpoints))),
    )  # fmt: skip


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def _row(pair: WeightPair, target: Mapping[str, Tensor], golden: Mapping[str, Tensor], allow: float) -> WeightRow:
    tensor, other = target[pair.target], golden[pair.golden]
    measures = measure(tensor, other, raise_if_stopped)
    outliers = Outliers()
    if is_within(measures, allow, (tensor.dtype, other.dtype)) and not measures.equal:
        outliers = count_outliers(tensor, other, measures, allow, raise_if_stopped)
    return row_of(pair, tensor, other, measures, allow, outliers)


class _WeightProgress:
    """Progress in elements. Raises Stopped."""

    def __init__(self, journal: Journal, total: int) -> None:
        self._progress, self._total = ThrottledProgress(journal), total

    def over(self, pairs: tuple[WeightPair, ...], golden: Mapping[str, Tensor]) -> Iterator[WeightPair]:
        done = 0
        for pair in pairs:
            raise_if_stopped()
            yield pair
            done += math.prod(golden[pair.golden].shape)
            self._progress.report(done, self._total, "check")


def _forget(scratch: Path) -> None:
    with suppress(OSError):
        for path in scratch.iterdir():
            path.unlink()
        scratch.rmdir()
