"""torch.accelerator, which asks the device guard in C++ for what the cards know."""

from __future__ import annotations

from ascend_studio.virtual_npu import cards, functions, memory

if False:
    from typing import Any, Dict

OF_MEMORY = (
    "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved", "reset_peak_memory_stats",
    "memory_stats",
)  # fmt: skip


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
        "empty_cache": memory.empty_cache,
        **{name: function for name, function in functions.of_memory().items() if name in OF_MEMORY},
        "get_memory_info": lambda device=None: memory.free_and_total(cards.index_of(device)),
        "device_index": cards.Selected,
    }
