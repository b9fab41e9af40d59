"""When a training of one or more ranks is saved: rank 0 chooses, and those that hold parts of the weights bring
theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ascend_engine.checkpoints.keeper import Keeper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ascend_engine.checkpoints.checkpoint import Saved
    from ascend_engine.options import Config
    from ascend_engine.pytorch.group import TorchGroup


class RankKeeper:
    """take(step) copies all state, while the training waits, on all ranks that hold parts of it. All ranks have to call
    the methods."""

    def __init__(self, config: Config, process_group: TorchGroup, take: Callable[[int], Saved]):
        self.keeper = Keeper(config, take)
        self.process_group = process_group
        self.take = take

    def after_step(self, number: int, loss: float, measured: Mapping[str, float]) -> None:
        """Save where that is due. `measured`: with the weights of this very step, if anything was."""
        if not self.keeper.may_save:
            return
        choice = False, False
        if self.process_group.is_first:
            choice = self.keeper.choice(number, self.process_group.mean_loss(loss), measured)
        self.save(number, *choice)

    def finish(self, number: int, loss: float, measured: Mapping[str, float]) -> None:
        """The last one, written before this returns. Nothing is done where nothing was trained since the last."""
        choice = False, False
        if self.process_group.is_first:
            choice = self.keeper.last_choice(number, self.process_group.mean_loss(loss), measured)
        self.save(number, *choice)
        if self.process_group.is_first:
            self.keeper.close()

    def save(self, number: int, saves: bool, is_best: bool) -> None:
        """Save the state after step `number` if rank 0 says so: of ranks with whole weights it does that alone."""
        if self.process_group.holds_parts:
            saves, is_best = self.process_group.first_says(saves, is_best)
        if saves and self.process_group.is_first:
            self.keeper.save(number, is_best)
        elif saves:
            self._follow(self.take(number))

    def _follow(self, saved: Saved) -> None:
        """Write what this rank holds of a checkpoint that rank 0 makes."""
        if saved.ranks is not None:
            saved.ranks.follow(saved)
