"""Plots of the report as inline SVG: a page that loads nothing and runs no script can have no other."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.common.page import escaped
from backends.precision.compare.comparison import DIFFERS, EXTRA, FIRST, FOLLOWS, MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backends.precision.compare.comparison import Comparison
    from backends.precision.losses.compare import Curve

WIDTH, HEIGHT, LEFT, BOTTOM = 1040, 252, 64, 34
LOW, HIGH = -9, 1
"""Powers of ten that the axis of errors shows; an error below lies on its lower end."""
MAX_POINTS = 2000
CLASSES = {FIRST: "first", DIFFERS: "differs", FOLLOWS: "follows", MISSING: "alone", EXTRA: "alone"}
STYLE = """
svg{display:block;width:100%;height:auto;margin:.4rem 0}svg text{font:11px system-ui,sans-serif;fill:var(--dim)}
svg line{stroke:var(--line)}svg .limit{stroke:#4c9f70;stroke-width:2;opacity:.6}svg .passed{fill:#4c9f70}
svg .differs{fill:#c0392b}svg .first{fill:#c0392b;stroke:var(--text);stroke-width:2}svg .follows{fill:#d68910}
svg .alone{fill:#2257c4}svg polyline{fill:none;stroke-width:1.6}svg .target{stroke:#c0392b}svg .golden{stroke:#2257c4}
"""


def error_plot(comparison: Comparison, title: str, axis: str) -> str:
    """Return the error of each call in execution order, and its limit; of long comparisons the worst of each stretch.
    "" where no call has a figure."""
    errors = np.nan_to_num(comparison.call_error.astype(np.float64), nan=0.0, posinf=10.0**HIGH)
    if not len(errors):
        return ""
    calls = _worst_of_stretches(errors, comparison.call_verdict)
    step = (WIDTH - LEFT) / max(1, len(errors))
    half = min(max(2.0, step / 3), 9.0)
    marks = []
    for call in calls:
        x = LEFT + (call + 0.5) * step
        allowed = float(comparison.call_allowed[call])
        if allowed > 0:
            y = _height(allowed)
            marks.append(f'<line class="limit" x1="{x - half:.1f}" x2="{x + half:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        kind = CLASSES.get(int(comparison.call_verdict[call]), "passed")
        radius = 5 if kind == "first" else 3
        name = escaped(f"{call + 1}. {comparison.names[call]}")
        marks.append(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{_height(errors[call]):.1f}" r="{radius}"><title>{name}</title>'
            "</circle>"
        )
    return _figure(title, [*_power_lines(), *marks], axis)


def _worst_of_stretches(errors: NDArray[Any], verdicts: NDArray[Any]) -> list[int]:
    """Return the calls to draw: all of few, else the first divergence and the worst of each stretch."""
    if len(errors) <= MAX_POINTS:
        return list(range(len(errors)))
    edges = np.linspace(0, len(errors), MAX_POINTS + 1).astype(int).tolist()
    worst = {int(begin + errors[begin:end].argmax()) for begin, end in pairwise(edges)}
    return sorted(worst | set(np.flatnonzero(verdicts == FIRST).tolist()))


def _height(error: float) -> float:
    power = math.log10(error) if error > 0 else LOW
    share = (min(max(power, LOW), HIGH) - LOW) / (HIGH - LOW)
    return (HEIGHT - BOTTOM) * (1 - share) + 10


def _power_lines() -> list[str]:
    lines = []
    for power in range(LOW, HIGH + 1, 2):
        y = _height(10.0**power)
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">1e{power}</text>')
    return lines


def loss_plot(curves: dict[str, Curve], names: dict[str, str], title: str, axis: str) -> str:
    """Return the losses of both sides over their steps, "" where none is finite. `names`: what each is called."""
    finite = {side: np.isfinite(curve.values) for side, curve in curves.items()}
    values = np.concatenate([curve.values[finite[side]] for side, curve in curves.items()])
    steps = np.concatenate([curve.steps[finite[side]] for side, curve in curves.items()])
    if len(values) < 2:
        return ""
    low, high = float(values.min()), float(values.max())
    begin, end = int(steps.min()), int(steps.max())
    marks = [
        f'<text x="{LEFT - 6}" y="{y}" text-anchor="end">{value:.4g}</text>'
        for y, value in ((12, high), (HEIGHT - BOTTOM, low))
    ]
    for number, (side, curve) in enumerate(curves.items()):
        places = np.linspace(0, len(curve.steps) - 1, min(len(curve.steps), MAX_POINTS)).astype(int)
        points = " ".join(
            f"{LEFT + (curve.steps[at] - begin) / max(1, end - begin) * (WIDTH - LEFT - 8):.1f},"
            f"{8 + (HEIGHT - BOTTOM - 8) * (1 - (curve.values[at] - low) / ((high - low) or 1)):.1f}"
            for at in places
            if finite[side][at]
        )
        marks.append(f'<polyline class="{side}" points="{points}"/>')
        marks.append(f'<text x="{WIDTH - 8}" y="{16 + 16 * number}" text-anchor="end">{escaped(names[side])}</text>')
        y = 12 + 16 * number
        marks.append(f'<polyline class="{side}" points="{WIDTH - 150},{y} {WIDTH - 120},{y}"/>')
    marks.append(f'<text x="{LEFT}" y="{HEIGHT - 6}">{begin}</text>')
    marks.append(f'<text x="{WIDTH - 8}" y="{HEIGHT - 6}" text-anchor="end">{end}</text>')
    return _figure(title, marks, axis)


def _figure(title: str, marks: Sequence[str], axis: str) -> str:
    middle = (WIDTH + LEFT) // 2
    label = f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escaped(axis)}</text>'
    head = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escaped(title)}">'
    return "".join((head, *marks, label, "</svg>"))
