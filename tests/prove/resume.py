"""Kills at random moments of a training, each resumed: every step as in a training that nobody killed, to the last bit.

For each mode one straight training, and a chain of others: started, killed, gone on with from what the last one left,
and begun anew where one came to its end. Everything that a step depends on is in it: float16 with a dynamic loss
scale, sums of gradients over micro batches, a dropout, a learning rate that changes. Nearly all of a step's time
is in its micro batches, so a random moment is in the middle of an accumulation; a third of the kills waits until a
checkpoint is being written.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.launch.engine_process import Ran, read_events, start_training, train
from tests.prove.checkpoint import checkpoint
from tests.runs import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.launch.engine_process import Process

LINEAR = "--recipe linear --batch 8 --lr 0.05"
TEXT = "--recipe text --batch 2 --lr 0.003"  # with a dropout
HARD = "--device cpu --amp O2 --loss-scale dynamic --accumulate 4 --optimizer adamw --clip 1"
HARD += " --schedule step --warmup 5 --decay-every 7 --decay-rate 0.9 --checkpoint-every 2"
WORDS = "启动训练,观察曲线。Press Start and watch the curve.\n"
KILLS = 20
MEASURED_TIMES = ("step_time", "throughput")


@dataclass(frozen=True, kw_only=True)
class Case:
    """`steps`: enough that a compiled training, too, is killed before its end. `longest`: seconds of steps until a
    kill."""

    name: str
    options: str
    steps: int
    kills: int = KILLS
    longest: float = 1.0

    @property
    def line(self) -> str:
        return f"{self.options} --steps {self.steps}"


CASES = (
    Case(name="pynative", options=f"{TEXT} {HARD} --mode pynative --accumulate 2", steps=16, longest=3.0),
    Case(name="jit", options=f"{TEXT} {HARD} --mode jit", steps=200),
    Case(name="graph", options=f"{TEXT} {HARD} --mode graph", steps=200),
    Case(name="cell, jit", options=f"{TEXT} {HARD} --mode jit --loop cell", steps=200, kills=5),
    Case(name="model, jit", options=f"{TEXT} {HARD} --mode jit --loop model", steps=200, kills=5),
)


def checkpoints_of(run: Path) -> Path:
    return run / "artifacts" / "checkpoints"


@dataclass
class Chain:
    """`runs`: in their order. `ends`: those of them that came to the end. `while_writing`: kills that left a
    checkpoint unfinished."""

    straight: Path
    runs: list[Path]
    ends: list[Path]
    kills: int = 0
    while_writing: int = 0


def chain_of(folder: Path, case: Case) -> Chain:
    """The straight training and the killed ones, in folders under `folder`."""
    chance = random.Random(case.name)
    straight: Ran = train(folder / "straight", case.line)
    assert straight.code == 0, straight.output
    chain, earlier = Chain(straight.folder, [], []), None
    while chain.kills < case.kills or earlier or not chain.ends:
        run = folder / f"run{len(chain.runs)}"
        chain.runs.append(run)
        if not _run(run, case, earlier, chance if chain.kills < case.kills else None):
            chain.kills += 1
            chain.while_writing += _is_writing(run)
            earlier = run if has_checkpoint(run) else earlier
        if has_checkpoint(run) and digests(run)["step"] == case.steps:
            chain.ends.append(run)
            earlier = None
    return chain


def _run(run: Path, case: Case, earlier: Path | None, chance: random.Random | None) -> bool:
    """Goes on from an earlier run, or begins, and is killed at a random moment; whether it came to its end before.
    Without `chance` it may."""
    run.mkdir()
    line = f"{case.line} --resume {earlier}" if earlier else case.line
    process = start_training(run, line)
    begun = _has_step if earlier else has_checkpoint  # the next one needs something to go on from
    try:
        if chance:
            wait_for(lambda: begun(run) or process.poll() is not None, "a step")
            _wait(run, process, chance, case.longest)
            process.kill()
        code = process.wait(timeout=300)
    finally:
        process.kill()
        process.wait()
    assert code in (0, -9), (run / "output.log").read_text()
    return code == 0


def _wait(run: Path, process: Process, chance: random.Random, longest: float) -> None:
    """Until a random moment, or from there on until a checkpoint is being written."""
    time.sleep(chance.random() * longest)
    if chance.random() < 1 / 3:
        end = time.monotonic() + 10
        while not _is_writing(run) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.0002)


def has_checkpoint(run: Path) -> bool:
    return (checkpoints_of(run) / "last").exists()


def _has_step(run: Path) -> bool:
    return any(b'"type":"metric"' in file.read_bytes() for file in run.glob("events*"))


def _is_writing(run: Path) -> bool:
    return any(path.name.endswith(".tmp") for path in checkpoints_of(run).glob("*"))


def steps_of(runs: Iterable[Path]) -> dict[int, set[str]]:
    """Return by step what the runs recorded, without times. One text where all agree to the last bit."""
    found: dict[int, set[str]] = {}
    for run in runs:
        for event in read_events(run):
            if event["type"] == "metric":
                values = {name: value for name, value in event["values"].items() if name not in MEASURED_TIMES}
                found.setdefault(event["step"], set()).add(json.dumps(values))
    return found


def digests(run: Path) -> dict[str, str]:
    """sha256 of all weights and all other state at the end of a run."""
    last = checkpoints_of(run) / checkpoint.target(checkpoints_of(run) / "last")
    state = json.loads((last / "state.json").read_text())["state"]
    return {"step": state["step"], **state["files"]}


def compare(runs: list[Path], straight: Path, ends: list[Path]) -> dict[str, Any]:
    """`different`: steps of which the runs recorded something else than the straight one, or nothing."""
    expected, found = steps_of([straight]), steps_of(runs)
    different = sum(found.get(step) != expected[step] for step in expected)
    same = all(digests(run) == digests(straight) for run in ends)
    return {"steps": len(expected), "different": different, "same_state": same}


def prove_case(case: Case, folder: Path) -> dict[str, Any]:
    chain = chain_of(folder, case)
    figures = compare(chain.runs, chain.straight, chain.ends)
    return {"kills": chain.kills, "while_writing": chain.while_writing, "ends": len(chain.ends), **figures}


def prove() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for case in CASES:
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as name:
            corpus = Path(name, "corpus")
            corpus.mkdir()
            (corpus / "text.md").write_text(WORDS * 90, "utf-8")
            small = replace(case, options=f"{case.options} --corpus {corpus}")
            found[case.name] = prove_case(small, Path(name)) | {"seconds": round(time.monotonic() - begun)}
        print(case.name, found[case.name], file=sys.stderr, flush=True)
    passed = all(one["same_state"] and not one["different"] for one in found.values())
    return {"passed": passed, **found}
