"""The answer of a preview as a value: artifacts/preview.json, the lines of a terminal and the card of the page."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - msgspec reads the fields when a page decodes the file
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from backends.launch.preview.ascend_parts import GIB, Part, read_parts
from backends.launch.preview.search import LEAST_SECONDS, Estimate, search_splits
from backends.launch.preview.shard import devices_of, is_product, read_shapes
from backends.launch.preview.spec import FORMS, PreviewSpec, efficiency_of, network_of, setting_of
from backends.launch.preview.times import Times, flops_of
from backends.launch.preview.ways_out import ways_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.launch.preview.split import Split

FILE = "artifacts/preview.json"
GB = 10**9


@dataclass(frozen=True, kw_only=True)
class Message:
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
    before: tuple[Message, ...]
    after: tuple[Message, ...]


def preview_answer(spec: PreviewSpec) -> Answer:
    """Raises StudioError where the table of parts cannot be read."""
    network, setting = network_of(spec), setting_of(spec)
    part = read_parts(spec.cluster.parts)[spec.cluster.part]
    limit = None if part.hbm is None else part.hbm * spec.assumed.usable
    estimates = search_splits(network, setting, spec.cluster.cards, part, efficiency_of(spec))
    fitting = [estimate for estimate in estimates if limit is None or estimate.memory.total <= limit]
    return Answer(
        parameters=network.parameters,
        flops=float(flops_of(network, setting)),
        cards=spec.cluster.cards,
        part=spec.cluster.part,
        source=part.source,
        limit=limit,
        tried=len(estimates),
        fitting=len(fitting),
        splits=tuple(fitting[: spec.shown.show]),
        before=tuple(_before(spec, network.parameters, part, len(estimates), len(fitting))),
        after=(
            *_verdict(estimates, fitting, limit, spec),
            *_ways_out(estimates, fitting, limit, part, spec),
            *_unknown(part, estimates),
            *_assumptions(spec),
        ),
    )


def name_of(split: Split) -> str:
    return f"{split.data} x {split.tensor} x {split.pipeline}"


def size_text(size_bytes: float) -> str:
    """'53.82 GiB': binary units, as memory is sold in."""
    for unit, unit_bytes in (("GiB", GIB), ("MiB", 2**20)):
        if size_bytes >= unit_bytes / 10:
            return f"{size_bytes / unit_bytes:.2f} {unit}"
    return f"{size_bytes / 2**10:.1f} KiB"


def sent_text(sent_bytes: float) -> str:
    """'23.58 GB': decimal units, as links are sold in."""
    if not sent_bytes:
        return "0"
    for unit, unit_bytes in (("GB", GB), ("MB", 10**6)):
        if sent_bytes >= unit_bytes / 10:
            return f"{sent_bytes / unit_bytes:.2f} {unit}"
    return f"{sent_bytes / 10**3:.1f} kB"


def seconds_text(value: float | None) -> str:
    """'16.3 s', '35.1 µs'."""
    if value is None:
        return "–"
    if value >= 1000:
        return f"{value:,.0f} s"
    for unit, unit_seconds in (("s", 1.0), ("ms", 1e-3)):
        if value >= unit_seconds:
            return f"{value / unit_seconds:.3g} {unit}"
    return f"{value * 1e6:.3g} µs"


def _before(spec: PreviewSpec, parameters: int, part: Part, tried: int, fitting: int) -> Iterator[Message]:
    cards: dict[str, str | int] = {"cards": spec.cluster.cards, "part": part.label}
    samples = spec.training.batch * spec.training.micro_batches
    yield Message(key="preview.network", args={"parameters": f"{parameters:,}", "samples": samples, **cards})
    yield Message(key="preview.counted", args={"tried": tried, "fitting": fitting})
    for shapes, strategy in spec.shown.shard:
        yield _shard_fits(shapes, strategy, spec.cluster.cards)


def _shard_fits(shapes: str, strategy: str, devices: int) -> Message:
    """Say what was looked at: of inputs that no matrix product has, the operator is not known."""
    read, parts = read_shapes(shapes), read_shapes(strategy)
    args: dict[str, str | int] = {"shapes": shapes, "strategy": strategy, "devices": devices}
    if read and parts and is_product(read):
        return Message(key="preview.shard_product", args={**args, "product": devices_of(parts)})
    return Message(key="preview.shard_fits", args=args)


def split_message(number: int, estimate: Estimate) -> Message:
    split, memory = estimate.split, estimate.memory
    return Message(
        key="preview.split_sharded" if split.sharded else "preview.split",
        args={
            "place": number, "data": split.data, "tensor": split.tensor, "pipeline": split.pipeline,
            "seconds": seconds_text(estimate.seconds), "total": size_text(estimate.memory.total),
            "weights": size_text(memory.parameters),
            "gradients": size_text(memory.gradients), "optimizer": size_text(memory.optimizer),
            "activations": size_text(memory.activations), "sent": sent_text(estimate.traffic.total),
            "bubble": f"{100 * estimate.bubble:.1f}",
        },
    )  # fmt: skip


def split_messages(answer: Answer) -> tuple[Message, ...]:
    return tuple(split_message(number, estimate) for number, estimate in enumerate(answer.splits, 1))


def _verdict(
    estimates: list[Estimate], fitting: list[Estimate], limit: float | None, spec: PreviewSpec
) -> Iterator[Message]:
    if not estimates:
        counts = {"cards": spec.cluster.cards, "micro_batches": spec.training.micro_batches}
        yield Message(key="preview.no_split", args=counts, is_warning=True)
    elif not fitting and limit is not None:
        smallest = min(estimates, key=lambda estimate: estimate.memory.total)
        args = {"limit": size_text(limit), "need": size_text(smallest.memory.total), "split": name_of(smallest.split)}
        yield Message(key="preview.nothing_fits", args=args, is_warning=True)
    else:
        yield from _why(estimates, fitting, limit)


def _ways_out(
    estimates: list[Estimate], fitting: list[Estimate], limit: float | None, part: Part, spec: PreviewSpec
) -> Iterator[Message]:
    if fitting or limit is None:
        return
    ways = ways_out(spec, part, limit)
    for way in ways:
        args = {
            "options": way.words, "split": name_of(way.estimate.split), "need": size_text(way.estimate.memory.total),
            "seconds": seconds_text(way.estimate.seconds),
        }  # fmt: skip
        yield Message(key="preview.way_out", args=args)
    if not ways and estimates:  # where no split divides the network, memory says nothing
        yield Message(key="preview.no_way_out", args={})


WHY = {
    "compute": "preview.why_compute", "tensor": "preview.why_tensor", "pipeline": "preview.why_pipeline",
    "bubble": "preview.why_bubble", "data": "preview.why_data", "update": "preview.why_update",
}  # fmt: skip


def _why(estimates: list[Estimate], fitting: list[Estimate], limit: float | None) -> Iterator[Message]:
    best = fitting[0]
    if any(estimate.seconds is None for estimate in estimates):
        return
    other = next((estimate for estimate in fitting if name_of(estimate.split) != name_of(best.split)), None)
    if best.seconds is not None and other is not None and other.seconds is not None:
        term, more = dearest(best.times, other.times)
        args = {
            "split": name_of(other.split),
            "more": seconds_text(more),
            "total": seconds_text(other.seconds - best.seconds),
        }
        yield Message(key=WHY[term], args=args)
    names = {name_of(estimate.split) for estimate in fitting}
    faster = next((estimate for estimate in estimates if name_of(estimate.split) not in names), None)
    if faster and limit is not None and _is_faster(faster, best):
        args = {
            "split": name_of(faster.split),
            "seconds": seconds_text(faster.seconds),
            "need": size_text(faster.memory.total),
        }
        yield Message(key="preview.faster_but_too_large", args={**args, "limit": size_text(limit)})


def _is_faster(estimate: Estimate, than: Estimate) -> bool:
    return estimate.seconds is not None and than.seconds is not None and estimate.seconds < than.seconds


def dearest(best: Times, other: Times) -> tuple[str, float]:
    """The term in which another split loses most, and by how many seconds. Both times are known."""
    differences = {
        field.name: (getattr(other, field.name) or 0.0) - (getattr(best, field.name) or 0.0) for field in fields(Times)
    }
    term = max(differences, key=lambda name: differences[name])
    return term, differences[term]


def _unknown(part: Part, estimates: list[Estimate]) -> Iterator[Message]:
    if part.hbm is None:
        yield Message(key="preview.unknown_memory", args={"part": part.label})
    if any(estimate.times.total is None for estimate in estimates):
        yield Message(key="preview.unknown_time", args={"part": part.label})
    elif any(estimate.seconds is None for estimate in estimates):
        yield Message(key="preview.too_short", args={"least": seconds_text(LEAST_SECONDS)})


def _assumptions(spec: PreviewSpec) -> Iterator[Message]:
    assumed = spec.assumed
    percent = {name: f"{100 * value:g}" for name, value in vars(assumed).items()}
    setting = setting_of(spec)
    shares = {"link": percent["link_efficiency"], "overlap": percent["overlap"]}
    yield Message(key="preview.assumed_time", args={"efficiency": percent["efficiency"], **shares})
    args: dict[str, str | int] = {"usable": percent["usable"], "bytes": setting.gradient_width, "zero": setting.zero}
    yield Message(key="preview.assumed_memory", args=args)
    if spec.net.network in FORMS[1]:
        heads = spec.net.kv_heads or spec.net.heads
        key = "preview.assumed_flash" if setting.flash else "preview.assumed_scores"
        yield Message(key=key, args={"heads": heads})
    yield Message(key="preview.assumed_missing", args={})
