"""Bytes on the fullest card."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backends.launch.preview.network import Network, SavedNumbers
    from backends.launch.preview.split import Setting, Split


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Bytes. All but `activations` follow from counting; those are estimated, and may be more than JSON's whole numbers
    hold."""

    parameters: int
    gradients: int
    optimizer: int
    activations: float

    @property
    def total(self) -> float:
        return self.parameters + self.gradients + self.optimizer + self.activations


def memory_of(network: Network, setting: Setting, split: Split) -> Memory:
    """Return the memory of the stage that needs most."""
    stages = (_stage(network, setting, split, stage) for stage in range(split.pipeline))
    return max(stages, key=lambda memory: memory.total)


def stage_size(network: Network, split: Split, stage: int) -> int:
    """Weights, as a count of numbers, on one card of a stage."""
    size = network.blocks // split.pipeline * network.block.size(split.tensor)
    if stage == 0:
        size += network.first.size(split.tensor)
    if stage == split.pipeline - 1:
        size += network.last.size(split.tensor)
        size += network.tied.size(split.tensor) if network.tied and stage else 0
    return size


def optimizer_bytes(network: Network, setting: Setting, split: Split, size: int) -> int:
    """States are float32. With 16 bits a float32 copy of the weights is among them: 12 bytes per weight for Adam
    beside 2 + 2 for weight and gradient (Rajbhandari et al. 2020, https://arxiv.org/abs/1910.02054, section 3.1).
    Sharded, a card has its part of them (the same, P_os, section 5.1), the largest one, rounded up."""
    per_weight, once = network.states[setting.optimizer]
    numbers = size * (per_weight + (1 if setting.width == 2 else 0))
    return 4 * (math.ceil(numbers / split.data) if split.sharded else numbers) + 4 * once


def weight_bytes(network: Network, setting: Setting, split: Split, size: int) -> int:
    """With ZeRO stage 3 a card has its part of the weights (Rajbhandari et al. 2020, section 5.3), and those of the
    largest layer that is gathered to be computed."""
    if not split.sharded or setting.zero < 3:
        return size * setting.width
    layers = (network.first, network.block, network.last)
    gathered = max(layer.size(split.tensor) for layer in layers)
    return (math.ceil(size / split.data) + min(size, gathered)) * setting.width


def gradient_bytes(setting: Setting, split: Split, size: int) -> int:
    """From ZeRO stage 2 on a card has its part of the gradients (section 5.2)."""
    part = math.ceil(size / split.data) if split.sharded and setting.zero >= 2 else size
    return part * setting.gradient_width


def _stage(network: Network, setting: Setting, split: Split, stage: int) -> Memory:
    size = stage_size(network, split, stage)
    return Memory(
        parameters=weight_bytes(network, setting, split, size),
        gradients=gradient_bytes(setting, split, size),
        optimizer=optimizer_bytes(network, setting, split, size),
        activations=activation_bytes(network, setting, split, stage),
    )


def activation_bytes(network: Network, setting: Setting, split: Split, stage: int) -> float:
    """With 1F1B, stage i of p keeps p - i micro batches (Narayanan et al. 2021, https://arxiv.org/abs/2104.04473,
    section 2.2), so the first one keeps as much as if there were no pipeline (Korthikanti, section 4.2.3)."""
    in_flight = min(setting.rounds(split), split.pipeline - stage)
    saved = network.blocks // split.pipeline * saved_bytes(network.block.saved, setting, split)
    plain = _without_recomputation(setting)
    if stage == 0:
        saved += saved_bytes(network.first.saved, plain, split)
    if stage == split.pipeline - 1:
        saved += saved_bytes(network.last.saved, plain, split)
    return float(setting.micro_batch) * (in_flight * saved + again_bytes(network, setting, split))


def again_bytes(network: Network, setting: Setting, split: Split) -> float:
    """Return the bytes of one sample in the block that is being computed again: all that its backward pass needs is
    there, beside what was kept of every block."""
    if not network.blocks:
        return 0.0
    whole = saved_bytes(network.block.saved, _without_recomputation(setting), split)
    return whole - saved_bytes(network.block.saved, setting, split)


def _without_recomputation(setting: Setting) -> Setting:
    """Only blocks are computed a second time."""
    return replace(setting, recomputation="none")


def saved_bytes(saved: SavedNumbers, setting: Setting, split: Split) -> float:
    """Return the bytes of one sample: the rows of table 2 of Korthikanti et al. 2022 (https://arxiv.org/abs/2205.05198)."""
    width, tensor = setting.width, split.tensor
    if setting.recomputation == "full":
        return saved.input * width
    whole = saved.whole * width + saved.whole_bytes
    scores = 0 if setting.recomputation == "selective" else saved.core * width + saved.core_bytes
    core = saved.flash_bytes if setting.flash else scores
    divided = saved.split * width + saved.split_bytes + core
    return whole / (tensor if setting.sequence_parallel else 1) + divided / tensor
