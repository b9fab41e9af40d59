"""Micro batches that are read before the training asks for them, in threads."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from ascend_engine.data import Stream
    from ascend_engine.options import Config

    Batch = tuple[np.ndarray, np.ndarray]


class Ahead:
    """The micro batches of a stream, asked for one after the other: `ahead[number]`.

    Threads read the next `window` of them, beginning at the first that is asked for, and none from `end` on. What
    a micro batch holds follows from its number alone, so that threads change nothing but the waiting. Reading that
    fails raises where the micro batch is asked for, what it raised. The threads are daemons: one that hangs in a
    file system does not hold up the exit.
    """

    def __init__(self, stream: Stream, end: int, workers: int, window: int):
        self.stream = stream
        self.end = end
        self.window = window
        self.threads = [threading.Thread(target=self._work, name="data", daemon=True) for _ in range(workers)]
        self.changed = threading.Condition()
        self.done: dict[int, Batch | Exception] = {}
        self.next = 0  # to be read
        self.requested = -1  # by the training; before it asks, nothing is read

    def __getitem__(self, number: int) -> Batch:
        with self.changed:
            if self.requested < 0:
                self._start(number)
            self.requested = number
            self.changed.notify_all()
            while number not in self.done:
                if number >= self.end:
                    raise IndexError(number)
                self.changed.wait()
            batch = self.done.pop(number)
        if isinstance(batch, Exception):
            raise batch
        return batch

    def close(self) -> None:
        """No thread begins another micro batch, and nobody waits for one any more."""
        with self.changed:
            self.end = 0
            self.changed.notify_all()

    def _start(self, number: int) -> None:
        self.next = number
        for thread in self.threads:
            thread.start()

    def _work(self) -> None:
        number = self._take()
        while number is not None:
            batch = self._read(number)
            with self.changed:
                self.done[number] = batch
                self.changed.notify_all()
            number = self._take()

    def _read(self, number: int) -> Batch | Exception:
        try:
            return self.stream[number]
        except Exception as error:
            return error

    def _take(self) -> int | None:
        """The number of the next micro batch to read; None where nothing is left."""
        with self.changed:
            while self.next < self.end and self.next > self.requested + self.window:
                self.changed.wait()
            if self.next >= self.end:
                return None
            self.next += 1
            return self.next - 1


class Directly:
    """Each micro batch is read when it is asked for, by whoever asks."""

    def __init__(self, stream: Stream):
        self.stream = stream

    def __getitem__(self, number: int) -> Batch:
        return self.stream[number]

    def close(self) -> None:
        pass


def reader(stream: Stream, config: Config) -> Ahead | Directly:
    """Every thread has at least one micro batch to read ahead, else it would be of no use."""
    if config.data_workers == 0:
        return Directly(stream)
    window = max(config.prefetch, config.data_workers)
    return Ahead(stream, config.steps * config.accumulate, config.data_workers, window)
