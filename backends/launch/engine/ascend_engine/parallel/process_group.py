"""What a training knows of the other processes that it trains with, whatever the framework is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ascend_engine.parallel.ranks import STOPPED

if TYPE_CHECKING:
    from ascend_engine.stopping import Stop


class ProcessGroup:
    """Rank `rank` of `size`."""

    rank = 0
    size = 1
    is_split = False  # each rank has a part of the network, and none the whole

    @property
    def is_first(self) -> bool:
        """Whether this process speaks for all: one rank writes the checkpoints and tells what all know."""
        return self.rank == 0

    @property
    def readers(self) -> int:
        """Ranks that read samples of their own."""
        return self.size

    def must_stop(self, stop: Stop) -> bool:
        """Whether to end here; called between two steps."""
        return bool(stop)

    def others_lost(self) -> bool:
        """Whether another rank's loss was not finite in the latest step."""
        return False

    def mean_loss(self, loss: float) -> float:
        """The mean over all ranks of the latest step's loss; `loss` is this rank's own."""
        return loss

    def sums(self, numbers: dict[str, float]) -> dict[str, float]:
        """The numbers added up over all ranks, in float32, each by itself; all ranks have to call this."""
        return numbers


ALONE = ProcessGroup()


def mean_of_ranks(process_group: ProcessGroup, numbers: dict[str, float]) -> dict[str, float]:
    """The means over all ranks, each of which saw as many samples; all ranks have to call this."""
    return {name: total / process_group.readers for name, total in process_group.sums(numbers).items()}


def exit_code(process_group: ProcessGroup, stop: Stop) -> int:
    """Return the exit code of a stopped training. A launcher takes any other than 0 for a failure, and kills the other
    ranks; `ascend_engine.parallel.ranks` has a file instead."""
    mark = os.environ.get(STOPPED)
    if process_group.size == 1 or not mark:
        return stop.exit_code
    if process_group.is_first:
        Path(mark).touch()
    return 0
