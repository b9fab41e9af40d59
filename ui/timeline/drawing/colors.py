"""Colours of slices: a few shades of the family's colour; the text of the name picks one, always the same.

Families differ in lightness as well as in hue, so that they stay apart for colour-blind people: computed with the
matrices of Machado, Oliveira and Fernandes (2009), and checked by a test.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QColor

from backends.timeline.kinds import FAMILIES, Family
from ui.timeline.drawing.frame import LEVELS
from ui.widgets import theme

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

SHADES = 6
TURNS = (0, -7, 6, 3, -4, 9)  # degrees of hue
LIFTS = (0.0, 0.025, -0.025, 0.045, -0.04, 0.012)  # of lightness
DIMMED = 0.24  # what is left of the colour of a slice that was not searched for
DARK_TEXT, LIGHT_TEXT = "#14171c", "#ffffff"
AT_ONCE = 1 << 20

BASE: dict[str, dict[Family, str]] = {
    "light": {
        "compute": "#1f5fae", "communication": "#ef8a1d", "free": "#ccd1da", "memory": "#52b795",
        "host": "#b3a2ee", "api": "#8a356b", "other": "#6b6128",
    },
    "dark": {
        "compute": "#5896ea", "communication": "#f59c36", "free": "#525b6a", "memory": "#6fd6ae",
        "host": "#cbbdfd", "api": "#cc6fa9", "other": "#99905c",
    },
}  # fmt: skip


def shade(family: Family, number: int, name: str) -> QColor:
    """Return one of the shades of a family, in the theme `name`."""
    base = QColor(BASE[name][family])
    turn = 0.0 if family == "free" else TURNS[number] / 360
    lightness = min(max(base.lightnessF() + LIFTS[number], 0.0), 1.0)
    return QColor.fromHslF((base.hslHueF() + turn) % 1.0, base.hslSaturationF(), lightness)


def luminance(color: QColor) -> float:
    """Return the relative luminance as WCAG defines it."""
    red, green, blue = (_linear(part) for part in (color.redF(), color.greenF(), color.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def contrast(first: QColor, second: QColor) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def text_on(fill: QColor) -> QColor:
    """Return dark or light text, whichever is easier to read on the fill."""
    dark, light = QColor(DARK_TEXT), QColor(LIGHT_TEXT)
    return dark if contrast(fill, dark) >= contrast(fill, light) else light


def fills(name: str) -> list[QColor]:
    """Return the fills of all shades, then the same dimmed."""
    full = [shade(family, number, name) for family in FAMILIES for number in range(SHADES)]
    surface = QColor(theme.TOKENS[name]["surface"])
    return full + [mixed(fill, surface, DIMMED) for fill in full]


def mixed(first: QColor, second: QColor, share: float) -> QColor:
    parts = zip((first.red(), first.green(), first.blue()), (second.red(), second.green(), second.blue()), strict=True)
    return QColor(*(round(a * share + b * (1 - share)) for a, b in parts))


@lru_cache(maxsize=2)
def table(name: str) -> NDArray[np.uint32]:
    """uint32 [shades, LEVELS + 1]: from the background to the full colour, for `draw_pixel_rows`; 0 stands for no
    slice."""
    parts = [
        (color.red(), color.green(), color.blue()) for color in (QColor(theme.TOKENS[name]["surface"]), *fills(name))
    ]
    surface, full = np.array(parts[0]), np.array(parts[1:])[:, None]
    share = np.arange(LEVELS + 1)[:, None] / LEVELS
    red, green, blue = np.moveaxis(np.rint(full * share + surface * (1 - share)).astype(np.uint32), -1, 0)
    table_of_pixels: NDArray[np.uint32] = np.uint32(0xFF000000) | red << 16 | green << 8 | blue
    table_of_pixels[:, 0] = 0
    return table_of_pixels


@lru_cache(maxsize=2)
def texts(name: str) -> tuple[QColor, ...]:
    """Return the colour of a label on each of the fills."""
    all_fills = fills(name)
    half = len(all_fills) // 2
    return tuple([text_on(fill) for fill in all_fills[:half]] + [_dim_text(name)] * half)


def _dim_text(name: str) -> QColor:
    return mixed(QColor(theme.TOKENS[name]["text"]), QColor(theme.TOKENS[name]["dim"]), 0.5)


def shades_of(trace: Trace) -> NDArray[np.uint8]:
    """uint8 [names]: the shade of each name. Takes 0.1 s for 10 MB of names."""
    return family_shades(trace) + _hash(trace)


def family_shades(trace: Trace) -> NDArray[np.uint8]:
    """Return the first shade of each name's family."""
    return np.asarray(trace.name_family) * np.uint8(SHADES)


def dimmed(shades: NDArray[np.uint8], is_bright: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Dim all shades but those of the bright names."""
    return np.where(is_bright, shades, shades + np.uint8(len(FAMILIES) * SHADES)).astype(np.uint8)


def _hash(trace: Trace) -> NDArray[np.uint8]:
    """Hash the bytes of each name: the same name has the same colour in every trace."""
    begins = np.asarray(trace.name_begin)
    hashes = np.zeros(len(begins) - 1, np.uint8)
    path = trace.folder / "names.bin"
    if not len(hashes) or not path.is_file():
        return hashes
    data = np.fromfile(path, np.uint8)
    first = 0
    while first < len(hashes):
        last = max(first + 1, int(np.searchsorted(begins, begins[first] + AT_ONCE, "right")) - 1)
        hashes[first:last] = _hash_some(data, begins[first : last + 1])
        first = last
    return hashes


def _hash_some(data: NDArray[np.uint8], begins: NDArray[np.int64]) -> NDArray[np.uint8]:
    lengths = np.diff(begins)
    position = np.arange(begins[0], begins[-1]) - np.repeat(begins[:-1], lengths)
    part = (data[begins[0] : begins[-1]].astype(np.uint64) + np.uint64(1)) * _weights(position)
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(part, dtype=np.uint64)))
    whole = sums[begins[1:] - begins[0]] - sums[begins[:-1] - begins[0]]  # wraps, on purpose
    whole ^= whole >> np.uint64(29)
    shades: NDArray[np.uint8] = ((whole * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)) % np.uint64(SHADES)).astype(
        np.uint8
    )
    return shades


def _weights(position: NDArray[np.int64]) -> NDArray[np.uint64]:
    return (position.astype(np.uint64) * np.uint64(2) + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F)
