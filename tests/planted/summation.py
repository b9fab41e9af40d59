"""Operators that add up in another order, as with other tiles, another algorithm, or atomic additions.

The result is the same in exact arithmetic: what is added up is permuted on its way in, and what is not stays in place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Order = Callable[[int], torch.Tensor]

aten = torch.ops.aten


def in_other_order(func: Any, args: Any, kwargs: Any, order: Order) -> Any:
    """Call an operator of torch's dispatcher. `order` returns a permutation of a number of summands."""
    change = _CHANGES.get(func.overloadpacket.__name__)
    return func(*args, **kwargs) if change is None else change(func, args, kwargs, order)


def _picked(value: torch.Tensor, dim: int, chosen: torch.Tensor) -> torch.Tensor:
    return aten.index_select.default(value, dim, chosen)


def _product(func: Any, args: Any, kwargs: Any, order: Order) -> Any:
    """(a, b) or (added, a, b): over the last dimension of a and the one before the last of b."""
    *before, a, b = args
    chosen = order(a.shape[-1])
    return func(*before, _picked(a, a.dim() - 1, chosen), _picked(b, b.dim() - 2, chosen), **kwargs)


def _convolution(func: Any, args: Any, kwargs: Any, order: Order) -> Any:
    """Over the channels that come in."""
    x, weight, bias, stride, padding, dilation, transposed, more, groups = args
    if groups > 1:
        return func(*args, **kwargs)
    chosen = order(x.shape[1])
    weight = _picked(weight, 0 if transposed else 1, chosen)
    return func(_picked(x, 1, chosen), weight, bias, stride, padding, dilation, transposed, more, groups)


def _convolution_backward(func: Any, args: Any, kwargs: Any, order: Order) -> Any:
    """Over the batch: that is in the gradients of weight and bias."""
    gradient, x, *more = args
    chosen = order(len(x))
    of_x, of_weight, of_bias = func(_picked(gradient, 0, chosen), _picked(x, 0, chosen), *more, **kwargs)
    if of_x is not None and of_x.numel():
        of_x = _picked(of_x, 0, aten.argsort.default(chosen))
    return of_x, of_weight, of_bias


def _reduction(func: Any, args: Any, kwargs: Any, order: Order) -> Any:
    x, *more = args
    dims: Sequence[int] = more[0] if more and more[0] else range(x.dim())
    for dim in dims:
        x = _picked(x, dim % x.dim(), order(x.shape[dim]))
    return func(x, *more, **kwargs)


def _index_add(func: Any, args: Any, kwargs: Any, order: Order) -> Any:
    x, dim, index, source = args
    chosen = order(len(index))
    return func(x, dim, _picked(index, 0, chosen), _picked(source, dim, chosen), **kwargs)


def _embedding_backward(func: Any, args: Any, kwargs: Any, order: Order) -> Any:
    gradient, indices, *more = args
    chosen = order(indices.numel())
    gradient = aten.reshape.default(gradient, [indices.numel(), gradient.shape[-1]])
    indices = aten.reshape.default(indices, [-1])
    return func(_picked(gradient, 0, chosen), _picked(indices, 0, chosen), *more, **kwargs)


_CHANGES = {
    "mm": _product, "addmm": _product, "bmm": _product, "baddbmm": _product, "convolution": _convolution,
    "convolution_backward": _convolution_backward, "sum": _reduction, "mean": _reduction, "index_add": _index_add,
    "embedding_dense_backward": _embedding_backward,
}  # fmt: skip
