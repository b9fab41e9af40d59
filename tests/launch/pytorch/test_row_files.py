"""Checkpoints that the ranks of FSDP write together: the file of one process, whole or not at all."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.launch.engine_process import SCRIPT_PATHS, check_fresh, save, start
from tests.launch.pytorch.ranks_together import SCRIPT, check_together, torchrun
from tests.runs import wait_for

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="no PyTorch here")

SAME = """
    import pathlib
    from ascend_engine.checkpoints import checkpoint, safetensors
    from ascend_engine.checkpoints.keeper import FOLDER

    for line in ("--recipe digits --optimizer adamw", "--recipe linear --optimizer adamw",
                 "--recipe digits --amp O1 --amp-dtype bf16"):
        case = Case(line + " --batch 8 --checkpoint-every 1 --keep 99", "fsdp")
        for number in range(2):
            case.step(number)
        training = case.training
        assert case.place.row_files is not None
        gathered = state.arrays_of(case.plan, training.optimizer, training.loss_scale)
        training.keeper.save(2, True, False)
        if place.rank == 0:
            training.keeper.keeper.writer.wait()
            folder = FOLDER / checkpoint.target(FOLDER / "last")
            names = {name: name.startswith(state.NETWORK) for name in gathered}
            weights = {name[len(state.NETWORK):]: gathered[name] for name, has in names.items() if has}
            rest = {name: gathered[name] for name, has in names.items() if not has}
            for name, arrays in ((checkpoint.WEIGHTS, weights), (checkpoint.REST, rest)):
                assert (folder / name).read_bytes() == b"".join(map(bytes, safetensors.encode(arrays))), (line, name)
            assert checkpoint.read(folder).step == 2
        case.place.row_files.wait()
"""


def test_that_the_files_are_those_of_gathered_weights_byte_for_byte(tmp_path: Path) -> None:
    check_together(tmp_path, 2, SAME)


FAILING = """
    import os, pathlib
    from ascend_engine.checkpoints import checkpoint
    from ascend_engine.checkpoints.keeper import FOLDER

    case = Case("--recipe digits --batch 8 --checkpoint-every 1 --keep 99", "fsdp")
    training = case.training
    open_, mkdir = os.open, pathlib.Path.mkdir

    def save(step, rank, module, name, broken):
        "Let one rank fail where it opens or makes something; all others must not wait for it."
        original = getattr(module, name)
        if place.rank == rank:
            setattr(module, name, broken)
        training.keeper.save(step, True, False)
        (training.keeper.keeper.writer if place.rank == 0 else case.place.row_files).wait()
        setattr(module, name, original)
        place.summed(torch.zeros(1))

    def full(path, *words, **more):
        if "rest.safetensors" in str(path):
            raise OSError(28, "No space left on device", str(path))
        return open_(path, *words, **more)

    def refused(path, *words, **more):
        if "step-" in str(path):
            raise OSError(13, "Permission denied", str(path))
        return mkdir(path, *words, **more)

    for step, rank, module, name, broken in ((1, 0, os, "open", full), (2, 1, os, "open", full),
                                             (3, 0, pathlib.Path, "mkdir", refused)):
        save(step, rank, module, name, broken)
        assert [path.name for path in FOLDER.iterdir() if "tmp" in path.name] == []
        assert checkpoint.complete(FOLDER) == []
        assert place.rank or training.keeper.keeper.writer.failed
    save(4, 9, os, "open", full)
    assert checkpoint.read(FOLDER / checkpoint.target(FOLDER / "last")).step == 4
"""


def test_that_a_rank_that_cannot_write_costs_one_checkpoint_and_nobody_waits_for_it(tmp_path: Path) -> None:
    ran = check_together(tmp_path, 2, FAILING)
    assert "no checkpoint at step 2: another rank could not write its part" in ran.output


WRITING = """
    from ascend_engine.checkpoints import checkpoint

    case = Case("--recipe digits --optimizer adamw --batch 8 --checkpoint-every 1 --keep 2", "fsdp")
    training = case.training
    case.step(0)
    for step in range(1, 100000):
        training.keeper.save(step, True, False)
        print("begun", step, flush=True)
        (training.keeper.keeper.writer if place.rank == 0 else case.place.row_files).wait()
"""
READING = """
import sys
from pathlib import Path
from ascend_engine.checkpoints import checkpoint

folder = Path("artifacts", "checkpoints")
last = checkpoint.target(folder / "last")
print("LAST", checkpoint.read(folder / last).step if last else 0)
"""


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """All processes that were started, at once: as a host that loses its power."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True, check=True).stdout.split()[2:]
    children: dict[int, list[int]] = {}
    for pid, parent in zip(map(int, listed[::2]), map(int, listed[1::2]), strict=True):
        children.setdefault(parent, []).append(pid)
    waiting, doomed = [process.pid], []
    while waiting:
        doomed.append(waiting.pop())
        waiting += children.get(doomed[-1], [])
    for pid in doomed:
        os.kill(pid, signal.SIGSTOP)
    for pid in doomed:
        os.kill(pid, signal.SIGKILL)


def wait_for_checkpoint(process: subprocess.Popen[bytes], last: Path) -> None:
    begun = time.time()
    wait_for(lambda: process.poll() is not None or (last.exists() and last.stat().st_mtime >= begun), "a checkpoint")
    assert process.poll() is None, "the training ended by itself"


def test_that_a_kill_at_any_moment_leaves_the_last_checkpoint_whole(tmp_path: Path) -> None:
    path = save(tmp_path / "writer.py", SCRIPT + WRITING + "\nmain()\n")
    chance, steps = random.Random(1), []
    for _ in range(3):
        process = start(tmp_path, *torchrun(2, "--tee=3", path), python_path=SCRIPT_PATHS)
        wait_for_checkpoint(process, tmp_path / "artifacts" / "checkpoints" / "last")
        time.sleep(chance.random())
        kill_all(process)
        process.wait()
        steps.append(int(check_fresh(tmp_path, READING).split()[-1]))
    assert min(steps) > 0
