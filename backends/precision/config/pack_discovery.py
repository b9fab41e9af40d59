"""Where packs lie: a zip, a run's folder, or any folder that holds them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.config.pack import read_pack
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.precision.config.pack import Pack

PACK_FOLDER = Path("artifacts") / "config"
MAX_PACKS = 4096
_NUMBERS = re.compile(r"(\d{1,9})")


def read_packs(path: Path) -> tuple[Pack, ...]:
    """Those of a run, of a folder, or the one that is a file, by rank. Raises StudioError where there is none."""
    path = path.absolute()
    if path.is_file():
        return (read_pack(path),)
    if not path.is_dir():
        raise StudioError("precision.config.no_such_place", path=str(path))
    packs = _zips(path / PACK_FOLDER) if (path / PACK_FOLDER).is_dir() else _zips(path)
    if not packs:
        key = "precision.config.run_without" if (path / "run.json").is_file() else "precision.config.none_here"
        raise StudioError(key, path=str(path))
    return tuple(sorted((read_pack(file) for file in packs), key=lambda pack: pack.rank))


def _zips(folder: Path) -> list[Path]:
    try:
        names = [name for name in os.listdir(folder) if name.lower().endswith(".zip")]
    except OSError as error:
        raise from_os(error, folder) from error
    return [folder / name for name in sorted(names, key=_by_number)[:MAX_PACKS]]


def _by_number(name: str) -> list[tuple[int, str]]:
    """rank10.zip after rank9.zip."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in _NUMBERS.split(name)]


def pair_packs(golden: Sequence[Pack], target: Sequence[Pack]) -> tuple[tuple[Pack, Pack], ...]:
    """Pair the packs of the same rank; one each are a pair whatever their ranks. Raises StudioError where no ranks
    match."""
    by_rank = {pack.rank: pack for pack in target}
    matched = tuple((golden_pack, by_rank[golden_pack.rank]) for golden_pack in golden if golden_pack.rank in by_rank)
    if not matched and len(golden) == len(target) == 1:
        return ((golden[0], target[0]),)
    if not matched:
        raise StudioError("precision.config.no_pairs", golden=_ranks(golden), target=_ranks(target))
    return matched


def _ranks(packs: Sequence[Pack]) -> str:
    return ", ".join(str(pack.rank) for pack in packs[:20])
