"""Times and lengths as text, down to the nanosecond, and where the ticks of a ruler stand."""

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
    """'148.800 ms', '312 ns': three places behind the point, so exact below a second."""
    size, unit = next(((size, unit) for size, unit in UNITS if abs(ns) >= size), UNITS[-1])
    if size == 1:
        return f"{ns:.0f} ns"
    return f"{ns / size:,.3f} {unit}".replace(",", THIN)


def exact_text(ns: int) -> str:
    """'148.800 123 ms': all digits there are."""
    size, unit = next(((size, unit) for size, unit in UNITS if abs(ns) >= size), UNITS[-1])
    whole, rest = divmod(abs(ns), size)
    sign = "-" if ns < 0 else ""
    digits = f"{rest:0{len(str(size)) - 1}d}" if size > 1 else ""
    parts = [digits[at : at + 3] for at in range(0, len(digits), 3)]
    while parts and parts[-1] == "000":
        parts.pop()
    return f"{sign}{whole:,}{'.' if parts else ''}{THIN.join(parts)} {unit}".replace(",", THIN)


def clock_text(ns: int, digits: int = 9) -> str:
    """Clock of this machine's time zone, with so many digits behind the second."""
    whole, rest = divmod(ns, SECOND)
    try:
        shown = datetime.fromtimestamp(whole, timezone.utc).astimezone().strftime("%H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return exact_text(ns)
    return f"{shown}.{rest:09d}"[: 9 + digits] if digits else shown


def date_text(ns: int) -> str:
    try:
        return datetime.fromtimestamp(ns // SECOND, timezone.utc).astimezone().strftime("%Y-%m-%d")
    except (OverflowError, OSError, ValueError):
        return ""


@dataclass(frozen=True, kw_only=True)
class Ticks:
    """`base`: said once at the left, empty where the labels need none. `times`: ns since the origin. `minor`: lines
    without a label between them."""

    base: str
    times: tuple[int, ...]
    labels: tuple[str, ...]
    minor: tuple[float, ...]


def tick_step(span: float, width: float, least: float) -> int:
    """1, 2 or 5 times a power of ten ns, at least `least` px apart."""
    wanted = max(1.0, span * least / max(1.0, width))
    power = 10 ** max(0, math.floor(math.log10(wanted)))
    return next(int(power * times) for times in (1, 2, 5, 10) if power * times >= wanted)


def ticks_of(trace: Trace | None, mode: str, begin: float, end: float, width: float, least: float = 96) -> Ticks:
    step = tick_step(end - begin, width, least)
    if mode == "absolute" and trace is not None and trace.meta.is_epoch:
        return _absolute(trace.meta.origin_ns, begin, end, step)
    zero = zero_of(trace, (begin + end) / 2) if mode == "step" else 0
    return _relative(begin, end, step, zero)


def zero_of(trace: Trace | None, time: float) -> int:
    """Where the step begins that a time lies in; 0, the first event, where it lies in none."""
    steps = () if trace is None else trace.meta.steps
    return next((one.start for one in steps if one.start <= time < one.end), 0)


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
    """The largest in which the steps need one place behind the point at most, and the highest is not below 2."""
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
    shown = f"{date_text(base)} {clock_text(base, 3 if grain == MILLI else 6)}"
    return Ticks(base=shown, times=times, labels=labels, minor=minor)


def _minor(begin: float, end: float, step: int, zero: int) -> tuple[float, ...]:
    part = step / 5
    first = math.ceil((begin - zero) / part)
    return tuple(zero + number * part for number in range(first, math.floor((end - zero) / part) + 1) if number % 5)
