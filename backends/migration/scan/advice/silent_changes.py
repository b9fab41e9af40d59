"""What transfer_to_npu replaces without a word: read in its source, torch_npu 2.13.0."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from backends.migration.scan.advice.module_view import fold_repeats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.advice.module_view import ModuleView


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
MAX_PER_RULE = 3


def advise_silent_changes(view: ModuleView) -> Iterator[Occurrence]:
    yield from fold_repeats(_find_scripts(view), MAX_PER_RULE)
    for call, name in view.module.calls:
        if name in HAS_TRITON:
            yield from view.advise(call.func, "advice.has_triton", name)
        elif name == "torch.profiler.profile":
            yield from _advise_configuration(view, call)
    yield from _advise_double_tensors(view)


def _find_scripts(view: ModuleView) -> Iterator[Occurrence]:
    for call, name in view.module.calls:
        if name in SCRIPT:
            yield from view.advise(call.func, "advice.jit_script", name)
    for decorator in view.decorators:
        name = view.name_of(decorator)
        if name in SCRIPT:
            yield from view.advise(decorator, "advice.jit_script", name)


def _advise_configuration(view: ModuleView, call: ast.Call) -> Iterator[Occurrence]:
    """Its own configuration is kept, any other is dropped."""
    for keyword in call.keywords:
        argument = keyword.value
        function = view.name_of(argument.func) if isinstance(argument, ast.Call) else ""
        if keyword.arg == "experimental_config" and not (function or "").startswith("torch_npu."):
            yield from view.advise(keyword, "advice.experimental_config", "torch.profiler.profile")


def _advise_double_tensors(view: ModuleView) -> Iterator[Occurrence]:
    for node in view.nodes(ast.Attribute):
        if node.attr == "DoubleTensor" and view.name_of(node) == DOUBLE:
            yield from view.advise(node, "advice.double_tensor", DOUBLE)
    for text in view.nodes(ast.Constant):
        if text.value == DOUBLE:
            yield from view.advise(text, "advice.double_tensor", DOUBLE)


NATIVE_TRAINER = "advice.native_trainer"
NPU_AWARE_LIBRARIES = {"accelerate", "transformers", "trl"}
TRAINERS = ("Accelerator", "Trainer")


def advise_native_trainers(view: ModuleView) -> Iterator[Occurrence]:
    """Advise on the first such trainer of a module, created or subclassed there."""
    yield from fold_repeats(_find_trainers(view), 1)


def _find_trainers(view: ModuleView) -> Iterator[Occurrence]:
    bases = (base for node in view.nodes(ast.ClassDef) for base in node.bases)
    for node in (*(call.func for call, _ in view.module.calls), *bases):
        name = view.name_of(node) or ""
        if name.partition(".")[0] in NPU_AWARE_LIBRARIES and name.endswith(TRAINERS):
            yield from view.advise(node, NATIVE_TRAINER, name)


NPU_AWARE = "advice.npu_aware"
_NPU_QUESTION = re.compile(r"(?:^|[._])is_(?:torch_)?npu_available$|^torch\.npu\.|^torch_npu\.")


def advise_npu_support(view: ModuleView) -> Iterator[Occurrence]:
    """Advise on the first place where a module loads torch_npu or asks for an NPU, unless it loads transfer_to_npu."""
    if "npu" in view.module.text and "transfer_to_npu" not in view.module.text:
        yield from fold_repeats(_find_npu_support(view), 1)


def _find_npu_support(view: ModuleView) -> Iterator[Occurrence]:
    for node in view.nodes(ast.Import):
        if any(alias.name.partition(".")[0] == "torch_npu" for alias in node.names):
            yield from view.advise(node, NPU_AWARE, "torch_npu")
    for call, function in view.module.calls:
        if function and _NPU_QUESTION.search(function):
            yield from view.advise(call, NPU_AWARE, function)
