"""Where packs lie: a zip, a run's folder, or any folder that holds them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.precision.config.members import BUFFERS, MAX_NESTING, OF_TENSORS
from backends.precision.config.pack import read_pack
from backends.precision.config.result import Sentence
from backends.precision.config.statistics import FIGURES
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.precision.config.pack import Pack

PACK_FOLDER = Path("artifacts") / "config"
FURTHER_STEP = re.compile(r"(weights|dataset)/(step0*[1-9]\d*)/")
"""Members of another step than the first."""
MAIN_PARTS = frozenset(("weights", "dataset", "seeds", "random", "pip"))
"""What a check is for: where neither side recorded it, two trainings that begin with other weights look the same."""
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


def one_sided(
    golden: Sequence[Pack], target: Sequence[Pack], pairs: Sequence[tuple[Pack, Pack]]
) -> tuple[Sentence, ...]:
    """Return what one side has and the other lacks: ranks, and in the packs of a pair whole kinds of facts."""
    sentences = []
    for side, packs, paired in (("A", golden, [a for a, _ in pairs]), ("B", target, [b for _, b in pairs])):
        ranks = sorted({pack.rank for pack in packs} - {pack.rank for pack in paired})
        world = max((pack.own.world for pack in packs if pack.own is not None), default=0)
        if world > len(packs):
            args = {"side": side, "world": world, "count": len(packs)}
            sentences.append(Sentence(key="precision.config.ranks_absent", args=args))
        if ranks:
            args = {"side": side, "ranks": ", ".join(map(str, ranks[:20]))}
            sentences.append(Sentence(key="precision.config.rank_alone", args=args))
    kinds = {"A": set[str](), "B": set[str]()}
    for a, b in pairs:
        kinds["A"] |= _kinds(a) - _kinds(b)
        kinds["B"] |= _kinds(b) - _kinds(a)
    if absent := sorted(_main_parts(pairs) - {kind for pair in pairs for pack in pair for kind in _kinds(pack)}):
        sentences.append(Sentence(key="precision.config.part_nowhere", args={"names": ", ".join(absent)}))
    for side, packs in (("A", golden), ("B", target)):
        if reasons := [pack.own.reason for pack in packs if pack.own is not None and pack.own.reason]:
            args = {"side": side, "reason": reasons[0][:200]}
            sentences.append(Sentence(key="precision.config.pack_failed", args=args))
    for side, names in kinds.items():
        if names:
            args = {"side": side, "names": ", ".join(sorted(names))}
            sentences.append(Sentence(key="precision.config.part_alone", args=args))
    return tuple(sentences)


def _main_parts(pairs: Sequence[tuple[Pack, Pack]]) -> frozenset[str]:
    """Return the parts that a check is for: MindSpore has no buffers, its moving means are parameters."""
    frameworks = {pack.own.framework if pack.own is not None else "" for pair in pairs for pack in pair}
    return MAIN_PARTS if frameworks == {"mindspore"} else MAIN_PARTS | {BUFFERS}


def _kinds(pack: Pack) -> set[str]:
    """Return the parts that a pack has something for."""
    kinds = {member.partition("/")[0] for member, data in pack.members.items() if _holds_figures(member, data)}
    kinds |= {f"{match[1]} {match[2]}" for member in pack.members if (match := FURTHER_STEP.match(member))}
    has_seeds = pack.own is not None and any(value is not None for value in pack.own.seeds.values())
    kinds |= {"seeds"} if has_seeds else set()
    kinds |= {"env"} if pack.env is not None else set()
    return kinds | ({"pip"} if pack.packages else set())


def _holds_figures(member: str, data: bytes) -> bool:
    """Return whether a member is whole; of weights and data, whether it has the statistics of a tensor."""
    try:
        content = json.loads(data)  # with NaN, as msprobe writes it
    except (ValueError, RecursionError):
        return False
    return member.partition("/")[0] not in OF_TENSORS or (isinstance(content, dict) and _has_number(content))


def _has_number(content: Any, depth: int = MAX_NESTING) -> bool:
    """Return whether any statistic of any tensor is more than null."""
    if isinstance(content, dict) and content.keys() >= FIGURES:
        return any(content[name] is not None for name in FIGURES)
    inner = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    return depth > 0 and any(_has_number(value, depth - 1) for value in inner)


def _ranks(packs: Sequence[Pack]) -> str:
    return ", ".join(str(pack.rank) for pack in packs[:20])
