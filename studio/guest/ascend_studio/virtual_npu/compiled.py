"""torch.compile: what takes the graph and runs it as it is works; what generates code for a card is refused."""

from __future__ import annotations

import functools
import sys
from importlib import import_module

from ascend_studio import torch_hooks

if False:
    from typing import Any

MESSAGE = (
    "torch.compile(backend=%r) for npu: a card would have its kernels generated here (torch_npu's inductor by "
    "triton-ascend, the others by the graph compiler of CANN). The virtual NPU has none of these compilers. With "
    'backend="aot_eager" the same graph is captured and runs operator by operator.'
)
_GENERATE = ("inductor", "npu", "npugraph_ex", "torchair", "air", "mfusion", "dvm")


def install(torch: Any) -> None:
    original = torch.compile

    @functools.wraps(original)
    def compile_(*args: Any, **kwargs: Any) -> Any:
        ours = [module for name, module in sys.modules.items() if name.startswith("ascend_studio.")]
        torch_hooks.hide_from_compiler(import_module("torch._dynamo"), ours)
        backend = kwargs.get("backend", "inductor")
        if backend in _GENERATE:
            kwargs["backend"] = _Refusing(torch, backend, kwargs.pop("mode", None), kwargs.pop("options", None))
        return original(*args, **kwargs)

    torch.compile = compile_


class _Refusing:
    """A backend that hands graphs of the CPU on, and refuses those of a card."""

    def __init__(self, torch: Any, name: str, mode: Any, options: Any) -> None:
        self.torch, self.name, self.options = torch, name, dict(options or {})
        if mode:
            self.options.update(torch._inductor.list_mode_options(mode))
        self.__name__ = name

    def __call__(self, graph: Any, inputs: Any, **_options: Any) -> Any:
        tensors = [*inputs, *graph.parameters(), *graph.buffers()]
        if any(getattr(getattr(tensor, "device", None), "type", "") == "npu" for tensor in tensors):
            raise RuntimeError(MESSAGE % self.name)
        if self.name != "inductor":
            return import_module("torch._dynamo.backends.registry").lookup_backend(self.name)(graph, inputs)
        compile_fx = import_module("torch._inductor.compile_fx").compile_fx
        return compile_fx(graph, inputs, config_patches=self.options or None)
