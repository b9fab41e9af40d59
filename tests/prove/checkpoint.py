"""A hundred kills of a process that writes checkpoints back to back, and a full disk: the last one always loads."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio import paths
from tests.runs import wait_for

sys.path += [str(paths.GUEST), str(paths.ROOT / "backends" / "launch" / "engine")]
from ascend_engine.checkpoints import checkpoint

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 50_000  # of each array; a checkpoint has 600 kB

# Every value of a checkpoint is its step, so that a mixture of two would show.
CHILD = """
import sys
from pathlib import Path
import numpy as np
from ascend_engine.checkpoints.checkpoint import Saved, Store

folder, first, size = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
store = Store(folder, 2)
for step in range(first, first + 100_000):
    arrays = {name: np.full(size, step, np.float32) for name in ("a", "b")}
    store.add(Saved(step=step, weights=arrays, rest={"c": arrays["a"]}, facts={}), step % 7 == 0)
    print(step, flush=True)
    store.prune()
"""


def start(code: str, *words: str, log: Path) -> subprocess.Popen[bytes]:
    """A child with the engine on its path, as a training has it; its output goes to a file."""
    python_path = os.pathsep.join((str(paths.GUEST), str(paths.ROOT / "backends" / "launch" / "engine")))
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-c", code, *words],
            env=os.environ | {"PYTHONPATH": python_path},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def last_step(folder: Path) -> int:
    """Return the step of the checkpoint that is pointed to. Raises checkpoint.Damaged where it is not whole."""
    saved = checkpoint.read(folder / checkpoint.target(folder / "last"))
    assert all((array == saved.step).all() for array in (*saved.weights.values(), *saved.rest.values()))
    return saved.step


def kill_writers(folder: Path, kills: int) -> dict[str, int]:
    """Each child goes on where the one before was killed. `lost`: how often a checkpoint that was done was not the
    last one any more."""
    chance = random.Random(kills)
    log, step, torn, lost = folder / "log", 0, 0, 0
    for _ in range(kills):
        child = start(CHILD, str(folder / "kept"), str(step + 1), str(SIZE), log=log)
        wait_for(lambda: log.read_bytes().count(b"\n") >= 2, "two checkpoints")
        time.sleep(chance.random() * 0.1)
        child.kill()
        child.wait()
        done = int(log.read_text().split("\n")[-2])
        torn += any(path.name.endswith(".tmp") for path in (folder / "kept").iterdir())
        step = last_step(folder / "kept")
        lost += step < done
    return {"kills": kills, "torn": torn, "lost": lost, "steps": step}


@contextlib.contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """A disk of its own that is soon full. Raises CalledProcessError where nothing may be mounted."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path) -> int:
    """Writes until the disk is full; the step of the last checkpoint that loads."""
    child = start(CHILD.replace("Store(folder, 2)", "Store(folder, 1000)"), str(disk), "1", str(SIZE), log=disk / "log")
    assert child.wait(60) == 1
    return last_step(disk)


def prove() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        killed = kill_writers(Path(name), 100)
        with small_disk(Path(name, "disk"), 8_000_000) as disk:
            on_full_disk = fill(disk)
    passed = not killed["lost"] and killed["torn"] > 0 and on_full_disk > 0
    return {"passed": passed, **killed, "on_full_disk": on_full_disk}
