"""The virtual NPU as a training is told of it: what the guest reads (studio/guest/ascend_studio/rehearsal)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec

STEPS = "ASCEND_STUDIO_REHEARSAL_STEPS"
DEVICES = "ASCEND_STUDIO_REHEARSAL_DEVICES"
SEED = "ASCEND_STUDIO_REHEARSAL_SEED"
NPU_DEVICE = "ASCEND_STUDIO_REHEARSAL_NPU_DEVICE"
CARD_MEMORY = "ASCEND_STUDIO_REHEARSAL_CARD_MEMORY"
FAKE = "ASCEND_STUDIO_REHEARSAL_FAKE"
HOOK = "rehearse=npu"
CARD_GIB = 64
"""Memory of a card, as on an Atlas A2."""


def is_chosen(spec: LaunchSpec) -> bool:
    return spec.how.device == "virtual_npu"


def has_no_card(spec: LaunchSpec) -> bool:
    """Whether the CPU computes, whatever this host has."""
    return spec.how.device in ("cpu", "virtual_npu")


def environment(spec: LaunchSpec) -> dict[str, str]:
    """A card for each process of this host."""
    if not is_chosen(spec):
        return {}
    cards = 1 if spec.parallel.parallel == "none" else spec.parallel.workers
    return {DEVICES: str(cards), NPU_DEVICE: "virtual", CARD_MEMORY: str(CARD_GIB)}
