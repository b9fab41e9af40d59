"""The gradient norm of a compiled training, computed inside its graph. Only where it was asked for: the graph is
another one than without.

The compiler parses `construct` below and looks its names up in this module, so they are put here by `install`.
"""

from __future__ import annotations

import functools

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Optional

NORM = "ascend_studio_norm"
assign: Any = None
sqrt: Any = None
square: Any = None


def construct(self, gradients):  # type: ignore[no-untyped-def]
    squares = self.ascend_studio_map(square, gradients)
    assign(self.ascend_studio_norm, sqrt(self.ascend_studio_sum(squares)))
    return self.ascend_studio_construct(gradients)


def install(mindspore: ModuleType) -> None:
    ops = mindspore.ops
    globals().update(assign=ops.assign, sqrt=ops.sqrt, square=_square_of_each(ops, mindspore.float32))
    optimizers = mindspore.nn.Optimizer
    make = optimizers.__init__

    @functools.wraps(make)
    def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:
        make(optimizer, *args, **kwargs)
        norm = mindspore.Parameter(mindspore.Tensor(0.0, mindspore.float32), name=NORM, requires_grad=False)
        # Past the cell's own __setattr__: it is no parameter of the optimizer, and in no checkpoint.
        object.__setattr__(optimizer, NORM, norm)
        optimizer.ascend_studio_map, optimizer.ascend_studio_sum = ops.HyperMap(), ops.AddN()
        kind = type(optimizer)
        if kind.construct is not construct:
            kind.ascend_studio_construct, kind.construct = kind.construct, construct

    optimizers.__init__ = __init__


def _square_of_each(ops: Any, float32: Any) -> Any:
    square = ops.MultitypeFuncGraph("ascend_studio_square")

    @square.register("Tensor")
    def _square(gradient):  # type: ignore[no-untyped-def]
        return ops.reduce_sum(ops.square(ops.cast(gradient, float32)))

    return square


def read(optimizer: Any) -> Optional[float]:
    norm = getattr(optimizer, NORM, None)
    return None if norm is None else float(norm.item()) / float(getattr(optimizer, "loss_scale", 1.0))
