"""What would make a network fit where no split does: each way is previewed itself, and named only if it fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.launch.preview.search import divisors, search_splits
from backends.launch.preview.spec import FORMS, efficiency_of, network_of, setting_of
from studio import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.launch.preview.ascend_parts import Part
    from backends.launch.preview.search import Estimate
    from backends.launch.preview.spec import PreviewSpec

    Changes = dict[str, Any]

MOST_CARDS = 65536
DROPPED_FIRST = ("gradients", "recomputation", "batch", "zero", "sequence_parallel", "flash")
"""In which order a combination does without its parts: first what changes numbers or costs most time."""


@dataclass(frozen=True, kw_only=True)
class WayOut:
    """`words`: the options that differ, as on a command line; `estimate`: the best split that fits with them."""

    words: str
    estimate: Estimate


def ways_out(spec: PreviewSpec, part: Part, limit: float) -> tuple[WayOut, ...]:
    """Return the smallest change of each kind with which a split fits into `limit` bytes. Where none does on the same
    cards, a combination of them is tried, too."""
    local = [way for ladder in _local_ladders(spec) if (way := _first_that_fits(spec, ladder, part, limit))]
    if not local and (way := _combination(spec, part, limit)):
        local = [way]
    other = [way for ladder in _other_ladders(spec) if (way := _first_that_fits(spec, ladder, part, limit))]
    return (*local, *other)


def _local_ladders(spec: PreviewSpec) -> Iterator[list[Changes]]:
    """Yield what may change on the same cards, for the same network and samples; the mildest of a kind first."""
    training, is_transformer = spec.training, spec.net.network in FORMS[1]
    if is_transformer and not training.flash:
        yield [{"flash": True}]
    if training.recomputation != "full":
        milder = [{"recomputation": "selective"}] if training.recomputation == "none" else []
        yield [*milder, {"recomputation": "full"}]
    if spec.cluster.cards > 1:
        yield [{"zero": stage} for stage in ("2", "3") if stage > training.zero]
        if not training.sequence_parallel:
            yield [{"sequence_parallel": True}]
    batches = reversed(divisors(training.batch)[:-1])
    yield [{"batch": batch, "micro_batches": training.micro_batches * training.batch // batch} for batch in batches]
    if training.gradients == "fp32" and training.precision != "fp32":
        yield [{"gradients": "same"}]


def _other_ladders(spec: PreviewSpec) -> Iterator[list[Changes]]:
    """Yield what takes more cards, or trains on less."""
    cards, sequence = spec.cluster.cards, spec.net.sequence
    yield [{"cards": cards << shift} for shift in range(1, 17) if cards << shift <= MOST_CARDS]
    if spec.net.network in FORMS[1]:
        yield [{"sequence": sequence >> shift} for shift in range(1, sequence.bit_length())]


def _first_that_fits(spec: PreviewSpec, ladder: list[Changes], part: Part, limit: float) -> WayOut | None:
    for changes in ladder:
        if way := _way(spec, changes, part, limit):
            return way
    return None


def _way(spec: PreviewSpec, changes: Changes, part: Part, limit: float) -> WayOut | None:
    changed = with_changes(spec, changes)
    if schema.problems(changed):
        return None
    network, setting = network_of(changed), setting_of(changed)
    estimates = search_splits(network, setting, changed.cluster.cards, part, efficiency_of(changed))
    best = next((estimate for estimate in estimates if estimate.memory.total <= limit), None)
    return None if best is None else WayOut(words=" ".join(_words(changes)), estimate=best)


def _combination(spec: PreviewSpec, part: Part, limit: float) -> WayOut | None:
    """Everything at once, and then without each part that is not needed."""
    kinds = {name: ladder[-1] for ladder in _local_ladders(spec) if ladder for name in [next(iter(ladder[-1]))]}
    if _way(spec, _joined(kinds), part, limit) is None:
        return None
    for name in DROPPED_FIRST:
        fewer = {kind: changes for kind, changes in kinds.items() if kind != name}
        if _way(spec, _joined(fewer), part, limit):
            kinds = fewer
    return _way(spec, _joined(kinds), part, limit)


def _joined(kinds: dict[str, Changes]) -> Changes:
    return {name: value for changes in kinds.values() for name, value in changes.items()}


def with_changes(spec: PreviewSpec, changes: Changes) -> PreviewSpec:
    for name, value in changes.items():
        spec = schema.with_value(spec, name, value)
    return spec


def _words(changes: Changes) -> Iterator[str]:
    for name, value in changes.items():
        flag = "--" + name.replace("_", "-")
        yield flag if value is True else f"{flag} {value}"
