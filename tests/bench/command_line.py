"""How soon the command line answers."""

from __future__ import annotations

import sys

from studio.paths import MAIN
from tests.bench.figure import Figure, cpu_of


def figures() -> list[Figure]:
    ours = cpu_of([sys.executable, "-I", str(MAIN), "--help"], runs=9)
    bare = cpu_of([sys.executable, "-I", "-c", "import argparse"], runs=9)
    return [
        Figure(
            what="ascend-studio --help",
            value=ours,
            unit="s CPU",
            bar=0.25,
            peer=bare,
            peer_name="import argparse",
        )
    ]
