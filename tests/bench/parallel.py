"""Data parallel: what each process holds and sends, as the preview says it and as it is, on 2 and 4 workers.

A ring sends 2 (n-1)/n of the gradients; MindSpore's CPU transport put twice that on the wire (2.10, measured
2026-11-21), so that the growth from 2 to 4 workers is the ring's 1.5 and the value is not.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.bench.figure import Figure
from tests.launch.split_memory import estimated, measured
from tests.launch.together import check_together

RECIPES = ("linear", "digits", "text")
STEPS = 10
SCRIPT = f"""
import time
import ascend_studio

def passed():
    # All that went through the loopback, where nothing else is busy: each packet is counted once.
    with open("/proc/net/dev") as file:
        return next(int(line.split()[9]) for line in file if line.strip().startswith("lo:"))

for name in {RECIPES}:
    case = Case(f"--recipe {{name}} --mode jit --optimizer adamw --batch 4", PLACE)
    group.note_bytes(PLACE, case.optimizer.parameters, case.optimizer.get_parameters())
    case.trained(2)
    before = passed()
    case.trained({STEPS})
    group.summed(np.zeros(1))
    if PLACE.is_first:
        ascend_studio.note("bench.passed", byte_count=passed() - before)
"""


def figures() -> list[Figure]:
    return [figure for workers in (2, 4) for figure in _figures(workers)]


def counted(workers: int) -> list[tuple[str, str, float, float]]:
    """(recipe, what, bytes by the preview, bytes that a process holds)."""
    with tempfile.TemporaryDirectory() as folder:
        events = check_together(Path(folder), workers, SCRIPT).events
    held = [event["args"] for event in events if event.get("key") == "launch.bytes"]
    rows = []
    for name, args in zip(RECIPES, held, strict=True):
        said, came = estimated(name, "adamw", workers), measured(args)
        rows += [(name, what, said[what], came[what]) for what in ("parameters", "gradients", "optimizer", "sent")]
    return rows


def _figures(workers: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        events = check_together(Path(folder), workers, SCRIPT).events
    held = [event["args"] for event in events if event.get("key") == "launch.bytes"]
    passed = [event["args"]["byte_count"] / STEPS / workers for event in events if event.get("key") == "bench.passed"]
    found = []
    for name, args, byte_count in zip(RECIPES, held, passed, strict=True):
        seen, said = measured(args), estimated(name, "adamw", workers)
        found += [
            Figure(what=f"{name}, {workers} workers: {what}", value=seen[what], unit="B", peer=said[what],
                   peer_name="preview")
            for what in ("parameters", "gradients", "optimizer")
        ]  # fmt: skip
        what = f"{name}, {workers} workers: sent by each in a step, with headers"
        found.append(Figure(what=what, value=byte_count, unit="B", peer=said["sent"], peer_name="preview"))
    return found
