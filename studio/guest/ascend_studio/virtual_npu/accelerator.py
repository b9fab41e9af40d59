"""torch.accelerator, which asks the device guard in C++ for what the cards know."""

from __future__ import annotations

from ascend_studio.virtual_npu import cards, memory

if False:
    from typing import Any, Dict


def install(torch: Any) -> None:
    module = getattr(torch, "accelerator", None)
    if module is None:
        return
    for name, function in _functions(torch).items():
        if hasattr(module, name):
            setattr(module, name, function)


def _functions(torch: Any) -> Dict[str, Any]:
    def select(device: Any) -> None:
        cards.select(cards.index_of(device))

    return {
        "device_count": cards.count,
        "is_available": lambda: cards.count() > 0,
        "current_device_index": cards.current,
        "current_device_idx": cards.current,
        "set_device_index": select,
        "set_device_idx": select,
        "synchronize": lambda device=None: None,
        "empty_cache": lambda: None,
        "memory_allocated": lambda device=None: memory.allocated(cards.index_of(device)),
        "max_memory_allocated": lambda device=None: memory.max_allocated(cards.index_of(device)),
        "memory_reserved": lambda device=None: memory.allocated(cards.index_of(device)),
        "max_memory_reserved": lambda device=None: memory.max_allocated(cards.index_of(device)),
        "reset_peak_memory_stats": lambda device=None: memory.reset_peak(cards.index_of(device)),
        "device_index": cards.Selected,
    }
