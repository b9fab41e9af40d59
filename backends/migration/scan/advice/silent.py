"""What transfer_to_npu replaces without a word: read in its source, torch_npu 2.13.0."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.advice.seen import folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.advice.seen import Seen

# The two names that become identity; script_if_tracing and trace stay what they are.
SCRIPT = {"torch.jit.script", "torch.jit.script_method"}
HAS_TRITON = {
    "torch.utils._triton.has_triton",
    "torch._dynamo.utils.has_triton",
    "torch._inductor.runtime.autotune_cache.has_triton",
    "torch._inductor.compile_fx.has_triton",
    "torch._inductor.utils.has_triton",
}
DOUBLE = "torch.cuda.DoubleTensor"
MOST = 3


def places(seen: Seen) -> Iterator[Place]:
    yield from folded(_scripts(seen), MOST)
    for call, name in seen.module.calls:
        if name in HAS_TRITON:
            yield from seen.place(call.func, "advice.has_triton", name)
        elif name == "torch.profiler.profile":
            yield from _configured(seen, call)
    yield from _double_tensors(seen)


def _scripts(seen: Seen) -> Iterator[Place]:
    for call, name in seen.module.calls:
        if name in SCRIPT:
            yield from seen.place(call.func, "advice.jit_script", name)
    for decorator in seen.decorators:
        name = seen.name_of(decorator)
        if name in SCRIPT:
            yield from seen.place(decorator, "advice.jit_script", name)


def _configured(seen: Seen, call: ast.Call) -> Iterator[Place]:
    """Its own configuration is kept, any other is dropped."""
    for keyword in call.keywords:
        given = keyword.value
        made = seen.name_of(given.func) if isinstance(given, ast.Call) else ""
        if keyword.arg == "experimental_config" and not (made or "").startswith("torch_npu."):
            yield from seen.place(keyword, "advice.experimental_config", "torch.profiler.profile")


def _double_tensors(seen: Seen) -> Iterator[Place]:
    for node in seen.each(ast.Attribute):
        if node.attr == "DoubleTensor" and seen.name_of(node) == DOUBLE:
            yield from seen.place(node, "advice.double_tensor", DOUBLE)
    for text in seen.each(ast.Constant):
        if text.value == DOUBLE:
            yield from seen.place(text, "advice.double_tensor", DOUBLE)
