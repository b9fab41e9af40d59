"""The call through which each operator on a card passes.

`run` is called with an operator, its arguments and keywords, all as the card sees them. What follows the operators of
a training (counts, shapes, fall-backs) says of each operator once whether it looks at it, and is then called with each
result as well.
"""

from __future__ import annotations

import contextlib
import functools
import warnings

from ascend_studio import recording

if False:
    from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

    Kernel = Callable[[Any, Any, Any], Any]
    Check = Callable[[Any, Any, Any], None]
    Observer = Callable[[Any, Any, Any, Any], None]

checks: Dict[int, Check] = {}
"""By the id of an operator: called before it runs; what it raises refuses it."""
failures: List[Callable[[RuntimeError], None]] = []
"""Called with what a kernel of the CPU raised; they may raise what a card would."""
_kernels: Dict[int, Kernel] = {}
"""By the id of the operator, as its hash takes longer than all the rest; `_operators` keeps it."""
_operators: List[Any] = []
_observer_makers: List[Callable[[Any], Optional[Observer]]] = []
_observers: Dict[int, Tuple[Observer, ...]] = {}
_makers: List[Callable[[Any], Kernel]] = []


def install(kernels: Dict[Any, Kernel], make: Callable[[Any], Kernel]) -> None:
    """`kernels`: by operator; `make`: the kernel of any other, called once for each."""
    add(kernels)
    _makers[:] = [make]


def kernel_of(op: Any) -> Kernel:
    kernel = _kernels.get(id(op))
    if kernel is None:
        kernel = _makers[0](op)
        add({op: kernel})
    return kernel


def observe(make: Callable[[Any], Optional[Observer]]) -> None:
    """`make`: returns for an operator what is called with it, its arguments, keywords and result; None for one that is
    not looked at.
    """
    _observer_makers.append(make)
    _observers.clear()


def observers_of(op: Any) -> Tuple[Observer, ...]:
    observers = _observers.get(id(op))
    if observers is None:
        observers_or_none = [make(op) for make in _observer_makers]
        observers = _observers[id(op)] = tuple([observer for observer in observers_or_none if observer is not None])
    return observers


def run(op: Any, args: Any, kwargs: Any) -> Any:
    number = id(op)
    kernel = _kernels.get(number) or kernel_of(op)
    if number in checks:
        checks[number](op, args, kwargs)
    try:
        result = kernel(op, args, kwargs)
    except RuntimeError as error:
        for explain in failures:
            explain(error)
        raise
    if not recording.is_own_work():
        for observer in observers_of(op):
            observer(op, args, kwargs, result)
    return result


def add(kernels: Dict[Any, Kernel]) -> None:
    _operators.extend(kernels)
    _kernels.update((id(op), kernel) for op, kernel in kernels.items())


def entry(op: Any) -> Callable[..., Any]:
    """Return what is registered for an operator that comes by itself, not by the fallback."""
    return functools.partial(_enter, op)


def _enter(op: Any, *args: Any, **kwargs: Any) -> Any:
    return run(op, args, kwargs)


def operator(torch: Any, name: str, space: str = "aten") -> Any:
    """Return an operator by its name with overload; None where this torch has none."""
    base, _, overload = name.partition(".")
    return getattr(getattr(getattr(torch.ops, space), base, None), overload or "default", None)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Replace a kernel without torch telling the training that there was one before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
