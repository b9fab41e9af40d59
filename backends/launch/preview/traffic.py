"""Bytes that one card sends for one update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.launch.preview.memory import stage_size

if TYPE_CHECKING:
    from backends.launch.preview.network import Network
    from backends.launch.preview.split import Setting, Split


@dataclass(frozen=True, kw_only=True)
class Traffic:
    data: float
    tensor: float
    pipeline: float

    @property
    def total(self) -> float:
        return self.data + self.tensor + self.pipeline


def ring_all_reduce(sent_bytes: float, members: int) -> float:
    """Each member sends (n-1)/n of it twice: reduce-scatter, then all-gather (Patarasuk and Yuan 2009,
    https://doi.org/10.1016/j.jpdc.2008.09.002)."""
    return 2 * (members - 1) / members * sent_bytes


def traffic_of(network: Network, setting: Setting, split: Split) -> Traffic:
    message = setting.micro_batch * network.message * setting.width
    rounds = setting.rounds(split)
    blocks = network.blocks // split.pipeline
    return Traffic(
        data=data_bytes(network, setting, split),
        tensor=rounds * blocks * reductions(setting) * ring_all_reduce(message, split.tensor),
        pipeline=rounds * 2 * message if split.pipeline > 1 else 0,
    )


def data_bytes(network: Network, setting: Setting, split: Split) -> float:
    """Gradients of the largest stage, summed. Sharded, they are scattered and the new weights gathered, which is as
    much where both have one width (Rajbhandari et al. 2020, section 7.2). A card that keeps only its part of the
    gradients scatters them after each micro batch, one without the weights gathers these for each forward and
    backward pass."""
    largest = max(stage_size(network, split, stage) for stage in range(split.pipeline))
    gradients, weights = (_gathered(largest * width, split.data) for width in (setting.gradient_width, setting.width))
    rounds = setting.rounds(split)
    if not split.sharded:
        return 2 * gradients
    return {1: gradients + weights, 2: rounds * gradients + weights, 3: rounds * (gradients + 2 * weights)}[
        setting.zero
    ]


def _gathered(sent_bytes: float, members: int) -> float:
    """A reduce-scatter or an all-gather: each member sends (n-1)/n of it."""
    return (members - 1) / members * sent_bytes


def reductions(setting: Setting) -> int:
    """All-reduces of a block for one micro batch: two forward, two backward (Shoeybi et al. 2019, section 3), the
    forward ones again with full recomputation. Splitting the sequence replaces each by an all-gather and a
    reduce-scatter of the same bytes (Korthikanti et al. 2022, section 4.2.2)."""
    return 6 if setting.recomputation == "full" else 4
