"""Numbers as a person reads them."""

from __future__ import annotations

import math

from studio.texts import t


def duration(seconds: float) -> str:
    """Return seconds as '148.8 ms', '12.3 s', '1 min 50 s' or '3 h 05 min', in the current language."""
    if not math.isfinite(seconds):
        return "–"
    if seconds < 0.9995:
        return f"{seconds * 1e3:.1f} ms" if seconds < 0.09995 else f"{seconds * 1e3:.0f} ms"
    if seconds < 59.95:
        return t("unit.duration_s", s=f"{seconds:.1f}")
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return t("unit.duration_min", m=minutes, s=f"{rest:02d}")
    hours, minutes = divmod(minutes, 60)
    return t("unit.duration_h", h=hours, m=f"{minutes:02d}")


def number(value: float, digits: int = 4) -> str:
    """Return at most `digits` significant digits, without an exponent where none is needed."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    if 1e-4 <= abs(value) < 1e6:
        places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        return f"{value:.{places}f}"
    return f"{value:.{max(0, digits - 2)}e}"


def count(value: float) -> str:
    """Return a rate or an amount as '1 240' or '12.5 k', with a thin space between the thousands."""
    if not math.isfinite(value):
        return "–"
    if abs(value) >= 1e6:
        return f"{value / 1e6:.1f} M"
    if abs(value) >= 100:
        return f"{value:,.0f}".replace(",", "\u2009")
    return f"{value:.1f}"


def binary_size(byte_count: float) -> str:
    """Return a size as memory is counted and sold: 14.3 GiB."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(byte_count) < 1024 or unit == "GiB":
            return f"{byte_count:.0f} {unit}" if unit == "B" else f"{byte_count:.1f} {unit}"
        byte_count /= 1024
    raise AssertionError


def size(byte_count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if abs(byte_count) < 1000 or unit == "GB":
            return f"{byte_count:.0f} {unit}" if unit == "B" else f"{byte_count:.1f} {unit}"
        byte_count /= 1000
    raise AssertionError
