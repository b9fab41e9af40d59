"""PyNative against `@jit`: the steady step of each recipe on this machine."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from studio.events import Metric, Note
from tests.bench.figure import Figure
from tests.runs import ended, events_of, launch

STEPS = {"linear": 200, "digits": 60, "text": 30}


def _step(recipe: str, mode: str) -> tuple[float, float]:
    """Median of the second half of the steps in ms, and the seconds that the first step took."""
    with tempfile.TemporaryDirectory() as folder:
        run = launch(Path(folder), recipe=recipe, mode=mode, steps=STEPS[recipe])
        assert ended(run, 300).code == 0, run.log.read_text()
        events = events_of(run)
    times = [
        float(event.values["step_time"])
        for event in events
        if isinstance(event, Metric) and "step_time" in event.values
    ]
    assert any(isinstance(event, Note) for event in events)
    return statistics.median(times[len(times) // 2 :]) * 1e3, times[0]


def figures() -> list[Figure]:
    found = []
    for recipe in STEPS:
        pynative, _ = _step(recipe, "pynative")
        jit, first = _step(recipe, "jit")
        found += [
            Figure(what=f"{recipe}: @jit step", value=jit, unit="ms", peer=pynative, peer_name="PyNative"),
            Figure(what=f"{recipe}: PyNative step / @jit step", value=pynative / jit, unit="x"),
            Figure(what=f"{recipe}: first step with @jit (compile)", value=first, unit="s"),
        ]
    return found
