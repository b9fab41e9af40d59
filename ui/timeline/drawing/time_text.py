"""Times and lengths as text, down to the nanosecond, and the positions of the ruler's ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backends.timeline.trace import Trace

SECOND, MILLI, MICRO = 10**9, 10**6, 10**3
UNITS = ((SECOND, "s"), (MILLI, "ms"), (MICRO, "µs"), (1, "ns"))
PLAIN = 10_000  # ticks from zero: beyond it their labels would be too long to tell one from the next
THIN = "\u2009"


def length_text(ns: float) -> str:
    """Format a length with three decimals, as '148.800 ms' or '312 ns'; it is exact up to a millisecond."""
    size, unit = next(((size, unit) for size, unit in UNITS if abs(ns) >= size), UNITS[-1])
    if size == 1:
        return f"{ns:.0f} ns"
    return f"{ns / size:,.3f} {unit}".replace(",", THIN)


def exact_text(ns: int) -> str:
    """Format a length with all its digits, as '148.800 123 ms'."""
    size, unit = next(((size, unit) for size, unit in UNITS if abs(ns) >= size), UNITS[-1])
    whole, rest = divmod(abs(ns), size)
    sign = "-" if ns < 0 else ""
    digits = f"{rest:0{len(str(size)) - 1}d}" if size > 1 else ""
    parts = [digits[at : at + 3] for at in range(0, len(digits), 3)]
    while parts and parts[-1] == "000":
        parts.pop()
    return f"{sign}{whole:,}{'.' if parts else ''}{THIN.join(parts)} {unit}".replace(",", THIN)


def clock_text(ns: int, digits: int = 9) -> str:
    """Format a clock time in this machine's time zone, with `digits` decimals of the second."""
    whole, rest = divmod(ns, SECOND)
    try:
        clock = datetime.fromtimestamp(whole, timezone.utc).astimezone().strftime("%H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return exact_text(ns)
    return f"{clock}.{rest:09d}"[: 9 + digits] if digits else clock


def date_text(ns: int) -> str:
    try:
        return datetime.fromtimestamp(ns // SECOND, timezone.utc).astimezone().strftime("%Y-%m-%d")
    except (OverflowError, OSError, ValueError):
        return ""


@dataclass(frozen=True, kw_only=True)
class Ticks:
    """`base`: shown once at the left, empty where the labels need none. `times`: ns since the origin. `minor`: lines
    without a label between them."""

    base: str
    times: tuple[int, ...]
    labels: tuple[str, ...]
    minor: tuple[float, ...]


def tick_step(span: float, width: float, min_px: float) -> int:
    """Return a step of 1, 2 or 5 times a power of ten ns that is at least `min_px` wide."""
    min_step = max(1.0, span * min_px / max(1.0, width))
    power = 10 ** max(0, math.floor(math.log10(min_step)))
    return next(int(power * times) for times in (1, 2, 5, 10) if power * times >= min_step)


def ticks_of(trace: Trace | None, mode: str, begin: float, end: float, width: float, min_px: float = 96) -> Ticks:
    step = tick_step(end - begin, width, min_px)
    if mode == "absolute" and trace is not None and trace.meta.is_epoch:
        return _absolute(trace.meta.origin_ns, begin, end, step)
    zero = zero_of(trace, (begin + end) / 2) if mode == "step" else 0
    return _relative(begin, end, step, zero)


def zero_of(trace: Trace | None, time: float) -> int:
    """Return where the step begins that contains a time; 0, the first event, where there is none."""
    steps = () if trace is None else trace.meta.steps
    return next((step.start for step in steps if step.start <= time < step.end), 0)


def _relative(begin: float, end: float, step: int, zero: int) -> Ticks:
    first = math.ceil((begin - zero) / step)
    numbers = range(first, math.floor((end - zero) / step) + 1)
    base = 0
    if numbers and max(abs(numbers[0]), abs(numbers[-1])) > PLAIN:
        base = numbers[0] * step // (step * 1000) * (step * 1000)
    size, unit = _unit_of(step, max((abs(number * step - base) for number in numbers), default=0))
    labels = tuple(_count(number * step - base, size, unit, step, base != 0) for number in numbers)
    return Ticks(
        base=exact_text(base) if base else "",
        times=tuple(zero + number * step for number in numbers),
        labels=labels,
        minor=_minor(begin, end, step, zero),
    )


def _unit_of(step: int, highest: int) -> tuple[int, str]:
    """Return the largest unit in which the steps need at most one decimal, and the highest label is not below 2."""
    fitting = ((size, unit) for size, unit in UNITS if step * 10 % size == 0 and (step >= size or highest >= 2 * size))
    return next(fitting, UNITS[-1])


def _count(ns: int, size: int, unit: str, step: int, is_added: bool) -> str:
    places = 0 if step % size == 0 else 1
    sign = "+" if is_added else ""
    return f"{sign}{ns / size:,.{places}f} {unit}".replace(",", THIN)


def _absolute(origin: int, begin: float, end: float, step: int) -> Ticks:
    first = -(-(origin + math.ceil(begin)) // step)
    last = (origin + math.floor(end)) // step
    clocks = [number * step for number in range(first, last + 1)]
    times = tuple(clock - origin for clock in clocks)
    minor = _minor(begin, end, step, -(origin % step))
    if step >= MILLI or not clocks:
        digits = 0 if step >= SECOND else 3
        labels = tuple(clock_text(clock, digits) for clock in clocks)
        return Ticks(base=date_text(origin + int(begin)), times=times, labels=labels, minor=minor)
    grain = MILLI if step >= 100 else MICRO
    base = clocks[0] // grain * grain
    size, unit = _unit_of(step, clocks[-1] - base)
    labels = tuple(_count(clock - base, size, unit, step, True) for clock in clocks)
    base_clock = f"{date_text(base)} {clock_text(base, 3 if grain == MILLI else 6)}"
    return Ticks(base=base_clock, times=times, labels=labels, minor=minor)


def _minor(begin: float, end: float, step: int, zero: int) -> tuple[float, ...]:
    part = step / 5
    first = math.ceil((begin - zero) / part)
    return tuple(zero + number * part for number in range(first, math.floor((end - zero) / part) + 1) if number % 5)
