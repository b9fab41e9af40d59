"""PyNative, `@jit` and graph: the steady step of each recipe on this machine, and what compiling it costs."""

from __future__ import annotations

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from studio.events import Metric, Note
from tests.bench.figure import Figure
from tests.runs import ended, events_of, launch

STEPS = {"linear": 200, "digits": 60, "text": 24}
COMPILED = {"jit": "@jit", "graph": "graph"}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """step: median of the second half of the steps, ms. first: the whole first step, s, which compiles."""

    step: float
    first: float


def _measure(recipe: str, mode: str) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        run = launch(Path(folder), recipe=recipe, mode=mode, steps=STEPS[recipe])
        assert ended(run, seconds=300).code == 0, run.log.read_text()
        events = events_of(run)
    metrics = [event.values for event in events if isinstance(event, Metric)]
    times = [float(values["step_time"]) for values in metrics if "step_time" in values]
    compiled = [event for event in events if isinstance(event, Note) and event.key == "launch.compiled"]
    assert bool(compiled) == (mode in COMPILED)
    return Measured(step=statistics.median(times[len(times) // 2 :]) * 1e3, first=times[0])


def figures() -> list[Figure]:
    found = []
    for recipe in STEPS:
        eager = _measure(recipe, "pynative")
        found.append(Figure(what=f"{recipe}: PyNative step", value=eager.step, unit="ms"))
        for mode, name in COMPILED.items():
            compiled = _measure(recipe, mode)
            found += [
                Figure(
                    what=f"{recipe}: {name} step", value=compiled.step, unit="ms", peer=eager.step,
                    peer_name="PyNative",
                ),
                Figure(
                    what=f"{recipe}: first {name} step, which compiles", value=compiled.first, unit="s",
                    peer=eager.first, peer_name="PyNative, which loads kernels",
                ),
            ]  # fmt: skip
    return found
