"""Ranks for tests: a script in several processes, brought together by msrun as a launch does it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.launch.engine_process import SCRIPT_PATHS, finish, save, start

if TYPE_CHECKING:
    from tests.launch.engine_process import Ran

SCRIPT = """
import sys
from ascend_engine.parallel import ranks
if ranks.os.environ.get("MS_ROLE") == "MS_SCHED":
    sys.exit(ranks.meet())

import mindspore as ms, numpy as np
from ascend_engine import data, evaluate, modes, recipe
from ascend_engine import nonfinite_values
from ascend_engine.parallel import group
from ascend_engine.failures import Failure
from ascend_engine.optimizers import make_optimizer
from ascend_engine.parallel.group import ALONE
from ascend_engine.precision import make_scaler
from ascend_engine.step import Step
from tests.launch.engine_config import config_of as engine_config

SIZE = int(ranks.os.environ["MS_WORKER_NUM"])
BASE = "--optimizer sgd --lr 0.05 --steps 5 --device cpu "

def config_of(line, place=None):
    together = "" if place is ALONE else f" --parallel data --workers {SIZE}"
    config = engine_config(BASE + line + together)
    modes.enter(config)
    return config

ms.set_device("CPU")
PLACE = group.begin(config_of("--recipe linear --batch 8"))

def flat(parameters):
    return np.concatenate([one.asnumpy().ravel() for one in parameters]).astype(np.float64)

class Case:
    def __init__(self, line, place, scaled=False):
        ms.set_seed(1)
        self.config = config_of(line, place)
        self.plan = recipe.build(self.config)
        self.weights = self.plan.network.trainable_params()
        self.optimizer = make_optimizer(self.config.optimizer, self.weights, 0.05)
        self.scaler = make_scaler(self.config)
        self.stream = data.stream(self.plan.train_data, self.config, place.rank, place.size)
        self.step = Step(
            self.plan.network, self.plan.loss, self.optimizer, accumulate=self.config.accumulate, clip=1.0,
            scaler=self.scaler, prepare=modes.preparation(self.config), as_cell=self.config.loop == "cell",
            process_group=place,
        )

    def batches(self, number):
        count = self.config.accumulate
        return [self.stream[micro] for micro in range(number * count, (number + 1) * count)]

    def trained(self, steps):
        return [self.step(self.batches(number)).norm for number in range(steps)], flat(self.weights)
"""
DONE = """
print("all true on rank", PLACE.rank)
group.summed(np.zeros(1))
"""


def line_of(workers: int, *script: str) -> list[str]:
    """What a launch starts, for a script and its arguments."""
    msrun = [
        str(Path(sys.executable).with_name("msrun")), f"--worker_num={workers}", f"--local_worker_num={workers}",
        "--master_addr=127.0.0.1", "--master_port=0", "--join=True", "--tail_worker_log=0", "--log_dir=logs", *script,
    ]  # fmt: skip
    return [sys.executable, "-m", "ascend_engine.parallel.ranks", "--workers", str(workers), "--", *msrun]


def check_together(folder: Path, workers: int, script: str) -> Ran:
    """Runs SCRIPT and then this in each rank; all of them must come to the end."""
    path = save(folder / "script.py", SCRIPT + script + DONE)
    ran = finish(folder, start(folder, *line_of(workers, path), python_path=SCRIPT_PATHS))
    logs = [(folder / "logs" / f"worker_{rank}.log").read_text("utf-8", "replace") for rank in range(workers)]
    assert ran.code == 0, ran.output + "".join(logs)
    assert all(f"all true on rank {rank}" in log for rank, log in enumerate(logs)), logs
    return ran


EQUAL = """
def compare(line, batch):
    apart = Case(f"{line} --batch {batch}", PLACE)
    norms, weights = apart.trained(5)
    assert not group.differ(PLACE, apart.weights), line
    if PLACE.rank:  # the ranks have the same weights
        return
    whole_norms, whole = Case(f"{line} --batch {batch * SIZE}", ALONE).trained(5)
    assert np.abs(weights - whole).max() < 1e-6, (line, np.abs(weights - whole).max())
    assert np.allclose(norms, whole_norms, rtol=1e-4), (line, norms, whole_norms)
"""
