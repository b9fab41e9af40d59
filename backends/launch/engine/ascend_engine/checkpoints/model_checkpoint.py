"""The framework's own ModelCheckpoint under Model.train: .ckpt files with the weights alone, beside our checkpoints.

It deletes a file before it writes it anew, and does not flush. Here it writes into a staging folder, a new name each
time; what can be loaded from there with all its parameters moves out of it in one rename:

ckpt/step-000120.ckpt     verified when it got this name, never written to again
ckpt/last                 the name of the newest
ckpt/staging/             what is being written, or what a kill left of it
"""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import ascend_studio
import mindspore as ms
from mindspore import train

from ascend_engine.checkpoints.checkpoint import Damaged, flush_folder, point
from ascend_engine.failures import first_line

if TYPE_CHECKING:
    from mindspore import nn

    from ascend_engine.train import Training

FOLDER = Path("artifacts", "ckpt")
STAGING = FOLDER / "staging"
AT_THE_END_ONLY = 2**31 - 1


def callbacks(training: Training) -> list[train.Callback]:
    """What to add to those of Model.train, after the one that counts the steps."""
    config = training.config
    if not (config.ckpt and training.writes_checkpoints):
        return []
    shutil.rmtree(STAGING, ignore_errors=True)
    STAGING.mkdir(parents=True)
    every = AT_THE_END_ONLY if config.checkpoint_every is None else config.checkpoint_every * config.accumulate
    rules = train.CheckpointConfig(
        save_checkpoint_steps=every,
        # One more than are kept: it deletes the oldest that it still finds, which may be on its way out.
        keep_checkpoint_max=config.keep + 1,
        async_save="thread",
        saved_network=training.plan.network,
        crc_check=True,
    )
    saver = train.ModelCheckpoint("weights", str(STAGING), rules)
    return [saver, Promotion(training, saver)]


class Promotion(train.Callback):
    """Moves finished files out of the staging folder, in a thread that has one of them at a time."""

    def __init__(self, training: Training, saver: train.ModelCheckpoint):
        self.training = training
        self.saver = saver
        self.begun: dict[Path, int] = {}  # files that the framework has begun, and their steps
        self.latest = ""
        self.thread = threading.Thread()

    def on_train_step_end(self, run_context: train.RunContext) -> None:
        self._note()
        if not self.thread.is_alive():
            self._start()

    def on_train_end(self, run_context: train.RunContext) -> None:
        """The framework has waited for its own thread, so that whatever it wrote is there."""
        self._note()
        self._wait()
        while self.begun:
            self._start()
            self._wait()
        shutil.rmtree(STAGING, ignore_errors=True)

    def _note(self) -> None:
        if self.saver.latest_ckpt_file_name != self.latest:
            self.latest = self.saver.latest_ckpt_file_name
            self.begun[Path(self.latest)] = self.training.number

    def _wait(self) -> None:
        if self.thread.is_alive():
            self.thread.join()

    def _start(self) -> None:
        """With the oldest, once it is there under its name, or once no more will come."""
        for path, step in list(self.begun.items()):
            if path.exists() or not _is_writing():
                del self.begun[path]
                self.thread = threading.Thread(target=self._promote, args=(path, step), name="ckpt")
                self.thread.start()
                return

    def _promote(self, path: Path, step: int) -> None:
        try:
            promoted = promote(path, step, self.training.plan.network)
            ascend_studio.artifact("ckpt", promoted.absolute())
            prune(self.training.config.keep)
        except (OSError, ValueError, RuntimeError, Damaged) as error:
            ascend_studio.finding("launch.checkpoint_failed", "warning", step=step, reason=first_line(error))
            print(f"no .ckpt at step {step}: {error}")


def _is_writing() -> bool:
    return any(thread.name == "asyn_save_ckpt" for thread in threading.enumerate())


def promote(path: Path, step: int, network: nn.Cell) -> Path:
    """Flush a file, load it, and only then give it its name outside the staging folder. Raises OSError, Damaged, and
    what MindSpore raises for a file that it cannot load."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
    check(path, network)
    promoted = FOLDER / f"step-{step:06d}.ckpt"
    path.rename(promoted)
    point(FOLDER / "last", promoted.name)
    flush_folder(FOLDER)
    return promoted


def check(path: Path, network: nn.Cell) -> None:
    """Raises where not every parameter of the network is in the file, or where its checksum is wrong."""
    loaded = ms.load_checkpoint(str(path), crc_check=True)
    for parameter in network.get_parameters():
        array = loaded.get(parameter.name)
        if array is None or array.shape != parameter.shape or array.dtype != parameter.dtype:
            raise Damaged(f"{path.name} lacks {parameter.name}")


def prune(keep: int) -> None:
    """Delete all but the newest."""
    steps = sorted(FOLDER.glob("step-*.ckpt"), key=lambda path: int(path.stem[5:]), reverse=True)
    for path in steps[keep:]:
        path.unlink()
