"""Makes the dumps of pairs, in one process for each framework."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from studio.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.planted.plant import Order, Pair

CHILDREN = {"mindspore": "tests.planted.mindspore_dumps"}


def make(pairs: Iterable[Pair], folder: Path) -> None:
    """Those that `folder` has already are kept. Raises CalledProcessError with what the child said."""
    folder.mkdir(parents=True, exist_ok=True)
    missing: dict[str, list[Order]] = {}
    for order in dict.fromkeys(order for pair in pairs for order in (pair.target, pair.golden)):
        if not (folder / order.folder).is_dir():
            missing.setdefault(CHILDREN.get(order.model, "tests.planted.torch_dumps"), []).append(order)
    for module, orders in missing.items():
        _run(module, orders, folder)


def _run(module: str, orders: list[Order], folder: Path) -> None:
    path = folder / "orders.jsonl"
    lines = (json.dumps(asdict(order) | {"folder": str(folder / order.folder)}) + "\n" for order in orders)
    path.write_text("".join(lines), "utf-8")
    env = os.environ | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    with (folder / "made.log").open("wb") as log:
        done = subprocess.run(
            (sys.executable, "-m", module, str(path)), cwd=folder, env=env, stdout=log, stderr=log, check=False
        )
    if done.returncode:
        log_text = (folder / "made.log").read_text("utf-8", "replace")
        raise RuntimeError(log_text[log_text.find("FAILED") :][:4000])
