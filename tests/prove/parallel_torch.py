"""PyTorch on this host: four ranks train as one process does, by DDP, FSDP2 and tensor parallel; two of which one is
killed go on exactly, alone or together; every recipe has the CPU's losses on the virtual NPU."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

from backends.launch.launchers import RANK
from studio.events import Metric
from tests.launch.engine_config import options_text_of
from tests.launch.engine_process import read_events, start
from tests.launch.pytorch.ranks_together import check_together, torchrun
from tests.prove.parallel import STEPS, checkpoints, values_of
from tests.runs import ended, events_of, launch, wait_for

CORPUS = "the quick brown fox jumps over the lazy dog. " * 200
FOUR = f"""
    import pathlib
    corpus = pathlib.Path("corpus"); corpus.mkdir(exist_ok=True)
    (corpus / "a.txt").write_text({CORPUS!r})
    text = f"--recipe text --corpus {{corpus.absolute()}}"
    for parallel in ("data", "fsdp"):
        compare("--recipe linear", parallel, 4)
        compare("--recipe digits --accumulate 2 --clip 0.5", parallel, 4)
        compare(text + " --accumulate 2 --recompute", parallel, 1)
    compare(text, "tensor", 2)
    compare(text + " --accumulate 2 --clip 0.5", "tensor", 2)
"""
OPTIONS = "--framework torch --device cpu --lr 0.003 --seed 3 --accumulate 2 --optimizer adamw --clip 1"
WAYS = {
    "data": "--recipe digits --batch 4 --amp O1 --loss-scale dynamic --scale 16777216",
    "fsdp": "--recipe digits --batch 4 --amp O1 --loss-scale dynamic --scale 16777216",
    "tensor": "--recipe text --batch 2",  # with a dropout
}
RECIPES = {"linear": 5, "digits": 5, "text": 3, "dense": 5, "resnet50": 1, "lora": 3}
KILLED = (137, 255)
"""The latter where torchrun took it down before anybody had seen of what it died."""


def train(folder: Path, options: str, kill: int | None = None) -> int:
    """Exit code of a training with two ranks, of which `kill` is killed after its second checkpoint."""
    folder.mkdir()
    text = options_text_of(f"--workers 2 {OPTIONS} {options}")
    process = start(folder, *torchrun(2, str(RANK), text))
    try:
        if kill is not None:
            wait_for(lambda: checkpoints(folder) >= 2 or process.poll() is not None, "two checkpoints")
            os.kill(int((folder / "logs" / f"rank_{kill}.pid").read_text()), signal.SIGKILL)
        return process.wait(300)
    finally:
        process.kill()


def weights(run: Path) -> bytes:
    folder = run / "artifacts" / "checkpoints"
    return (folder / (folder / "last").read_text() / "weights.safetensors").read_bytes()


def resumes_exactly(folder: Path, parallel: str, kill: int) -> dict[str, Any]:
    whole, cut, rest = (folder / f"{parallel}-{name}" for name in ("whole", "cut", "rest"))
    way = f"--parallel {parallel} {WAYS[parallel]}"
    begun = time.monotonic()
    killed = train(cut, f"{way} --steps 1000000 --checkpoint-every 3", kill)
    seconds = time.monotonic() - begun
    named = [e["args"]["rank"] for e in read_events(cut) if e.get("rule") in ("launch.rank_killed", "launch.rank_gone")]
    last = (cut / "artifacts" / "checkpoints" / "last").read_text()
    steps = max(STEPS, int(last.split("-")[1]) + 4)
    code = train(whole, f"{way} --steps {steps}")
    resumed = train(rest, f"{way} --steps {steps} --resume {cut}")
    expected, values = values_of(whole), values_of(rest)
    passed = (
        (code, resumed) == (0, 0) and killed in KILLED and named == [kill] and len(values) >= 4
        and all(expected[key] == value for key, value in values.items()) and weights(whole) == weights(rest)
    )  # fmt: skip
    return {"passed": passed, "codes": [code, killed, resumed], "ended after": round(seconds, 1), "steps": len(values)}


def losses(folder: Path, recipe: str, device: str) -> list[float]:
    run = launch(
        folder, framework="torch", recipe=recipe, device=device, steps=RECIPES[recipe], batch=2, seed=1
    )  # fmt: skip
    assert ended(run, seconds=600).code == 0, run.log.read_text()
    return [float(e.values["loss"]) for e in events_of(run) if isinstance(e, Metric) and "loss" in e.values]


def prove() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "four").mkdir()
        check_together(folder / "four", 4, FOUR)
        ways = {way: resumes_exactly(folder, way, place % 2) for place, way in enumerate(WAYS)}
        equal = {recipe: losses(folder, recipe, "virtual_npu") == losses(folder, recipe, "cpu") for recipe in RECIPES}
    passed = all(way["passed"] for way in ways.values()) and all(equal.values())
    print(json.dumps(equal))
    return {"passed": passed, "four ranks": "equal within 1e-6", **ways, "virtual NPU equals CPU": equal}
