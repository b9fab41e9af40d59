"""All splits of some cards, those that fit first, the fastest of them at the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.launch.preview.memory import Memory, memory_of
from backends.launch.preview.shard import check_shard
from backends.launch.preview.split import Split
from backends.launch.preview.times import Times, bubble_share, times_of
from backends.launch.preview.traffic import Traffic, traffic_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.launch.preview.ascend_parts import Part
    from backends.launch.preview.network import Network
    from backends.launch.preview.split import Setting
    from backends.launch.preview.times import Efficiency


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a split would cost on the fullest and slowest card. `seconds` and what is None in `times`: unknown."""

    split: Split
    memory: Memory
    traffic: Traffic
    times: Times
    seconds: float | None
    bubble: float


def divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]


def splits(network: Network, setting: Setting, cards: int) -> Iterator[Split]:
    """Data x tensor x pipeline = cards, as far as the network can be divided so."""
    for tensor in divisors(cards):
        for pipeline in divisors(cards // tensor):
            data = cards // tensor // pipeline
            if setting.micro_batches % data or not _cuts(network, pipeline) or not _divides(network, setting, tensor):
                continue
            for sharded in (False, True) if data > 1 else (False,):
                yield Split(data=data, tensor=tensor, pipeline=pipeline, sharded=sharded)


def _cuts(network: Network, pipeline: int) -> bool:
    return pipeline == 1 or (pipeline <= network.blocks and network.blocks % pipeline == 0)


def _divides(network: Network, setting: Setting, tensor: int) -> bool:
    """Whether each weight that a tensor split divides, and the heads, come out even."""
    if tensor == 1:
        return True
    weights = [weight for weight in network.weights if weight.split is not None]
    if not weights or (setting.sequence_parallel and network.sequence % tensor):
        return False
    for weight in weights:
        strategy = tuple(tensor if at == weight.split else 1 for at in range(len(weight.shape)))
        if check_shard((weight.shape,), (strategy,), tensor):
            return False
    if network.groups % tensor:
        return False
    return not any(matmul.count % tensor for matmul in network.matmuls if matmul.split == "count")


LEAST_SECONDS = 1e-3
"""Of an update: below it the time is that of starting kernels, which nothing here knows."""


def estimate(network: Network, setting: Setting, split: Split, part: Part, efficiency: Efficiency) -> Estimate:
    memory = memory_of(network, setting, split)
    times = times_of(network, setting, split, memory, part, efficiency)
    is_short = times.total is not None and times.total < LEAST_SECONDS
    return Estimate(
        split=split, memory=memory, traffic=traffic_of(network, setting, split), times=times,
        seconds=None if is_short else times.total, bubble=bubble_share(split, setting.rounds(split)),
    )  # fmt: skip


def by_time(estimates: list[Estimate]) -> list[Estimate]:
    """The fastest first. Where the time of one of them is unknown, it could be the fastest, so all are in the order of
    what they send; of two alike the simpler split comes first."""
    is_known = all(estimate.seconds is not None for estimate in estimates)

    def order(estimate: Estimate) -> tuple[float, float, int, float]:
        seconds = (estimate.seconds or 0.0) if is_known else 0.0
        return seconds, estimate.traffic.total, estimate.split.tensor * estimate.split.pipeline, estimate.memory.total

    return sorted(estimates, key=order)


def search_splits(network: Network, setting: Setting, cards: int, part: Part, efficiency: Efficiency) -> list[Estimate]:
    """Every possible split, best first, whether it fits or not."""
    return by_time([estimate(network, setting, split, part, efficiency) for split in splits(network, setting, cards)])
