"""The random numbers of each card.

A card's generator is the CPU's until a script seeds the card apart: a training then draws the same numbers on both,
and can be compared bit for bit. torch.manual_seed brings them together again. On a card the same seed gives other
numbers than on the CPU; those cannot be had without one.
"""

from __future__ import annotations

import functools
import sys
from importlib import import_module

from ascend_studio.virtual_npu import cards
from ascend_studio.virtual_npu.replaced import replace

if False:
    from typing import Any, Callable, Dict, List, Set

_DRAWING = ("rand", "randn", "randint", "randperm", "normal", "multinomial", "bernoulli", "poisson")
_DRAWING_METHODS = (
    "normal_", "uniform_", "random_", "exponential_", "geometric_", "cauchy_", "log_normal_", "bernoulli_", "bernoulli",
    "multinomial",
)  # fmt: skip
FOREIGN = "Expected a '%s' device type for generator but found '%s'"
_apart: Dict[int, Any] = {}
names: Set[str] = {"npu"}
"""The device types whose generators are those of a card; transfer_to_npu adds one."""
_indices: Dict[int, int] = {}
"""The card of each generator that was made for one, by the address of what torch draws from."""
_torch: Any = None
_real: Any = None
_of_card: Any = None


def install(torch: Any) -> None:
    """Let torch.Generator be made for a card."""
    global _torch, _real, _of_card
    _torch, _real = torch, torch.Generator

    class OfCard(_real):  # type: ignore[misc]
        """A generator of the CPU that says that it is one of a card."""

        device = property(lambda self: _torch.device("npu", _indices.get(self._cdata, 0)))

        def __del__(self, forget: Any = _indices.pop) -> None:  # bound: a module is empty while Python ends
            forget(self._cdata, None)

    _of_card = OfCard
    torch.Generator = _kind(_real)
    # It keeps the factories that it finds, for `with torch.device(…)`; it is to find torch's own.
    import_module("torch.utils._device")._device_constructors()
    for name in _DRAWING:
        replace(torch, name, _refusing)
    for name in _DRAWING_METHODS:
        replace(torch.Tensor, name, _refusing)
    datasets: Any = import_module("torch.utils.data.dataset")
    datasets.randperm = torch.randperm  # random_split has it by this name


def _refusing(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does not draw for the host from the generator of a card, as the kernels of the CPU: they
    cannot tell it from one of their own here.
    """

    @functools.wraps(original)
    def draw(*args: Any, **kwargs: Any) -> Any:
        if type(kwargs.get("generator")) is _of_card and _is_for_host(args, kwargs.get("device")):
            raise RuntimeError(FOREIGN % ("cpu", "npu"))
        return original(*args, **kwargs)

    return draw


def _is_for_host(args: Any, device: Any) -> bool:
    tensors = [value for value in args if isinstance(value, _torch.Tensor)]
    if tensors:
        return bool(tensors[0].device.type == "cpu")
    return bool(_torch.device(_torch.get_default_device() if device is None else device).type == "cpu")


def _kind(real: Any) -> Any:
    class Kind(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, real)

        def __subclasscheck__(cls, subclass: Any) -> bool:
            return issubclass(subclass, real)

        def __call__(cls, device: Any = "cpu") -> Any:
            if isinstance(device, int):
                return new(cards.index_of(device))
            kind, _, index = str(device).partition(":")
            if kind in names:
                return new(cards.index_of("npu:" + index if index else "npu"))
            return real(device)

    class Generator(metaclass=Kind):
        pass

    Generator.__module__, Generator.__qualname__ = "torch", "Generator"
    return Generator


def new(index: int) -> Any:
    """Return a generator of a card by itself."""
    generator = _of_card()
    _indices[generator._cdata] = index
    return generator


def of_card(index: int) -> Any:
    """Return the generator that operators on a card draw from where they get none."""
    return _apart.get(index, _torch.default_generator)


def drawn(index: int, op: Any, args: List[Any], kwargs: Dict[str, Any]) -> Any:
    """Return what an operator draws for a card."""
    index = cards.current() if index < 0 else index
    chosen = kwargs.get("generator") or next((arg for arg in args if isinstance(arg, _real)), None)
    if chosen is not None and chosen._cdata not in _indices:
        raise RuntimeError(FOREIGN % ("npu", "cpu"))
    generator = _apart.get(index)
    if generator is None or chosen is not None:
        return op(*args, **kwargs)
    shared = _torch.default_generator
    state = shared.get_state()
    shared.set_state(generator.get_state())
    try:
        return op(*args, **kwargs)
    finally:
        generator.set_state(shared.get_state())
        shared.set_state(state)


def seed(index: int, value: int) -> None:
    generator = _of_card()
    generator.manual_seed(value)
    _keep(index, generator)


def seed_all(value: int) -> None:
    """Seed every card. torch.manual_seed asks for this just before it seeds the CPU: they draw together from then
    on.
    """
    if _is_of_torch(sys._getframe(1)):
        _apart.clear()
        return
    for index in range(cards.count()):
        seed(index, value)


def seed_apart(index: int) -> None:
    """Seed a card from the system."""
    generator = _of_card()
    generator.seed()
    _apart[index] = generator


def _is_of_torch(frame: Any) -> bool:
    for _ in range(4):
        if frame is None:
            return False
        if frame.f_code.co_name in ("_seed_custom_device", "manual_seed") and frame.f_globals.get("__name__") == (
            "torch.random"
        ):
            return True
        frame = frame.f_back
    return False


def state(index: int) -> Any:
    return of_card(index).get_state()


def set_state(index: int, value: Any) -> None:
    generator = _of_card()
    generator.set_state(value.cpu())
    _keep(index, generator)


def _keep(index: int, generator: Any) -> None:
    if _torch.equal(generator.get_state(), _torch.default_generator.get_state()):
        _apart.pop(index, None)
    else:
        _apart[index] = generator


def initial_seed(index: int) -> int:
    return int(of_card(index).initial_seed())
