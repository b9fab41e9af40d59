"""Ranks of PyTorch for tests: a script in several processes, brought together by torchrun as a launch does it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.launch.engine_process import SCRIPT_PATHS, finish, save, start

if TYPE_CHECKING:
    from pathlib import Path

    from tests.launch.engine_process import Ran

SCRIPT = """
import numpy as np, torch
from ascend_engine.parallel import ranks

BASE = "--framework torch --optimizer sgd --lr 0.05 --steps 5 --device cpu "
def main():
    from ascend_engine import data, evaluate, nonfinite_values
    from ascend_engine.failures import Failure
    from ascend_engine.pytorch import group, recipe, shards, state, train
    from tests.launch.engine_config import config_of as engine_config

    torch.set_num_threads(1)
    cpu = torch.device("cpu")
    size = int(ranks.os.environ["WORLD_SIZE"])

    def config_of(line, parallel):
        together = "" if parallel == "none" else f" --parallel {parallel} --workers {size}"
        return engine_config(BASE + line + together)

    place = group.begin(config_of("--recipe linear", "data"), "cpu", cpu)

    class Case:
        def __init__(self, line, parallel):
            torch.manual_seed(1)
            self.config = config_of(line, parallel)
            self.place = group.ALONE if parallel == "none" else group.Ranks(self.config, cpu)
            self.plan = recipe.build(self.config)
            self.training = train.Training(self.config, "cpu", cpu, self.plan, self.place)

        def step(self, number):
            training = self.training
            training.number = number
            training.begin_step()
            return training.step(training.batches(number + 1))

        def trained(self, steps):
            norms = [self.step(number).norm for number in range(steps)]
            return norms, self.weights()

        def weights(self):
            arrays = [shards.whole(parameter).numpy().ravel() for parameter in self.plan.network.parameters()]
            return np.concatenate(arrays).astype(np.float64)

    def compare(line, parallel, batch):
        norms, weights = Case(f"{line} --batch {batch}", parallel).trained(5)
        readers = 1 if parallel == "tensor" else size
        if place.rank:
            return
        whole_norms, whole = Case(f"{line} --batch {batch * readers}", "none").trained(5)
        assert np.abs(weights - whole).max() < 1e-6, (line, parallel, np.abs(weights - whole).max())
        assert np.allclose(norms, whole_norms, rtol=1e-4), (line, parallel, norms, whole_norms)
"""
CALL = """
    place.summed(torch.zeros(1))
    print("all true on rank", place.rank)
    group.end(place)

main()
"""


def torchrun(workers: int, *script: str) -> tuple[str, ...]:
    """What a launch starts, for a script and its arguments."""
    watch = (sys.executable, "-m", "ascend_engine.parallel.ranks", "--workers", str(workers), "--")
    return (
        *watch, sys.executable, "-m", "torch.distributed.run", "--nnodes=1", f"--nproc_per_node={workers}",
        "--master_addr=127.0.0.1", "--master_port=0", *script,
    )  # fmt: skip


def check_together(folder: Path, workers: int, script: str) -> Ran:
    """Runs SCRIPT and then this in each rank; all of them must come to the end."""
    path = save(folder / "script.py", SCRIPT + script + CALL)
    ran = finish(folder, start(folder, *torchrun(workers, "--tee=3", path), python_path=SCRIPT_PATHS))
    assert ran.code == 0, ran.output
    assert all(f"all true on rank {rank}" in ran.output for rank in range(workers)), ran.output
    return ran
