"""What torch.npu answers of the cards: counts, memory, seeds. Names are those of the wheel."""

from __future__ import annotations

from ascend_studio.virtual_npu import cards, generators, memory

if False:
    from typing import Any, Callable, Dict

NAME = "Virtual NPU (CPU)"
NUMBERS: Dict[str, Callable[[int], Any]] = {
    "memory_allocated": memory.allocated, "max_memory_allocated": memory.max_allocated,
    "memory_reserved": memory.reserved, "max_memory_reserved": memory.max_reserved,
    "memory_cached": memory.reserved, "max_memory_cached": memory.max_reserved,
    "reset_peak_memory_stats": memory.reset_peak, "reset_max_memory_allocated": memory.reset_peak,
    "reset_max_memory_cached": memory.reset_peak,
}  # fmt: skip


def of_npu(torch: Any) -> Dict[str, Callable[..., Any]]:
    return dict(_of_cards(), **of_memory(), **_of_generators(), **_of_autocast(torch))


def _of_cards() -> Dict[str, Callable[..., Any]]:
    return {
        "is_available": lambda: cards.count() > 0,
        "is_initialized": cards.is_initialized,
        "_is_in_bad_fork": cards.is_in_bad_fork,
        "_lazy_init": _lazy_init,
        "init": _lazy_init,
        "device_count": cards.count,
        "current_device": lambda: _of_card(None, cards.current()),
        "set_device": lambda device: cards.select(cards.index_of(device)),
        "synchronize": lambda device=None: _of_card(device, None),
        "get_device_name": lambda device=None: _of_card(device, NAME),
        "is_bf16_supported": lambda *_, **__: True,
    }


def _of_card(device: Any, answer: Any) -> Any:
    cards.index_of(device)
    cards.initialize()
    return answer


def _lazy_init() -> None:
    if cards.is_in_bad_fork():
        raise RuntimeError(cards.FORKED)
    cards.initialize()


def of_memory() -> Dict[str, Callable[..., Any]]:
    return dict(
        {name: _at(number) for name, number in NUMBERS.items()},
        reset_accumulated_memory_stats=lambda device=None: cards.index_of(device) and None,
        mem_get_info=_at(memory.free_and_total),
        memory_stats=_at(memory.statistics),
        memory_stats_as_nested_dict=_at(memory.nested_statistics),
        empty_cache=memory.empty_cache,
        get_per_process_memory_fraction=_at(lambda index: memory.card(index).fraction),
        set_per_process_memory_fraction=lambda fraction, device=None: memory.limit(cards.index_of(device), fraction),
    )


def _at(number: Callable[[int], Any]) -> Callable[..., Any]:
    """Return a function of a device, as torch has them; without one it is the current card."""
    return lambda device=None: number(cards.index_of(device))


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
