"""`python -m tests.shots.schedules`: the help's picture of the schedules, drawn from the engine's own formula."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace
from typing import TYPE_CHECKING

from studio.paths import ASSETS, ROOT

if TYPE_CHECKING:
    from types import ModuleType

FILE = ASSETS / "help" / "schedules.svg"
SOURCE = ROOT / "backends" / "launch" / "engine" / "ascend_engine" / "schedule.py"
STEPS, WARMUP = 120, 12
WIDTH, HEIGHT, GAP, FOOT = 200, 96, 32, 30
NAMES = ("constant", "step", "cosine")
# Seen on white and on dark: between the accents of both themes.
LINE, FRAME, WORDS = "#4c86e8", "#98a1af", "#7d8796"


def _formula() -> ModuleType:
    """The engine's module by its file: a part of its package would import mindspore."""
    spec = importlib.util.spec_from_file_location("schedule_of_the_engine", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def picture() -> str:
    rate = _formula().rate
    panels = []
    for place, name in enumerate(NAMES):
        config = SimpleNamespace(schedule=name, steps=STEPS, warmup=WARMUP, lr=1.0, decay_every=36, decay_rate=0.5)
        left = 10 + place * (WIDTH + GAP)
        rates = [(step, rate(config, step)) for step in range(1, STEPS + 1)]
        points = " ".join(f"{left + WIDTH * step / STEPS:.1f},{10 + HEIGHT * (1 - lr):.1f}" for step, lr in rates)
        panels.append(
            f'<path d="M{left} 6V{10 + HEIGHT}H{left + WIDTH}" fill="none" stroke="{FRAME}"/>\n'
            f'<polyline points="{points}" fill="none" stroke="{LINE}" stroke-width="2"/>\n'
            f'<text x="{left}" y="{HEIGHT + FOOT}" font-family="sans-serif" font-size="12" fill="{WORDS}">{name}</text>'
        )
    width, height = 10 + len(NAMES) * (WIDTH + GAP), HEIGHT + FOOT + 8
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
    return "\n".join((head, *panels, "</svg>\n"))


if __name__ == "__main__":
    FILE.write_text(picture(), encoding="utf-8")
