"""Seconds of one update, each None where the part's table does not tell."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from backends.launch.preview.ascend_parts import GB
from backends.launch.preview.memory import stage_size
from backends.launch.preview.traffic import traffic_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.launch.preview.ascend_parts import Part
    from backends.launch.preview.memory import Memory
    from backends.launch.preview.network import Layer, Matmul, Network
    from backends.launch.preview.split import Setting, Split

BACKWARD = 2  # times the operations of the forward pass: gradients of inputs and of weights


@dataclass(frozen=True, kw_only=True)
class Efficiency:
    """Assumed shares of the peak of matrix products and of the bandwidth of links."""

    compute: float
    link: float


@dataclass(frozen=True, kw_only=True)
class Times:
    """Nothing overlaps but what the setting says of `data`.

    `bubble`: waiting while the pipeline fills and drains; `update`: the optimizer."""

    compute: float | None
    tensor: float | None
    pipeline: float | None
    bubble: float | None
    data: float | None
    update: float | None

    @property
    def total(self) -> float | None:
        return _sum(getattr(self, field.name) for field in fields(self))


def _sum(values: Iterable[float | None]) -> float | None:
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def bubble_share(split: Split, rounds: int) -> float:
    """(p-1)/(m+p-1) of the time is waiting (Huang et al. 2019, GPipe, https://arxiv.org/abs/1811.06965; 1F1B waits
    as long: Narayanan et al. 2021, section 2.2)."""
    return (split.pipeline - 1) / (rounds + split.pipeline - 1)


def times_of(
    network: Network, setting: Setting, split: Split, memory: Memory, part: Part, efficiency: Efficiency
) -> Times:
    rounds = setting.rounds(split)
    traffic = traffic_of(network, setting, split)
    share = efficiency.link
    compute = _compute(network, setting, split, part, efficiency)
    tensor = _link(traffic.tensor, part.bandwidth(split.tensor, 1), share)
    pipeline = _link(traffic.pipeline, part.hop(split.cards), share)
    busy = _sum((compute, tensor, pipeline))
    return Times(
        compute=compute,
        tensor=tensor,
        pipeline=pipeline,
        bubble=None if busy is None else busy * (split.pipeline - 1) / rounds,
        data=_link((1 - setting.overlap) * traffic.data, part.bandwidth(split.data, split.tensor), share),
        update=None if part.hbm_gbs is None else _update_bytes(network, setting, split, memory) / (part.hbm_gbs * GB),
    )


def _link(sent_bytes: float, bandwidth: float | None, share: float) -> float | None:
    if sent_bytes == 0:
        return 0.0
    return None if bandwidth is None else sent_bytes / (bandwidth * share)


def _update_bytes(network: Network, setting: Setting, split: Split, memory: Memory) -> float:
    """Gradients are read, weights and states read and written; sharded, each card does its part of them."""
    size = max(stage_size(network, split, stage) for stage in range(split.pipeline))
    weights = size * (setting.gradient_width + 2 * setting.width)
    return weights / (split.data if split.sharded else 1) + 2 * memory.optimizer


def _compute(network: Network, setting: Setting, split: Split, part: Part, efficiency: Efficiency) -> float | None:
    """All rounds of the slowest stage."""
    peak = part.peak(setting.precision)
    if peak is None:
        return None
    roof = _Roof(peak * efficiency.compute, None if part.hbm_gbs is None else part.hbm_gbs * GB, setting)
    seconds = network.blocks // split.pipeline * roof.block(network.block, split.tensor)
    ends = [roof.forward(network.first, split.tensor), roof.forward(network.last, split.tensor)]
    busiest = sum(ends) if split.pipeline == 1 else max(ends)
    return setting.rounds(split) * (seconds + (1 + BACKWARD) * busiest)


class _Roof:
    """A matrix product takes as long as its operations, or as its operands and result take through the memory,
    whichever is longer (Williams et al. 2009, roofline, https://doi.org/10.1145/1498765.1498785)."""

    def __init__(self, speed: float, bandwidth: float | None, setting: Setting) -> None:
        self._speed, self._bandwidth, self._setting = speed, bandwidth, setting

    def block(self, layer: Layer, tensor: int) -> float:
        """Forward, backward, and what is computed a second time: FlashAttention has no scores to go back through."""
        core, flash = self._core(layer, tensor), self._setting.flash
        again = {"none": core if flash else 0.0, "full": self.forward(layer, tensor), "selective": core}
        return (1 + BACKWARD) * self.forward(layer, tensor) + again[self._setting.recomputation]

    def forward(self, layer: Layer, tensor: int) -> float:
        return sum(self._seconds(matmul, tensor) for matmul in layer.matmuls)

    def _core(self, layer: Layer, tensor: int) -> float:
        return sum(self._seconds(matmul, tensor) for matmul in layer.matmuls if matmul.is_core)

    def _seconds(self, matmul: Matmul, tensor: int) -> float:
        """Return the seconds of one micro batch; its samples share a weight, but not an attention core's operands."""
        batch = self._setting.micro_batch
        divided = tensor if matmul.split else 1
        k = matmul.k // (tensor if matmul.split == "k" else 1)
        n = matmul.n // (tensor if matmul.split == "n" else 1)
        count = matmul.count // (tensor if matmul.split == "count" else 1)
        seconds = matmul.flops * batch / divided / self._speed
        if self._bandwidth is None:
            return seconds
        shared = batch if matmul.is_core else 1
        numbers = count * (batch * matmul.m * (k + n) + shared * k * n)
        return max(seconds, numbers * self._setting.width / self._bandwidth)


def flops_of(network: Network, setting: Setting) -> int:
    """Operations of one update on all cards together, with what is computed a second time."""
    forward = sum(matmul.flops for matmul in network.block.matmuls)
    core = sum(matmul.flops for matmul in network.block.matmuls if matmul.is_core)
    again = {"none": core if setting.flash else 0, "full": forward, "selective": core}[setting.recomputation]
    ends = sum(matmul.flops for matmul in (*network.first.matmuls, *network.last.matmuls))
    per_sample = network.blocks * ((1 + BACKWARD) * forward + again) + (1 + BACKWARD) * ends
    return per_sample * setting.micro_batch * setting.micro_batches
