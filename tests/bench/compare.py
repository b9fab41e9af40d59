"""Comparing 10,000 operators by their statistics, and showing what was found.

The dumps are a real training's, of a small Transformer and of the same with other kernels, repeated until they are
long; in the target one operator is wrong. msprobe's own comparison of the same files stands beside it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from backends.precision.compare.comparison import FOLDER
from backends.precision.compare.comparison_files import open_comparison
from studio.paths import MAIN
from studio.texts import use
from tests.bench.figure import Figure, cpu_of
from tests.planted.making import make
from tests.planted.many import lengthen
from tests.planted.plant import Order, Pair

CALLS = 10_000
WRONG = 60
MSPROBE = "msprobe compare (statistics, csv)"


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        target, golden = _dumps(folder)
        run = _run_of(target, golden)
        seconds = cpu_of(_line(target, golden), runs=5)
        shown, rows = _shown(run)
        peer = cpu_of((sys.executable, "-m", "msprobe.msprobe", "compare", "-tp", str(target / "dump.json"),
                       "-gp", str(golden / "dump.json"), "-o", str(folder / "out")), runs=1)  # fmt: skip
    return [
        Figure(what=f"compare {CALLS} operators ({rows} rows of statistics), the whole command, and show them",
               value=seconds + shown, unit="s CPU", bar=1.0, peer=peer, peer_name=MSPROBE),
        Figure(what="of this the window", value=shown, unit="s CPU"),
    ]  # fmt: skip


def _dumps(folder: Path) -> tuple[Path, Path]:
    pair = Pair(target=Order(model="transformer"), golden=Order(model="transformer", noise="kernels"))
    make([pair], folder / "short")
    for side, order, wrong in (("target", pair.target, WRONG), ("golden", pair.golden, -1)):
        (short,) = (folder / "short" / order.folder).glob("step0/proc*")
        lengthen(short, folder / side / "step0" / "rank0", CALLS, wrong)
    return folder / "target" / "step0" / "rank0", folder / "golden" / "step0" / "rank0"


def _line(target: Path, golden: Path) -> tuple[str, ...]:
    return (sys.executable, "-I", str(MAIN), "--no-project", "compare", str(target), str(golden), "--json")


def _run_of(target: Path, golden: Path) -> Path:
    """The folder of a run; the bench is worth nothing where the command did not find what is wrong."""
    done = subprocess.run(_line(target, golden), capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    found = answer["first_divergence"]
    assert (found["name"], found["place"]) == (f"Functional.linear.{18 + WRONG * 19}.forward", "output"), found
    return Path(answer["run"])


def _shown(run: Path) -> tuple[float, int]:
    """CPU seconds from the files to the painted page, in a window that is there; and how many rows there are."""
    from PySide6.QtWidgets import QApplication

    from tests.bench.stage import window
    from ui.precision.comparison.result_view import ComparisonResultView

    use("en")
    shell = window()
    view = ComparisonResultView(shell.session)
    view.resize(1100, 700)
    view.show()
    QApplication.processEvents()
    begun = time.process_time()
    comparison = open_comparison(run / FOLDER)
    view.show_comparison(None, comparison)
    QApplication.processEvents()
    seconds = time.process_time() - begun
    view.close()
    shell.close()
    return seconds, len(comparison.call)
