"""All loops train alike in all modes, bit for bit; the framework's own checkpoints outlive kills; slow reading is
made up for by threads."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.launch.engine_process import check, start_training, train
from tests.launch.loop_scripts import every_loop, planted_numbers
from tests.prove.resume import digests, steps_of
from tests.runs import wait_for

COMMON = "--device cpu --optimizer adamw --lr 0.003 --batch 4 --accumulate 4 --clip 1 --warmup 3 --steps 8"
RECIPES = ("linear", "digits", "text")
MODES = ("pynative", "jit", "graph")
PRECISIONS = ("--amp O0", "--amp O2 --loss-scale dynamic --scale 16777216")
LOOPS = ("--loop cell", "--loop model", "--loop model --data-workers 3", "--data-workers 4 --prefetch 9")
KILLS = 20
SLOW = """
import time
import numpy as np
from mindspore import nn
from ascend_engine.recipe import Recipe

class Slow:
    def __len__(self):
        return 1000

    def __getitem__(self, numbers):
        time.sleep(0.05)
        return np.ones((len(numbers), 3), np.float32), np.ones((len(numbers), 1), np.float32)

def build(config):
    return Recipe(network=nn.Dense(3, 1), loss=nn.MSELoss(), train_data=Slow())
"""


def differing(folder: Path, options: str) -> list[str]:
    """The loops that recorded another number in any step than the functional one, or ended with other weights."""
    expected = train(folder / "functional", options)
    assert expected.code == 0, expected.output
    found = []
    for number, loop in enumerate(LOOPS):
        ran = train(folder / str(number), f"{options} {loop}")
        same = ran.code == 0 and steps_of([ran.folder]) == steps_of([expected.folder])
        if not same or _weights(ran.folder) != _weights(expected.folder):
            found.append(loop)
    return found


def _weights(run: Path) -> str:
    return digests(run)["weights.safetensors"]


def kill(run: Path, seconds: float) -> None:
    """While ModelCheckpoint saves after every step, some time after its first file."""
    run.mkdir()
    options = "--recipe digits --device cpu --optimizer sgd --lr 0.01 --batch 4 --steps 1000000 --mode jit"
    process = start_training(run, f"{options} --loop model --ckpt --checkpoint-every 1 --keep 1")
    try:
        wait_for(lambda: (run / "artifacts/ckpt/last").exists() or process.poll() is not None, "a file")
        time.sleep(seconds)
        assert process.poll() is None, (run / "output.log").read_text()
    finally:
        process.kill()
        process.wait()


def loadable(folder: Path, runs: list[Path]) -> int:
    """How many runs left a file that `last` names and that MindSpore loads with its checksum."""
    script = f"""
from pathlib import Path
import mindspore as ms

count = 0
for run in {[str(run) for run in runs]}:
    ckpt = Path(run, "artifacts", "ckpt")
    count += len(ms.load_checkpoint(str(ckpt / (ckpt / "last").read_text()), crc_check=True)) > 0
print("loaded", count)
"""
    return int(check(folder, script).split()[-1])


def slow_reading(folder: Path) -> dict[str, float]:
    """Seconds per step where each micro batch takes 50 ms to read, by threads."""
    recipe = folder / "slow.py"
    recipe.write_text(SLOW)
    options = f"--recipe own --recipe-file {recipe} --device cpu --optimizer sgd --lr 0.1 --batch 4 --steps 200"
    found = {}
    for loop in ("functional", "model"):
        for workers in (0, 1, 4):
            ran = train(folder / f"{loop}{workers}", f"{options} --mode jit --loop {loop} --data-workers {workers}")
            found[f"{loop} {workers}"] = round(ran.note("launch.summary")["step_seconds"], 4)
    return found


def prove() -> dict[str, Any]:
    chance = random.Random(1)
    found: dict[str, Any] = {"different": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, (recipe, mode, precision) in enumerate(
            (recipe, mode, precision) for recipe in RECIPES for mode in MODES for precision in PRECISIONS
        ):
            case = folder / str(number)
            case.mkdir()
            if wrong := differing(case, f"{COMMON} --recipe {recipe} --mode {mode} {precision}"):
                found["different"][f"{recipe} {mode} {precision}"] = wrong
        check(folder, every_loop(is_whole=True))
        check(folder, planted_numbers(is_whole=True))
        runs = [folder / f"kill{number}" for number in range(KILLS)]
        for run in runs:
            kill(run, chance.random())
        found["kills"], found["loadable"] = KILLS, loadable(folder, runs)
        found["step_seconds"] = slow_reading(folder)
    return {"passed": not found["different"] and found["loadable"] == KILLS, **found}
