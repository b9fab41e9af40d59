"""The digests of weights that each of the runs left, see ascend_studio/weight_digests.py of the guest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from backends.precision.determinism.result import Difference
from studio import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.precision.determinism.result import ValuePlace

_FILE = re.compile(r"weights\.r(\d{1,6})\.jsonl")


class Digest(msgspec.Struct, frozen=True):
    """A line of the file: `weights` by name, `state` of all that optimizers keep besides, `buffers` of
    modules, by name."""

    step: int
    final: bool
    weights: dict[str, str]
    state: str = ""
    buffers: dict[str, str] = {}


Key = tuple[int, int, bool]
Digests = dict[Key, Digest]
"""By step, rank, and whether the training had ended."""


@dataclass(frozen=True, kw_only=True)
class WeightComparison:
    """`steps`: after whose updates all ranks of both were compared; `has_final`: at the end of both trainings too;
    `lacks_final`: a rank of only one of them wrote its weights at the end, or after another step."""

    first: Difference | None = None
    steps: tuple[int, ...] = ()
    has_final: bool = False
    lacks_final: bool = False


def read_digests(run: Path) -> Digests:
    """Return those of all ranks; a line that cannot be read is left out."""
    digests: Digests = {}
    for path in sorted((run / "artifacts").glob("weights.r*.jsonl")):
        if match := _FILE.fullmatch(path.name):
            for digest in _lines(path):
                digests[digest.step, int(match[1]), digest.final] = digest
    return digests


def _lines(path: Path) -> Iterator[Digest]:
    try:
        lines = files.read_bytes(path).splitlines()
    except OSError:
        return
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=Digest)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue


def compare_weight_digests(
    first_run: Path, second_run: Path, steps: int, *, are_over: bool = False
) -> WeightComparison:
    """Compare the weights after the first so many steps, and at the end. `are_over`: both ended by themselves, so that
    they should have ended alike."""
    first, second = read_digests(first_run), read_digests(second_run)
    keys = [key for key in sorted(first.keys() & second.keys()) if key[0] <= steps or key[2]]
    ranks = {rank for _, rank, _ in first.keys() | second.keys()}
    ends = [{key[1]: key for key in digests if key[2]} for digests in (first, second)]
    both = sorted(ends[0].keys() & ends[1].keys())
    if are_over:
        keys = [*(key for key in keys if not key[2]), *(ends[0][rank] for rank in both)]
        second |= {ends[0][rank]: second[ends[1][rank]] for rank in both}
    difference = next(filter(None, (_difference(key, first[key], second[key]) for key in keys)), None)
    after = {step for step, _, is_final in keys if not is_final}
    whole = tuple(step for step in sorted(after) if all((step, rank, False) in keys for rank in ranks))
    return WeightComparison(
        first=difference, steps=whole, has_final=any(is_final for _, _, is_final in keys),
        lacks_final=are_over and set(ends[0].values()) != set(ends[1].values()),
    )  # fmt: skip


def _difference(key: tuple[int, int, bool], first: Digest, second: Digest) -> Difference | None:
    step, rank, is_final = key
    if name := _first_name(first.weights, second.weights):
        place: ValuePlace = "final" if is_final else "weights"
        return Difference(step=step, rank=rank, name=name, place=place, reason="final" if is_final else "update")
    if first.state != second.state:
        return Difference(step=step, rank=rank, name="", place="state", reason="update")
    if name := _first_name(first.buffers, second.buffers):
        return Difference(step=step, rank=rank, name=name, place="buffer", reason="buffer")
    return None


def _first_name(first: dict[str, str], second: dict[str, str]) -> str:
    """Return the first name of which two runs have other digests, or only one has a digest; "" without."""
    names = [name for name in first if first[name] != second.get(name)]
    return next(iter([*names, *(name for name in second if name not in first)]), "")
