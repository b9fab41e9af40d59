"""What is to be previewed: a network, how it is trained, and on how many cards of which part."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backends.launch.preview.ascend_parts import read_parts
from backends.launch.preview.recipes import recipe
from backends.launch.preview.search import search_splits
from backends.launch.preview.shard import check_shard, read_shapes
from backends.launch.preview.split import Setting
from backends.launch.preview.times import Efficiency, Times
from backends.launch.preview.transformer import Sizes, transformer
from studio import schema
from studio.errors import StudioError
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.launch.preview.ascend_parts import Part
    from backends.launch.preview.network import Network
    from backends.launch.preview.search import Estimate

ZERO: dict[str, Literal[1, 2, 3]] = {"1": 1, "2": 2, "3": 3}
FORMS = ("network", ("llama", "gpt"))


@dataclass(frozen=True, kw_only=True)
class Net:
    """The defaults are Llama 7B's."""

    network: Literal["llama", "gpt", "linear", "digits", "text", "dense"] = option("llama")
    layers: int = option(32, low=1, high=10_000, visible_when=FORMS)
    hidden: int = option(4096, low=1, high=1_000_000, visible_when=FORMS)
    heads: int = option(32, low=1, high=10_000, visible_when=FORMS)
    kv_heads: int | None = option(None, low=1, high=10_000, visible_when=FORMS)
    ffn: int | None = option(None, low=1, high=10_000_000, visible_when=FORMS)
    vocab: int = option(32_000, low=1, high=10_000_000, visible_when=FORMS)
    sequence: int = option(4096, low=1, high=100_000_000, visible_when=FORMS)


@dataclass(frozen=True, kw_only=True)
class Training:
    batch: int = option(1, unit="samples", low=1, high=65536)
    micro_batches: int = option(64, low=1, high=1_000_000)
    precision: Literal["bf16", "fp16", "fp32"] = option("bf16")
    optimizer: Literal["sgd", "momentum", "adam", "adamw"] = option("adamw")
    recomputation: Literal["none", "selective", "full"] = option("selective")
    sequence_parallel: bool = option(False)
    flash: bool = option(False, visible_when=FORMS)
    gradients: Literal["fp32", "same"] = option("fp32")
    zero: Literal["1", "2", "3"] = option("1")


@dataclass(frozen=True, kw_only=True)
class Cluster:
    cards: int = option(8, low=1, high=65536)
    part: str = option("atlas-800t-a2")
    parts: Path = option(Path(), wants="file")


@dataclass(frozen=True, kw_only=True)
class Assumed:
    """`overlap`: of the gradients' communication, hidden behind computing. `efficiency`: of the peak;
    Narayanan et al. 2021, table 1, reached 0.44 to 0.52 of theirs.
    `link_efficiency`: as MindStudio's model assumes for the same links. `usable`: the rest of the memory is the
    framework's, HCCL's buffers and fragments."""

    efficiency: float = option(0.4, above=0, high=1)
    link_efficiency: float = option(0.7, above=0, high=1)
    overlap: float = option(0.0, low=0, high=1)
    usable: float = option(0.9, above=0, high=1)


@dataclass(frozen=True, kw_only=True)
class Display:
    show: int = option(5, low=1, high=1000)
    shard: tuple[tuple[str, str], ...] = option(())


def _part_is_listed(spec: PreviewSpec) -> Iterable[Problem]:
    try:
        listed = read_parts(spec.cluster.parts)
    except StudioError as error:
        yield Problem(field="parts", rule=error.key, args=error.values)
        return
    if spec.cluster.part not in listed:
        args = {"part": spec.cluster.part[:80], "known": ", ".join(listed)}
        yield Problem(field="part", rule="launch.rule.unknown_part", args=args)


def _heads_divide(spec: PreviewSpec) -> Iterable[Problem]:
    if spec.net.hidden % spec.net.heads:
        args = {"hidden": spec.net.hidden, "heads": spec.net.heads}
        yield Problem(field="heads", rule="launch.rule.heads_divide", args=args)


def _groups_divide(spec: PreviewSpec) -> Iterable[Problem]:
    groups = spec.net.kv_heads
    if groups is not None and spec.net.heads % groups:
        yield Problem(
            field="kv_heads", rule="launch.rule.groups_divide", args={"heads": spec.net.heads, "groups": groups}
        )


def _one_card_sends_nothing(spec: PreviewSpec) -> Iterable[Problem]:
    if spec.cluster.cards == 1:
        for name in ("zero", "overlap", "link_efficiency", "sequence_parallel"):
            yield Problem(field=name, rule="form.does_not_apply", args={"needs": "--cards 2…65536"})


