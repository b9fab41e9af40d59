"""When a training is saved: every so many steps or minutes, at a new best, and at its end."""

from __future__ import annotations

import contextlib
import math
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import ascend_studio

from ascend_engine.checkpoints.checkpoint import Damaged, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Future

    from ascend_engine.checkpoints.checkpoint import Saved
    from ascend_engine.options import Config

FOLDER = Path("artifacts", "checkpoints")


class Writer:
    """Writes one checkpoint at a time in a thread of its own, which ends by itself before the process does."""

    def __init__(self, store: Store):
        self.store = store
        self.thread = ThreadPoolExecutor(1, "checkpoint")
        self.writing: Future[None] | None = None
        self.step = 0  # of the last checkpoint that was written
        self.count = 0
        self.failed = False

    def is_busy(self) -> bool:
        return self.writing is not None and not self.writing.done()

    def wait(self) -> None:
        if self.writing is not None:
            self.writing.result()

    def start(self, saved: Saved, is_best: bool) -> None:
        self.wait()
        self.writing = self.thread.submit(self._write, saved, is_best)

    def _write(self, saved: Saved, is_best: bool) -> None:
        """A failure is told once, until one succeeds again; the training goes on without a checkpoint."""
        try:
            path = self.store.add(saved, is_best)
            self.step = saved.step
            self.count += 1
            self.failed = False
            ascend_studio.artifact("checkpoint", path.absolute())
            self.store.prune()
        except (OSError, Damaged) as error:
            if not self.failed:
                ascend_studio.finding("launch.checkpoint_failed", "warning", step=saved.step, reason=str(error))
            print(f"no checkpoint at step {saved.step}: {error}")
            self.failed = True
        finally:
            self._release_ranks(saved)

    def _release_ranks(self, saved: Saved) -> None:
        """Those that write it together may wait for one that failed early."""
        if saved.ranks is not None:
            with contextlib.suppress(Damaged):
                saved.ranks.release()


class Best:
    """The best value so far of one metric; "none" has no best."""

    def __init__(self, name: str):
        self.name = name
        self.sign = 1 if name == "accuracy" else -1
        self.value = -math.inf

    def improves(self, measured: Mapping[str, float]) -> bool:
        value = self.sign * measured.get(self.name, math.nan)
        if not value > self.value:  # NaN is no best
            return False
        self.value = value
        return True


class Keeper:
    """Decides after each step. take(step) copies all state, while the training waits."""

    def __init__(self, config: Config, take: Callable[[int], Saved]):
        self.every = config.checkpoint_every
        self.seconds = math.inf if config.checkpoint_minutes is None else config.checkpoint_minutes * 60
        self.best = Best(config.best)
        self.take = take
        self.writer = Writer(Store(FOLDER, config.keep))
        self.due = False
        self.moment = time.monotonic()
        self.pause = 0.0

    @property
    def may_save(self) -> bool:
        """Whether there may be a checkpoint before the last step."""
        return self.every is not None or self.seconds < math.inf or self.best.name != "none"

    def after_step(self, number: int, loss: float, evaluated: Mapping[str, float]) -> None:
        """Save the state where that is due. `evaluated`: see `choice`."""
        saves, is_best = self.choice(number, loss, evaluated)
        if saves:
            self.save(number, is_best)

    def choice(self, number: int, loss: float, evaluated: Mapping[str, float]) -> tuple[bool, bool]:
        """Whether to save after a step, and whether that is the best so far. `evaluated`: what was measured with the
        weights of this very step, if anything was.

        A checkpoint that is due while the one before is still being written waits for a later step: a slow disk
        must not hold up the training. Only a new best in the evaluation is worth waiting for.
        """
        self.due = self.due or self._is_time(number)
        ready = self.due and not self.writer.is_busy()
        is_best = self.best.improves({"loss": loss, **evaluated} if ready else evaluated)
        return ready or is_best, is_best

    def finish(self, number: int, loss: float, evaluated: Mapping[str, float]) -> None:
        """The last one, written before this returns. Nothing is done where nothing was trained since the last."""
        saves, is_best = self.last_choice(number, loss, evaluated)
        if saves:
            self.save(number, is_best)
        self.close()

    def last_choice(self, number: int, loss: float, evaluated: Mapping[str, float]) -> tuple[bool, bool]:
        """As `choice`, after the last step."""
        self.writer.wait()
        saves = number != self.writer.step
        return saves, saves and self.best.improves({"loss": loss, **evaluated})

    def close(self) -> None:
        """Wait for the writing, and tell what was written."""
        self.writer.wait()
        if self.writer.count:
            ascend_studio.note("launch.checkpoints", count=self.writer.count, seconds=self.pause)
            print(f"checkpoints written: {self.writer.count}, the steps waited {self.pause:.2f} s for them")

    def _is_time(self, number: int) -> bool:
        by_steps = self.every is not None and number % self.every == 0
        return by_steps or time.monotonic() - self.moment >= self.seconds

    def save(self, number: int, is_best: bool) -> None:
        begin = time.perf_counter()
        self.writer.start(self.take(number), is_best)
        self.pause += time.perf_counter() - begin
        self.moment = time.monotonic()
        self.due = False
