"""The call through which each operator on a card passes.

`run` is called with an operator, its arguments and keywords, all as the card sees them. What follows the operators of
a training (counts, memory by kind, shapes) puts itself into `observers`, and is called with the result as well.
"""

from __future__ import annotations

import contextlib
import functools
import warnings

from ascend_studio import recording

if False:
    from typing import Any, Callable, Dict, Iterator, List

    Kernel = Callable[[Any, Any, Any], Any]

observers: List[Callable[[Any, Any, Any, Any], None]] = []
checks: List[Callable[[Any, Any, Any], None]] = []
"""Called before an operator runs; what they raise refuses it."""
failures: List[Callable[[RuntimeError], None]] = []
"""Called with what a kernel of the CPU raised; they may raise what a card would."""
_kernels: Dict[int, Kernel] = {}
"""By the id of the operator, as its hash takes longer than all the rest; `_operators` keeps it."""
_operators: List[Any] = []
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


def run(op: Any, args: Any, kwargs: Any) -> Any:
    kernel = _kernels.get(id(op)) or kernel_of(op)
    for check in checks:
        check(op, args, kwargs)
    try:
        result = kernel(op, args, kwargs)
    except RuntimeError as error:
        for explain in failures:
            explain(error)
        raise
    if not recording.is_own_work():
        for observe in observers:
            observe(op, args, kwargs, result)
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
