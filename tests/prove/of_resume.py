"""Twenty kills at random moments of one training, each resumed: every step as in a run that nobody killed."""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.launch.test_engine_runs import Ran, read_events, start, train
from tests.prove.of_checkpoint import checkpoint
from tests.runs import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterable

LINEAR = "--recipe linear --batch 8 --lr 0.05"
TEXT = "--recipe text --batch 2 --lr 0.003"  # with a dropout
MODES = ("pynative", "jit", "graph")
HARD = "--device cpu --amp O2 --loss-scale dynamic --accumulate 4 --optimizer adamw"
HARD += " --loss-scale dynamic --clip 1 --schedule step --warmup 5 --decay-every 7 --decay-rate 0.9"
ENDLESS = 1_000_000
MEASURED_TIMES = ("step_time", "throughput")


def kept(run: Path) -> Path:
    return run / "artifacts" / "checkpoints"


def kill_once(run: Path, options: str, seconds: float) -> int:
    """Starts a training and kills it some time after its second checkpoint; the step of its last one."""
    run.mkdir()
    process = start(run, sys.executable, "-m", "ascend_engine", *options.split(), "--steps", str(ENDLESS))
    try:
        wait_for(lambda: _checkpoints(run) >= 2 or process.poll() is not None, 120, "two checkpoints")
        time.sleep(seconds)
        assert process.poll() is None, (run / "output.log").read_text()
    finally:
        process.kill()
        process.wait()
    (last,) = (path for path in checkpoint.candidates(kept(run)) if path.name == checkpoint.target(kept(run) / "last"))
    return checkpoint.read(last).step


def _checkpoints(run: Path) -> int:
    return sum(file.read_bytes().count(b'"kind":"checkpoint"') for file in run.glob("events*"))


def steps_of(runs: Iterable[Path]) -> dict[int, set[str]]:
    """By step: what the runs recorded of it, but times. One text where all agree to the last bit."""
    found: dict[int, set[str]] = {}
    for run in runs:
        for event in read_events(run):
            if event["type"] == "metric":
                values = {name: value for name, value in event["values"].items() if name not in MEASURED_TIMES}
                found.setdefault(event["step"], set()).add(json.dumps(values))
    return found


def digests(run: Path) -> dict[str, str]:
    """sha256 of all weights and all other state at the end of a run."""
    last = kept(run) / checkpoint.target(kept(run) / "last")
    state = json.loads((last / "state.json").read_text())["state"]
    return {"step": state["step"], **state["files"]}


def resumed_and_straight(folder: Path, options: str, kills: int) -> tuple[list[Path], Path]:
    """The runs of a training that is killed again and again, the last of them done; and one that nobody killed."""
    chance = random.Random(kills)
    runs, step, resume = [], 0, ""
    for number in range(kills):
        runs.append(folder / f"run{number}")
        step = kill_once(runs[-1], options + resume, chance.random() * 0.5)
        resume = f" --resume {runs[-1]}"
    steps = f" --steps {step + 20}"
    runs.append(folder / "last")
    for run, line in ((runs[-1], options + resume + steps), (folder / "straight", options + steps)):
        ran: Ran = train(run, line)
        assert ran.code == 0, ran.output
    return runs, folder / "straight"


def compare(runs: list[Path], straight: Path) -> dict[str, Any]:
    """`different`: steps of which a killed or resumed run recorded something else than the straight one."""
    expected, found = steps_of([straight]), steps_of(runs)
    different = sum(found[step] != expected[step] for step in expected)
    return {"steps": len(expected), "different": different, "same_state": digests(runs[-1]) == digests(straight)}


def _case(recipe: str, mode: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        runs, straight = resumed_and_straight(Path(folder), f"{recipe} {HARD} --mode {mode} --checkpoint-every 3", 20)
        return {"kills": len(runs) - 1, **compare(runs, straight)}


def prove() -> dict[str, Any]:
    found = {f"{recipe.split()[1]} {mode}": _case(recipe, mode) for recipe in (LINEAR, TEXT) for mode in MODES}
    return {"passed": all(one["same_state"] and not one["different"] for one in found.values()), **found}
