"""Ascend parts, from assets/ascend_parts.toml or a table of the user's own."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from studio.errors import StudioError, from_os
from studio.paths import ASSETS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

GB, GIB, TERA = 10**9, 2**30, 10**12


@dataclass(frozen=True, kw_only=True)
class Link:
    """`gbs`: one device, one direction, in 10^9 bytes a second, as far as `cards` devices reach."""

    cards: int
    gbs: float
    mesh: bool = False


@dataclass(frozen=True, kw_only=True)
class Part:
    """One device. None, or an absent key, is what no source was found for; see the table for units."""

    label: str
    source: str
    hbm_gib: float | None = None
    hbm_gbs: float | None = None
    tflops: dict[str, float] = field(default_factory=dict)
    links: tuple[Link, ...] = ()

    @property
    def hbm(self) -> float | None:
        """Bytes."""
        return None if self.hbm_gib is None else self.hbm_gib * GIB

    def peak(self, precision: str) -> float | None:
        """Operations a second."""
        tflops = self.tflops.get(precision)
        return None if tflops is None else tflops * TERA

    def bandwidth(self, members: int, stride: int) -> float | None:
        """Bytes a second that one device of a group sends: `members` devices, each `stride` after the one before.
        None where the group reaches further than the table."""
        link = next((link for link in self.links if link.cards >= members * stride), None)
        if link is None:
            return None
        return link.gbs * GB * ((members - 1) / (link.cards - 1) if link.mesh else 1)

    def hop(self, cards: int) -> float | None:
        """Bytes a second of one message between two of `cards` devices, the slowest there is: of a pipeline over
        several servers some stages are neighbours across their border. None where the table does not reach so far."""
        link = next((link for link in self.links if link.cards >= cards), None)
        if link is None:
            return None
        return link.gbs * GB / ((link.cards - 1) if link.mesh else 1)


def read_parts(path: Path = Path()) -> dict[str, Part]:
    """Return the parts by name; an empty path is our own table. Raises StudioError where the file is no table."""
    path = ASSETS / "ascend_parts.toml" if path == Path() else path
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        parts = msgspec.convert(table, dict[str, Part])
    except OSError as error:
        raise from_os(error, path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise StudioError("preview.bad_parts", file=str(path), reason=str(error)[:200]) from error
    for name, part in parts.items():
        _check(path, name, part)
    return parts


def _check(path: Path, name: str, part: Part) -> None:
    """A zero or a negative value would divide by zero, or make a split free."""
    values = [part.hbm_gib, part.hbm_gbs, *part.tflops.values(), *(link.gbs for link in part.links)]
    wrong = [value for value in values if value is not None and not 0 < value < float("inf")]
    if wrong or any(link.cards < 2 for link in part.links):
        raise StudioError("preview.bad_part", file=str(path), part=name)
