"""The loop that is mindspore.train.Model.train: the framework calls the Cell of the step, the studio's part of each
step is in a callback.

A step of Model is a micro batch, a step of ours an update; under an accumulation `accumulate` of the one are one of
the other. With data sink a call takes all micro batches of a step at once.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mindspore import dataset, train

from ascend_engine.checkpoints import model_checkpoint
from ascend_engine.failures import Failure
from ascend_engine.recipe_data.defaults import nothing_to_prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from ascend_engine.prefetch import Ahead, Directly
    from ascend_engine.stopping import Stop
    from ascend_engine.train import Training


class Source:
    """Micro batches [begin, end) for a GeneratorDataset, and what reading them raised: the framework would tell of
    it in a message of its own."""

    def __init__(self, reader: Ahead | Directly, begin: int, end: int):
        self.reader = reader
        self.begin = begin
        self.end = end
        self.error: Exception | None = None

    def __len__(self) -> int:
        return self.end - self.begin

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for number in range(self.begin, self.end):
            try:
                batch = self.reader[number]
            except Exception as error:
                self.error = error
                raise
            yield batch


class Steps(train.Callback):
    """What the studio does around each step, and after which one it ends."""

    def __init__(self, training: Training, stop: Stop):
        self.training = training
        self.stop = stop
        self.count = training.config.accumulate
        self.done = training.begin * self.count  # micro batches
        self.goes_on = True
        self.free = time.perf_counter()  # since when nothing is done but waiting for a micro batch

    def on_train_step_begin(self, run_context: train.RunContext) -> None:
        if self.done % self.count == 0:
            self.training.begin_step()
            self.training.moment = self.free  # as in the other loops, waiting for data is part of a step
        # Only now: the framework reads micro batches before it trains with them.
        self.training.plan.before_batch(self.training.stream.first_sample(self.done))

    def on_train_step_end(self, run_context: train.RunContext) -> None:
        called = run_context.original_args()
        self.done += self.count if called.dataset_sink_mode else 1
        if self.done % self.count == 0:
            self.goes_on = self.training.end_step(self.training.step.outcome(called.net_outputs))
            if not self.goes_on or self.training.process_group.must_stop(self.stop):
                run_context.request_stop()
            self.free = time.perf_counter()


def fit(training: Training, stop: Stop) -> bool:
    """Train from step `training.begin` on; False where the policy for numbers that are none ends it."""
    config = training.config
    check_sink(training)
    if training.process_group.must_stop(stop):
        return True
    source = Source(training.reader, training.begin * config.accumulate, config.steps * config.accumulate)
    # It would hold 16 micro batches in memory; reading ahead is the reader's.
    dataset.config.set_prefetch_size(1)
    rows = dataset.GeneratorDataset(source, ["inputs", "labels"], shuffle=False, num_parallel_workers=1)
    steps = Steps(training, stop)
    sink = {"dataset_sink_mode": True, "sink_size": config.accumulate} if config.sink else {}
    # An epoch of Model is all that is left; with data sink it is what sinks at once.
    epochs = config.steps - training.begin if config.sink else 1
    callbacks = [steps, *model_checkpoint.callbacks(training)]
    try:
        train.Model(training.step.micro_step).train(epochs, rows, callbacks=callbacks, **sink)
    except Exception:
        if source.error is not None:
            raise source.error from None
        raise
    return steps.goes_on


def check_sink(training: Training) -> None:
    """Raises Failure: a sunk step runs all its micro batches without Python in between."""
    config = training.config
    if config.sink and config.accumulate > 1 and training.plan.before_batch is not nothing_to_prepare:
        raise Failure("launch.no_sink_between", accumulate=config.accumulate)
