"""What torch.npu answers of the cards: counts, memory, seeds. Names are those of the wheel."""

from __future__ import annotations

from ascend_studio.virtual_npu import cards, generators, memory

if False:
    from typing import Any, Callable, Dict

NAME = "Virtual NPU (CPU)"


def of_npu(torch: Any) -> Dict[str, Callable[..., Any]]:
    return dict(_of_cards(), **_of_memory(torch), **_of_generators(), **_of_autocast(torch))


def _of_cards() -> Dict[str, Callable[..., Any]]:
    return {
        "is_available": lambda: cards.count() > 0,
        "is_initialized": lambda: True,
        "_is_in_bad_fork": cards.is_in_bad_fork,
        "_lazy_init": _lazy_init,
        "init": _lazy_init,
        "device_count": cards.count,
        "current_device": cards.current,
        "set_device": lambda device: cards.select(cards.index_of(device)),
        "synchronize": lambda device=None: cards.index_of(device) and None,
        "get_device_name": lambda device=None: _of_card(device, NAME),
        "is_bf16_supported": lambda *_, **__: True,
    }


def _of_card(device: Any, answer: Any) -> Any:
    cards.index_of(device)
    return answer


def _lazy_init() -> None:
    if cards.is_in_bad_fork():
        raise RuntimeError(cards.FORKED)


def _of_memory(torch: Any) -> Dict[str, Callable[..., Any]]:
    return {
        "memory_allocated": lambda device=None: memory.allocated(cards.index_of(device)),
        "max_memory_allocated": lambda device=None: memory.max_allocated(cards.index_of(device)),
        "memory_reserved": lambda device=None: memory.allocated(cards.index_of(device)),
        "max_memory_reserved": lambda device=None: memory.max_allocated(cards.index_of(device)),
        "memory_cached": lambda device=None: memory.allocated(cards.index_of(device)),
        "max_memory_cached": lambda device=None: memory.max_allocated(cards.index_of(device)),
        "reset_peak_memory_stats": lambda device=None: memory.reset_peak(cards.index_of(device)),
        "reset_max_memory_allocated": lambda device=None: memory.reset_peak(cards.index_of(device)),
        "mem_get_info": lambda device=None: memory.free_and_total(cards.index_of(device)),
        "memory_stats": lambda device=None: memory.statistics(cards.index_of(device)),
    }


def _of_generators() -> Dict[str, Callable[..., Any]]:
    def set_state_of_all(states: Any) -> None:
        for index, state in enumerate(states):
            generators.set_state(index, state)

    return {
        "manual_seed": lambda seed: generators.seed(cards.current(), int(seed)),
        "manual_seed_all": lambda seed: generators.seed_all(int(seed)),
        "seed": lambda: generators.seed_apart(cards.current()),
        "seed_all": lambda: [generators.seed_apart(index) for index in range(cards.count())] and None,
        "initial_seed": lambda: generators.initial_seed(cards.current()),
        "get_rng_state": lambda device=None: generators.state(cards.index_of(device)),
        "get_rng_state_all": lambda: [generators.state(index) for index in range(cards.count())],
        "set_rng_state": lambda state, device=None: generators.set_state(cards.index_of(device), state),
        "set_rng_state_all": set_state_of_all,
    }


def _of_autocast(torch: Any) -> Dict[str, Callable[..., Any]]:
    return {
        "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16],
        "is_autocast_enabled": lambda: torch.is_autocast_enabled("npu"),
        "get_autocast_dtype": lambda: torch.get_autocast_dtype("npu"),
        "set_autocast_enabled": lambda enabled: torch.set_autocast_enabled("npu", enabled),
        "set_autocast_dtype": lambda dtype: torch.set_autocast_dtype("npu", dtype),
    }
