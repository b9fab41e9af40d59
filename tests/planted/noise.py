"""What makes two healthy runs differ, and operators that are wrong inside, both below what msprobe sees.

A mode of torch's dispatcher stands under every operator, also those of the backward pass: what it changes is the
operator's own result, as on another device. What msprobe itself computes of a tensor is left as it is.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from tests.planted.summation import in_other_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Fault = Callable[[torch.Tensor], torch.Tensor]

MATRICES = ("mm", "addmm", "bmm", "convolution", "convolution_backward")
# Their results are bits of a generator or masks of ones and zeros, on every device.
EXACT = ("bernoulli", "rand", "uniform", "arange", "full", "zeros", "ones", "empty", "native_dropout", "triu", "eq")
NARROW_ONLY = ("_to_copy", "native_batch_norm", "mkldnn_rnn_layer", "mkldnn_rnn_layer_backward")
aten = torch.ops.aten


class Kernels(TorchDispatchMode):
    """`noise`: "" or "ulp": 1 to 4 units in the last place on each result; "kernels": each operator computed in twice
    the width and rounded; "hf32": the inputs of matrix products and convolutions with 10 bits of mantissa, as HF32 of
    NPUs and TF32 of GPUs; "half": half a unit in the last place; "order": sums in two halves; "atomics": sums in an
    order drawn at random. `fault`: (operator, which of its calls, which of its results, what becomes of it)."""

    def __init__(self, noise: str = "", fault: tuple[str, int, int, Fault] | None = None, seed: int = 0) -> None:
        super().__init__()
        self.noise, self.fault = noise, fault
        self.is_paused = False
        self.calls: dict[str, int] = {}
        self.hit = False
        self.generator = torch.Generator().manual_seed(7 + seed)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.is_paused or not _computes(func):
            return func(*args, **kwargs)
        if self.noise == "hf32" and func.overloadpacket.__name__ in MATRICES:
            args = pytree.tree_map_only(torch.Tensor, _shortened, args)
        result = self._computed(func, args, kwargs)
        if self.noise in ("ulp", "half"):
            result = pytree.tree_map_only(torch.Tensor, self._noised, result)
        return self._wrong(func.overloadpacket.__name__, result)

    def _computed(self, func: Any, args: Any, kwargs: Any) -> Any:
        if self.noise == "kernels":
            return self._in_double(func, args, kwargs)
        if self.noise in ("order", "atomics"):
            return in_other_order(func, args, kwargs, self._order)
        return func(*args, **kwargs)

    def _order(self, size: int) -> torch.Tensor:
        """Return in which order `size` summands are taken."""
        if self.noise == "atomics":
            return aten.randperm.generator(size, generator=self.generator)
        return aten.roll.default(aten.arange.default(size), [size // 2])

    def _wrong(self, name: str, result: Any) -> Any:
        if self.fault is None or self.fault[0] != name:
            return result
        self.calls[name] = self.calls.get(name, -1) + 1
        if self.calls[name] != self.fault[1]:
            return result
        self.hit = True
        if isinstance(result, torch.Tensor):
            return self.fault[3](result)
        return tuple(
            self.fault[3](candidate) if i == self.fault[2] else candidate for i, candidate in enumerate(result)
        )

    def _noised(self, value: torch.Tensor) -> torch.Tensor:
        if not value.is_floating_point() or not value.numel():
            return value
        if self.noise == "half":
            return self._noised_by_half(value)
        ulps = torch.ops.aten.randint.low_generator(1, 5, value.shape, generator=self.generator)
        sign = torch.ops.aten.randint.low_generator(0, 2, value.shape, generator=self.generator)
        eps = torch.finfo(value.dtype).eps / 2  # half: an ulp is eps to eps / 2 of a value
        factor = aten.add.Scalar(aten.mul.Scalar(aten.mul.Tensor(ulps, aten.sub.Scalar(aten.mul.Scalar(sign, 2), 1)),
                                                 eps), 1)  # fmt: skip
        wide = aten.mul.Tensor(aten._to_copy.default(value, dtype=torch.float64), factor)
        return aten._to_copy.default(wide, dtype=value.dtype)

    def _noised_by_half(self, value: torch.Tensor) -> torch.Tensor:
        part = aten.rand.generator(list(value.shape), generator=self.generator, dtype=torch.float64)
        eps = torch.finfo(value.dtype).eps
        factor = aten.add.Scalar(aten.mul.Scalar(aten.sub.Scalar(part, 0.5), eps), 1)
        wide = aten.mul.Tensor(aten._to_copy.default(value, dtype=torch.float64), factor)
        return aten._to_copy.default(wide, dtype=value.dtype)

    def _in_double(self, func: Any, args: Any, kwargs: Any) -> Any:
        narrow: list[torch.dtype] = []

        def widen(value: torch.Tensor) -> torch.Tensor:
            if value.dtype in (torch.float32, torch.bfloat16, torch.float16):
                narrow.append(value.dtype)
                return aten._to_copy.default(value, dtype=torch.float64)
            return value

        wide_args, wide_kwargs = pytree.tree_map_only(torch.Tensor, widen, (args, kwargs))
        if not narrow or func.overloadpacket.__name__ in NARROW_ONLY:
            return func(*args, **kwargs)
        result = func(*wide_args, **wide_kwargs)
        dtype = max(set(narrow), key=lambda candidate: torch.finfo(candidate).bits)
        return pytree.tree_map_only(
            torch.Tensor,
            lambda candidate: (
                aten._to_copy.default(candidate, dtype=dtype) if candidate.dtype == torch.float64 else candidate
            ),
            result,
        )


def _shortened(value: torch.Tensor) -> torch.Tensor:
    """float32 rounded to 10 bits of mantissa."""
    if value.dtype != torch.float32:
        return value
    bits = aten.view.dtype(aten.clone.default(value), torch.int32)
    return aten.view.dtype(aten.bitwise_and.Scalar(aten.add.Scalar(bits, 1 << 12), -1 << 13), torch.float32)


def _computes(func: Any) -> bool:
    """Whether an operator gives a result of its own: no view, nothing written in place, nothing exact."""
    name = func.overloadpacket.__name__
    schema = func._schema
    if schema.is_mutable or any(candidate.alias_info is not None for candidate in schema.returns):
        return False
    return name not in ("_to_copy", "clone", "detach", "alias") and not name.startswith(EXACT)


@contextlib.contextmanager
def threads_and_kernels(noise: str) -> Iterator[None]:
    """Another number of threads; without oneDNN."""
    if noise not in ("threads", "layout"):
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(3 if noise == "threads" else before)
    try:
        with torch.backends.mkldnn.flags(enabled=False):
            yield
    finally:
        torch.set_num_threads(before)


def hooked(model: torch.nn.Module) -> None:
    """Noise by hooks of every module: what it returns differs by 1 to 4 units in the last place from what its last
    operator gave, so it shows at the inputs of the next. Its gradient is that of the unchanged value."""
    generator = torch.Generator().manual_seed(11)

    def hook(module: Any, args: Any, out: Any) -> Any:
        return _Near.apply(out, generator) if isinstance(out, torch.Tensor) and out.is_floating_point() else out

    for candidate in model.modules():
        candidate.register_forward_hook(hook)


class _Near(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, value: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        ulps = aten.randint.low_generator(-4, 5, value.shape, generator=generator)
        factor = aten.add.Scalar(aten.mul.Scalar(ulps, torch.finfo(value.dtype).eps / 2), 1)
        return aten._to_copy.default(aten.mul.Tensor(value, factor), dtype=value.dtype)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> Any:
        return gradient, None


def pausing(mode: Kernels, collect: Any) -> Any:
    """`collect`, one of msprobe's own functions, with the mode out of its way."""

    @functools.wraps(collect)
    def paused(*args: Any, **kwargs: Any) -> Any:
        before, mode.is_paused = mode.is_paused, True
        try:
            return collect(*args, **kwargs)
        finally:
            mode.is_paused = before

    return paused
