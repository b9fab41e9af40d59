"""Precision from end to end, by the commands that a person would type, in a folder that msprobe itself refuses."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from backends.precision.compare.comparison import FOLDER
from backends.precision.compare.spec import CompareSpec
from studio import processes, schema, worker
from studio import run as runs
from studio.paths import MAIN
from tests.command_line import last_json
from tests.guest.capturing import ODD
from tests.precision.capture import digits_weights as digits
from tests.precision.determinism.seeded_training import TORCH as SEEDED
from tests.runs import ended, events_of, wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence

TRAIN = """\
import os
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number
        self.norm, self.other_norm = nn.LayerNorm(32), nn.LayerNorm(32)
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.up, self.down = nn.Linear(32, 128), nn.Linear(128, 32)

    def forward(self, x):
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        y = self.other_norm(x)
        y = self.up(y)
        return x + self.down(F.gelu(y))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50, 32)
        self.blocks = nn.Sequential(*[Block(number) for number in range(3)])
        self.head = nn.Linear(32, 50)

    def forward(self, words):
        return self.head(self.blocks(self.words(words)))


model = Transformer()
if "RANK" in os.environ:
    torch.distributed.init_process_group("gloo")
    model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(3):
    words = torch.randint(0, 50, (4, 9))
    loss = F.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), flush=True)
"""
UP = "        y = self.up(y)\n"
CAST = "        if self.number == 1:\n            y = y.bfloat16().float()\n"
CAST_ON_RANK = CAST.replace("== 1:", '== 1 and os.environ["RANK"] == "1":')
DUMP = ("--capture", "dump", "--capture-steps", "1", "--capture-level", "mix")
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2")
KILLS = 10
SECONDS = 400


class Failed(Exception):
    pass


def journeys(scratch: Path) -> dict[str, str]:
    """Return by name "right", or what was wrong."""
    settings = {f"XDG_{name}_HOME": str(scratch / name.lower()) for name in ("CONFIG", "CACHE")}
    settings |= {"XDG_STATE_HOME": str(scratch / ODD), "LANGUAGE": "en"}
    settings |= {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1"}
    with patch.dict(os.environ, settings):
        walked = (a_cast, perturbed_weights, determinism, killed_comparisons, two_ranks)
        return {walk.__name__: _said(walk, scratch / ODD / walk.__name__) for walk in walked}


def _said(walk: Any, folder: Path) -> str:
    folder.mkdir(parents=True)
    try:
        walk(folder)
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:2000]
    return "right"


def a_cast(folder: Path) -> None:
    """Launched twice, compared, captured again with tensors, and made into a reproducer that runs by itself."""
    golden, target = trained(folder / "golden", TRAIN), trained(folder / "target", TRAIN.replace(UP, CAST + UP))
    answer = compared(folder, target, golden)
    first = answer["first_divergence"]
    expect(_of(first, "direction", "place", "index", "step", "rank"), ("forward", "input", 0, 1, 0))
    expect(_line(first), _number(TRAIN.replace(UP, CAST + UP), UP))

    deeper = command(folder, 0, "deeper", answer["run"])["comparison"]
    first = compared_in(deeper)
    cast = _number(TRAIN.replace(UP, CAST + UP), "            y = y.bfloat16")
    expect((first["name"], _line(first)), ("Tensor.bfloat16.0.forward", cast))
    for call, code in (("", 0), (answer["first_divergence"]["name"], 0)):
        out = folder / f"reproducer {call}"
        command(folder, 0, "reproduce", deeper, "--out", str(out), *(("--call", call) if call else ()))
        done = subprocess.run(
            (sys.executable, str(out / "reproduce.py")), cwd="/", capture_output=True, text=True, timeout=SECONDS
        )
        expect(done.returncode, code, done.stdout + done.stderr)


def perturbed_weights(folder: Path) -> None:
    """Capture the digits in MindSpore: the capture changes nothing."""
    words = ("launch", "--recipe", "digits", "--steps", "3")
    plain, other = (digits.weights(folder / f"of {name}.safetensors", name) for name in ("", "layers.3.weight"))
    golden = command(folder, 0, *words, "--weights", plain, *DUMP)["run"]
    target = command(folder, 0, *words, "--weights", other, *DUMP)["run"]
    without = command(folder, 0, *words, "--weights", plain)["run"]
    first = compared(folder, target, golden)["first_divergence"]
    expect(_of(first, "name", "place", "index"), ("Primitive.conv2d.Conv2D.1.forward", "input", 1))
    expect(losses(golden), losses(without))
    expect(len(losses(golden)), 3)


def determinism(folder: Path) -> None:
    (folder / "train.py").write_text(SEEDED, encoding="utf-8")
    line = ("determinism", "--steps", "3", "--", sys.executable, "train.py")
    expect(command(folder, 0, *line, "--seed")["deterministic"], True)
    expect(command(folder, 3, *line)["first"]["reason"], "seed")


def killed_comparisons(folder: Path) -> None:
    """kill -9 of the worker at ten moments of its life, and again from there: always the same result."""
    golden, target = (trained(folder / name, text, "tensor") for name, text in (
        ("golden", TRAIN), ("target", TRAIN.replace(UP, CAST + UP)),
    ))  # fmt: skip
    spec = schema.with_value(schema.with_value(CompareSpec(), "target", Path(target)), "golden", Path(golden))
    begun = time.monotonic()
    whole = _compared_with(folder / "runs", spec, None)
    lasts = time.monotonic() - begun
    for number in range(KILLS):
        expect(_compared_with(folder / "runs", spec, lasts * number / KILLS), whole, f"killed at {number} of {KILLS}")


def _compared_with(folder: Path, spec: CompareSpec, killed_after: float | None) -> list[str]:
    """Digests of the files of a comparison; one that holds columns has a name of its own, which another one says."""
    run = runs.create(folder, "compare", schema.to_json(spec))
    worker.start(run)
    if killed_after is not None:
        mark = wait_for(lambda: processes.read_mark(run.folder / "worker.json"))
        time.sleep(killed_after)
        if mark.process():
            os.kill(mark.pid, signal.SIGKILL)
        wait_for(lambda: worker.reap_started() or runs.glance(run).state in (*runs.WITHOUT_WORKER, "ended", "lost"))
        if runs.glance(run).state != "ended":
            worker.start(run)
    expect(ended(run, seconds=SECONDS).code, 3)
    stored = [path for path in (run.folder / FOLDER).rglob("*") if path.is_file()]
    (columns,) = (path.name.encode() for path in stored if path.suffix == ".bin")
    return sorted(hashlib.sha256(path.read_bytes().replace(columns, b"")).hexdigest() for path in stored)


def two_ranks(folder: Path) -> None:
    golden = trained(folder / "golden", TRAIN, "statistics", TORCHRUN)
    target = trained(folder / "target", TRAIN.replace(UP, CAST_ON_RANK + UP), "statistics", TORCHRUN)
    first = compared(folder, target, golden)["first_divergence"]
    expect(_of(first, "rank", "step", "direction", "place", "index"), (1, 1, "forward", "input", 0))
    expect(_line(first), _number(TRAIN.replace(UP, CAST_ON_RANK + UP), UP))


def trained(folder: Path, script: str, task: str = "statistics", before: Sequence[str] = ()) -> str:
    """The run's folder."""
    folder.mkdir()
    (folder / "train.py").write_text(script, encoding="utf-8")
    line = ("launch", *DUMP, "--capture-task", task, "--", sys.executable, *before, "train.py")
    return str(command(folder, 0, *line)["run"])