MODES = ("sequence_parallel", "zero", "overlap", "efficiency", "link_efficiency", "flash")
"""Choices that some splits use, or some parts have figures for, and others not."""


def _choices_change_figures(spec: PreviewSpec) -> Iterable[Problem]:
    """A choice with which every split costs what it costs without it: no split of one head divides a sequence, none
    of one micro batch has a data group."""
    if spec.cluster.cards == 1 or spec.cluster.part not in _parts(spec):
        return
    for name in MODES:
        plain = schema.with_value(spec, name, schema.field_of(PreviewSpec, name).default)
        if plain != spec and _figures(plain) == _figures(spec):
            yield Problem(field=name, rule="launch.rule.changes_no_figure")


def _recomputation_saves(spec: PreviewSpec) -> Iterable[Problem]:
    """FlashAttention keeps no scores, which is what a selective recomputation leaves out; a network without layers has
    nothing to compute again."""
    if spec.training.recomputation != "none" and spec.cluster.part in _parts(spec):
        plain = schema.with_value(spec, "recomputation", "none")
        if _figures(plain) == _figures(spec):
            yield Problem(field="recomputation", rule="launch.rule.changes_no_figure")


def _float32_has_wide_gradients(spec: PreviewSpec) -> Iterable[Problem]:
    if spec.training.precision == "fp32":
        yield Problem(field="gradients", rule="form.does_not_apply", args={"needs": "--precision bf16|fp16"})


def _figures(spec: PreviewSpec) -> list[Estimate]:
    """Return the estimates as they are shown: where the time of a step is unknown, so are its parts."""
    nothing = Times(compute=None, tensor=None, pipeline=None, bubble=None, data=None, update=None)
    return [
        estimate if estimate.seconds is not None else replace(estimate, times=nothing) for estimate in _estimates(spec)
    ]


def _parts(spec: PreviewSpec) -> dict[str, Part]:
    try:
        return read_parts(spec.cluster.parts)
    except StudioError:
        return {}


def _estimates(spec: PreviewSpec) -> list[Estimate]:
    part = _parts(spec)[spec.cluster.part]
    return search_splits(network_of(spec), setting_of(spec), spec.cluster.cards, part, efficiency_of(spec))


def _strategies_fit(spec: PreviewSpec) -> Iterable[Problem]:
    for shapes, strategy in spec.shown.shard:
        read = read_shapes(shapes), read_shapes(strategy)
        if read[0] is None or read[1] is None:
            args = {"text": f"{shapes}={strategy}"[:80]}
            yield Problem(field="shard", rule="launch.rule.shard_form", args=args)
        else:
            yield from check_shard(read[0], read[1], spec.cluster.cards)


@dataclass(frozen=True, kw_only=True)
class PreviewSpec:
    net: Net = field(default_factory=Net)
    training: Training = field(default_factory=Training)
    cluster: Cluster = field(default_factory=Cluster)
    assumed: Assumed = field(default_factory=Assumed)
    shown: Display = field(default_factory=Display)

    RULES = (_part_is_listed, _heads_divide, _groups_divide, _strategies_fit)
    GIVEN_RULES = (
        _one_card_sends_nothing,
        _choices_change_figures,
        _recomputation_saves,
        _float32_has_wide_gradients,
    )


def feed_forward(net: Net) -> int:
    """4h for GPT; for Llama two thirds of that, up to the next multiple of 256 (Touvron et al. 2023,
    https://arxiv.org/abs/2302.13971, section 2.2, and its code)."""
    if net.ffn is not None:
        return net.ffn
    return 4 * net.hidden if net.network == "gpt" else -(-(8 * net.hidden // 3) // 256) * 256


def network_of(spec: PreviewSpec) -> Network:
    net = spec.net
    if net.network != "llama" and net.network != "gpt":
        return recipe(net.network)
    sizes = Sizes(
        form=net.network, layers=net.layers, hidden=net.hidden, heads=net.heads, ffn=feed_forward(net),
        vocab=net.vocab, sequence=net.sequence, groups=net.kv_heads,
    )  # fmt: skip
    return transformer(sizes)


def setting_of(spec: PreviewSpec) -> Setting:
    training = schema.effective(spec).training
    return Setting(
        precision=training.precision, optimizer=training.optimizer, micro_batch=training.batch,
        micro_batches=training.micro_batches, recomputation=training.recomputation,
        sequence_parallel=training.sequence_parallel, flash=training.flash,
        gradient_bytes=4 if training.gradients == "fp32" else None, zero=ZERO[training.zero],
        overlap=spec.assumed.overlap,
    )  # fmt: skip


def efficiency_of(spec: PreviewSpec) -> Efficiency:
    return Efficiency(compute=spec.assumed.efficiency, link=spec.assumed.link_efficiency)
