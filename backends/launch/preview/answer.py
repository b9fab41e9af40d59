"""The answer of a preview as a value: artifacts/preview.json, the lines of a terminal and the card of the page."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - msgspec reads the fields when a page decodes the file
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from backends.launch.preview.parts import GIB, Part, read_parts
from backends.launch.preview.search import Estimate, search
from backends.launch.preview.spec import PreviewSpec, efficiency_of, network_of, setting_of
from backends.launch.preview.times import Times, flops_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.launch.preview.split import Split

FILE = "artifacts/preview.json"
GB = 10**9


@dataclass(frozen=True, kw_only=True)
class Said:
    """A sentence, by its key in the catalogue. `is_warning`: it is the reason why the answer is no."""

    key: str
    args: Mapping[str, str | int]
    is_warning: bool = False


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Bytes, seconds and operations of one update. `splits`: those that fit, best first, at most as many as were
    asked for; `limit`: bytes that a card may hold, None where its memory is unknown."""

    is_estimate: bool = True
    parameters: int
    flops: float
    cards: int
    part: str
    source: str
    limit: float | None
    tried: int
    fitting: int
    splits: tuple[Estimate, ...]
    before: tuple[Said, ...]
    after: tuple[Said, ...]


def answer(spec: PreviewSpec) -> Answer:
    """Raises StudioError where the table of parts cannot be read."""
    network, setting = network_of(spec), setting_of(spec)
    part = read_parts(spec.cluster.parts)[spec.cluster.part]
    limit = None if part.hbm is None else part.hbm * spec.assumed.usable
    found = search(network, setting, spec.cluster.cards, part, efficiency_of(spec))
    fitting = [one for one in found if limit is None or one.octets <= limit]
    return Answer(
        parameters=network.parameters,
        flops=float(flops_of(network, setting)),
        cards=spec.cluster.cards,
        part=spec.cluster.part,
        source=part.source,
        limit=limit,
        tried=len(found),
        fitting=len(fitting),
        splits=tuple(fitting[: spec.shown.show]),
        before=tuple(_before(spec, network.parameters, part, len(found), len(fitting))),
        after=(*_verdict(found, fitting, limit, spec), *_unknown(part, fitting), *_assumptions(spec)),
    )


def name_of(split: Split) -> str:
    return f"{split.data} x {split.tensor} x {split.pipeline}"


def size(octets: float) -> str:
    """'53.82 GiB': binary units, as memory is sold in."""
    for unit, bytes_of_one in (("GiB", GIB), ("MiB", 2**20)):
        if octets >= bytes_of_one / 10:
            return f"{octets / bytes_of_one:.2f} {unit}"
    return f"{octets / 2**10:.1f} KiB"


def sent(octets: float) -> str:
    """'23.58 GB': decimal units, as links are sold in."""
    if not octets:
        return "0"
    for unit, bytes_of_one in (("GB", GB), ("MB", 10**6)):
        if octets >= bytes_of_one / 10:
            return f"{octets / bytes_of_one:.2f} {unit}"
    return f"{octets / 10**3:.1f} kB"


def seconds(value: float | None) -> str:
    """'16.3 s', '35.1 µs'."""
    if value is None:
        return "–"
    for unit, seconds_of_one in (("s", 1.0), ("ms", 1e-3)):
        if value >= seconds_of_one:
            return f"{value / seconds_of_one:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


def _before(spec: PreviewSpec, parameters: int, part: Part, tried: int, fitting: int) -> Iterator[Said]:
    cards: dict[str, str | int] = {"cards": spec.cluster.cards, "part": part.label}
    samples = spec.training.batch * spec.training.micro_batches
    yield Said(key="preview.network", args={"parameters": f"{parameters:,}", "samples": samples, **cards})
    yield Said(key="preview.counted", args={"tried": tried, "fitting": fitting})
    for shapes, strategy in spec.shown.shard:
        yield Said(key="preview.shard_fits", args={"shapes": shapes, "strategy": strategy})


def row(place: int, one: Estimate) -> Said:
    split, memory = one.split, one.memory
    return Said(
        key="preview.split_sharded" if split.sharded else "preview.split",
        args={
            "place": place, "data": split.data, "tensor": split.tensor, "pipeline": split.pipeline,
            "seconds": seconds(one.seconds), "total": size(one.octets), "weights": size(memory.parameters),
            "gradients": size(memory.gradients), "optimizer": size(memory.optimizer),
            "activations": size(memory.activations), "sent": sent(one.traffic.total),
            "bubble": f"{100 * one.bubble:.1f}",
        },
    )  # fmt: skip


def rows(given: Answer) -> tuple[Said, ...]:
    return tuple(row(place, one) for place, one in enumerate(given.splits, 1))


def _verdict(found: list[Estimate], fitting: list[Estimate], limit: float | None, spec: PreviewSpec) -> Iterator[Said]:
    if not found:
        counts = {"cards": spec.cluster.cards, "micro_batches": spec.training.micro_batches}
        yield Said(key="preview.no_split", args=counts, is_warning=True)
    elif not fitting and limit is not None:
        least = min(found, key=lambda one: one.octets)
        args = {"limit": size(limit), "need": size(least.octets), "split": name_of(least.split)}
        yield Said(key="preview.nothing_fits", args=args, is_warning=True)
    else:
        yield from _why(found, fitting, limit)


WHY = {
    "compute": "preview.why_compute", "tensor": "preview.why_tensor", "pipeline": "preview.why_pipeline",
    "bubble": "preview.why_bubble", "data": "preview.why_data", "update": "preview.why_update",
}  # fmt: skip


def _why(found: list[Estimate], fitting: list[Estimate], limit: float | None) -> Iterator[Said]:
    best = fitting[0]
    other = next((one for one in fitting if name_of(one.split) != name_of(best.split)), None)
    if best.seconds is not None and other is not None and other.seconds is not None:
        term, more = dearest(best.times, other.times)
        args = {"split": name_of(other.split), "more": seconds(more), "total": seconds(other.seconds - best.seconds)}
        yield Said(key=WHY[term], args=args)
    faster = next((one for one in found if one not in fitting), None)
    if faster and limit is not None and _is_faster(faster, best):
        args = {"split": name_of(faster.split), "seconds": seconds(faster.seconds), "need": size(faster.octets)}
        yield Said(key="preview.faster_but_too_large", args={**args, "limit": size(limit)})


def _is_faster(one: Estimate, than: Estimate) -> bool:
    return one.seconds is not None and than.seconds is not None and one.seconds < than.seconds


def dearest(best: Times, other: Times) -> tuple[str, float]:
    """The term in which another split loses most, and by how many seconds. Both times are known."""
    differences = {
        field.name: (getattr(other, field.name) or 0.0) - (getattr(best, field.name) or 0.0) for field in fields(Times)
    }
    term = max(differences, key=lambda name: differences[name])
    return term, differences[term]


def _unknown(part: Part, fitting: list[Estimate]) -> Iterator[Said]:
    if part.hbm is None:
        yield Said(key="preview.unknown_memory", args={"part": part.label})
    if any(one.seconds is None for one in fitting):
        yield Said(key="preview.unknown_time", args={"part": part.label})


def _assumptions(spec: PreviewSpec) -> Iterator[Said]:
    assumed = spec.assumed
    percent = {name: f"{100 * value:g}" for name, value in vars(assumed).items()}
    yield Said(
        key="preview.assumed_time", args={"efficiency": percent["efficiency"], "link": percent["link_efficiency"]}
    )
    yield Said(key="preview.assumed_memory", args={"usable": percent["usable"]})
    yield Said(key="preview.assumed_missing", args={})
