"""Data parallel on this host: four workers train as one process does, and two that are killed go on exactly."""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

from backends.launch.launchers import RANK
from tests.launch.engine_config import options_text_of
from tests.launch.engine_process import read_events, start
from tests.launch.together import EQUAL, check_together, line_of
from tests.prove.resume import MEASURED_TIMES
from tests.runs import wait_for

FOUR = (
    EQUAL
    + """
for mode in ("pynative", "jit", "graph"):
    compare(f"--recipe linear --mode {mode}", 4)
    compare(f"--recipe linear --mode {mode} --accumulate 2", 4)
    compare(f"--recipe digits --mode {mode} --accumulate 2", 4)
    compare(f"--recipe linear --mode {mode} --loop cell --accumulate 2", 4)
compare("--recipe digits --mode jit", 8)
"""
)
OPTIONS = "--device cpu --lr 0.003 --seed 3 --amp O2 --loss-scale dynamic --accumulate 2 --optimizer adamw --clip 1"
STEPS = 14
WAYS = {
    "pynative": "--recipe linear --batch 4 --mode pynative",
    "jit": "--recipe text --batch 2 --mode jit",  # with a dropout
    "graph": "--recipe linear --batch 4 --mode graph",
    "jit cell": "--recipe linear --batch 4 --mode jit --loop cell",
    "model": "--recipe linear --batch 4 --mode pynative --loop model",
}
WEIGHTS = re.compile(r"weights equal on 2 ranks, (\w+)")


def train(folder: Path, options: str, kill: int | None = None) -> tuple[int, float]:
    """Exit code of a training with two workers, and how many seconds it took to end after `kill`, the rank that is
    killed after its second checkpoint."""
    folder.mkdir()
    text = options_text_of(f"--parallel data --workers 2 {OPTIONS} {options}")
    process = start(folder, *line_of(2, str(RANK), text))
    begun = time.monotonic()
    try:
        if kill is not None:
            wait_for(lambda: checkpoints(folder) >= 2 or process.poll() is not None, "two checkpoints")
            os.kill(int((folder / "logs" / f"rank_{kill}.pid").read_text()), signal.SIGKILL)
            begun = time.monotonic()
        return process.wait(300), time.monotonic() - begun
    finally:
        process.kill()


def checkpoints(run: Path) -> int:
    return sum(file.read_bytes().count(b'"kind":"checkpoint"') for file in run.glob("events*"))


def values_of(run: Path) -> dict[tuple[str, int], str]:
    """Return by rank and step what was recorded, without times and metrics of an evaluation."""
    found = {}
    for file in run.glob("events*"):
        for line in file.read_text().splitlines():
            event = json.loads(line)
            if event["type"] == "metric" and "loss" in event["values"]:
                values = {name: value for name, value in event["values"].items() if name not in MEASURED_TIMES}
                found[file.name.split(".")[2], event["step"]] = json.dumps(values)
    return found


def weights(run: Path) -> set[str]:
    return {found for log in (run / "logs").glob("worker_*.log") for found in WEIGHTS.findall(log.read_text())}


def resumes_exactly(folder: Path, way: str, kill: int) -> dict[str, Any]:
    whole, cut, rest = (folder / f"{way.replace(' ', '-')}-{name}" for name in ("whole", "cut", "rest"))
    code, _ = train(whole, f"{WAYS[way]} --steps {STEPS}")
    killed, seconds = train(cut, f"{WAYS[way]} --steps 1000000 --checkpoint-every 3", kill)
    named = [e["args"]["rank"] for e in read_events(cut) if e.get("rule") in ("launch.rank_killed", "launch.rank_gone")]
    last = (cut / "artifacts" / "checkpoints" / "last").read_text()
    steps = max(STEPS, int(last.split("-")[1]) + 4)
    if steps > STEPS:  # faster than it could be killed
        code, _ = train(whole.with_name(whole.name + "-longer"), f"{WAYS[way]} --steps {steps}")
        whole = whole.with_name(whole.name + "-longer")
    resumed, _ = train(rest, f"{WAYS[way]} --steps {steps} --resume {cut}")
    expected, found = values_of(whole), values_of(rest)
    passed = (
        (code, killed, resumed) == (0, 137, 0) and named == [kill] and len(found) >= 4
        and all(expected[place] == value for place, value in found.items()) and weights(whole) == weights(rest) != set()
    )  # fmt: skip
    return {"passed": passed, "codes": [code, killed, resumed], "ended after": round(seconds, 1), "steps": len(found)}


def prove() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "four").mkdir()
        check_together(folder / "four", 4, FOUR)
        ways = {way: resumes_exactly(folder, way, place % 2) for place, way in enumerate(WAYS)}
    return {"passed": all(one["passed"] for one in ways.values()), "four workers": "equal within 1e-6", **ways}