def compared(folder: Path, target: str, golden: str) -> dict[str, Any]:
    return command(folder, 3, "compare", target, golden)


def compared_in(run: str) -> dict[str, Any]:
    """The first divergence of a comparison that was made."""
    from backends.precision.compare.comparison import comparison_answer

    first = comparison_answer(runs.open_run(Path(run)))["first_divergence"]
    assert isinstance(first, dict)
    return first


def command(folder: Path, code: int, *words: str) -> dict[str, Any]:
    """What it prints as JSON. Raises Failed where it ends otherwise."""
    name, *more = words
    line = (sys.executable, "-I", str(MAIN), "--no-project", name, "--json", *more)
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    expect(done.returncode, code, " ".join(words) + "\n" + done.stderr[-1500:])
    answer = last_json(done)
    assert isinstance(answer, dict)
    return answer


def losses(run: str) -> list[float]:
    answer = (getattr(event, "values", {}) for event in events_of(runs.open_run(Path(run))))
    return [values["loss"] for values in answer if "loss" in values]


def expect(actual: Any, expected: Any, about: str = "") -> None:
    if actual != expected:
        raise Failed(f"{actual!r} is not {expected!r} {about}")


def _of(first: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(first[name] for name in names)


def _line(first: dict[str, Any]) -> int:
    return int(first["source"].rpartition(":")[2])


def _number(script: str, line: str) -> int:
    """Return the number of the first line that begins so, from 1 on."""
    return script[: script.index(line)].count("\n") + 1
