"""The lines that a migrated Python file needs before its own: where they go and what they say.

They go next to one statement at the top of the module, its anchor: the first import of torch, or else the first
statement. `prelude_occurrences` reports it as a finding, since a diff touches only lines of findings.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.migration.finding import Occurrence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.draft import PreludeName
    from backends.migration.scan.python.module import Module

PRELUDE_RULE = "migrate.prelude"
# Categories to which transfer_to_npu, or a name of the prelude, may matter.
_PRELUDE_CATEGORIES = frozenset(
    ("device_str", "nccl_str", "cuda_api", "cuda_tensor_type", "amp_cuda", "amp_generic", "cuda_method", "is_cuda",
     "device_int", "nccl_api", "nvtx", "profiler_cuda", "cuda_graph", "ddp_device_ids", "dataparallel")
)  # fmt: skip
# Spellings of each name in order of preference; the first that the file does not use is taken.
_NAME_CHOICES: dict[PreludeName, tuple[str, ...]] = {
    "device_type": ("DEVICE_TYPE", "ACCELERATOR_TYPE", "NPU_OR_CUDA"),
    "accelerator": ("accelerator", "device_module", "npu_or_cuda"),
    "backend": ("COLLECTIVE_BACKEND", "HCCL_OR_NCCL"),
    "ranges": ("profiler_ranges", "mstx_or_nvtx"),
}


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """The statement next to which the prelude goes. `torch`: the module's name for torch from there on, "" where it is
    not imported at the top; `after`: the lines go after the statement, otherwise before it; `is_entry`: the file is
    meant to be run."""

    first: int
    last: int
    torch: str
    after: bool
    is_entry: bool


def find_anchor(module: ast.Module) -> Anchor | None:
    """Find the anchor of a module; None where it has no statement."""
    body = _without_head(module.body)
    if not body:
        return None
    entry = _is_entry(body)
    first_torch = next((statement for statement in body if _imports_torch(statement)), None)
    if first_torch is None and _is_stdlib_import(body[0]):
        last = body[0].end_lineno or body[0].lineno
        return Anchor(first=last, last=last, torch="", after=True, is_entry=entry)
    if first_torch is None:
        first = min([body[0].lineno, *(decorator.lineno for decorator in getattr(body[0], "decorator_list", ()))])
        return Anchor(first=first, last=first, torch="", after=False, is_entry=entry)
    name = _torch_name(first_torch)
    last = (first_torch.end_lineno if name else None) or first_torch.lineno
    return Anchor(first=last, last=last, torch=name, after=bool(name), is_entry=entry)


def _without_head(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements after the docstring and the imports from __future__."""
    begin = 0
    for index, statement in enumerate(body):
        is_docstring = not index and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_docstring and not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            break
        begin = index + 1
    return body[begin:]


def _imports_torch(statement: ast.stmt) -> bool:
    """Tell whether a statement imports torch, also inside a `try` or `if`, as a guarded import does."""
    if isinstance(statement, ast.Try | ast.If):
        return any(_imports_torch(nested) for nested in statement.body)
    if isinstance(statement, ast.Import):
        return any(alias.name.partition(".")[0] == "torch" for alias in statement.names)
    return isinstance(statement, ast.ImportFrom) and not statement.level and _is_torch(statement.module)


def _is_stdlib_import(statement: ast.stmt) -> bool:
    """Tell whether a statement imports only from the standard library, which does not lead to torch."""
    if isinstance(statement, ast.Import):
        return all(alias.name.partition(".")[0] in sys.stdlib_module_names for alias in statement.names)
    module = (statement.module or "") if isinstance(statement, ast.ImportFrom) and not statement.level else ""
    return module.partition(".")[0] in sys.stdlib_module_names


def _is_torch(module: str | None) -> bool:
    return (module or "").partition(".")[0] == "torch"


def _torch_name(statement: ast.stmt) -> str:
    """Return the name that a plain import binds torch to, "" where it binds only something else."""
    if not isinstance(statement, ast.Import):
        return ""
    for alias in statement.names:
        if alias.name == "torch" or (alias.name.startswith("torch.") and not alias.asname):
            return alias.asname or "torch"
    return ""


def _is_entry(body: list[ast.stmt]) -> bool:
    """Tell whether a module is meant to be run: it has a guard for __main__, a loop, or a call of one of its functions
    at the top."""
    own = {statement.name for statement in body if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef)}
    return any(
        _is_guard(statement)
        or isinstance(statement, ast.For | ast.While | ast.With)
        or _calls(statement, own | {"main"})
        for statement in body
    )


def _calls(statement: ast.stmt, functions: set[str]) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") in functions


def _is_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__main__" in ast.dump(statement.test)


def prelude_occurrences(module: Module, places: Iterable[Occurrence]) -> Iterator[Occurrence]:
    """Yield the occurrence at the anchor of a file that may need the lines itself, or that is run and imports modules
    of the project, which may."""
    anchor = find_anchor(module.tree)
    if anchor is None:
        return
    has_places = any(may_need(occurrence) or occurrence.category == "attn_impl" for occurrence in places)
    if not has_places and not (anchor.is_entry and _imports_own(module)):
        return
    begin = anchor.first if anchor.after else max(1, anchor.first - 1)  # A diff shows the line before an insertion.
    text = "\n".join(module.lines[begin - 1 : anchor.first])
    args: dict[str, Any] = {"entry": anchor.is_entry}
    yield Occurrence(
        kind="advice",
        path=module.path,
        line=begin,
        end=anchor.first,
        column=0,
        end_column=len(module.lines[anchor.first - 1]),
        category="prelude",
        rule=PRELUDE_RULE,
        name="torch",
        context="import",
        text=text[:200],
        args=args,
    )


def may_need(occurrence: Occurrence | ScanFinding) -> bool:
    """Tell whether transfer_to_npu, or a name of the prelude, may matter to a finding."""
    return (
        occurrence.kind == "place"
        and occurrence.category in _PRELUDE_CATEGORIES
        and not occurrence.args.get("npu_branch")
    )


def _imports_own(module: Module) -> bool:
    return any(
        _is_project_module(module, alias.name) for node in module.nodes(ast.Import) for alias in node.names
    ) or any(node.level or _is_project_module(module, node.module or "") for node in module.nodes(ast.ImportFrom))


def _is_project_module(module: Module, name: str) -> bool:
    return module.exports.canonical_name(name, module.path).startswith("/")


@dataclass(frozen=True, kw_only=True)
class PreludeNames:
    """The names that the prelude of one file defines, and the file's name for torch."""

    torch: str
    device_type: str
    accelerator: str
    backend: str
    ranges: str

    def name_for(self, name: PreludeName) -> str:
        return str(getattr(self, name))


def choose_names(anchor: Anchor | None, used_names: frozenset[str]) -> PreludeNames:
    """Choose names that the file does not use yet."""
    names = {name: _free_name(called, used_names) for name, called in _NAME_CHOICES.items()}
    return PreludeNames(torch=anchor.torch if anchor and anchor.torch else "torch", **names)


def _free_name(called: tuple[str, ...], used_names: frozenset[str]) -> str:
    numbered = (f"{called[0]}_{number}" for number in range(2, 1000))
    return next(name for name in (*called, *numbered) if name not in used_names)


def explicit_lines(prelude: PreludeNames, needs: Iterable[PreludeName], *, brings_torch: bool) -> list[str]:
    """Return device-agnostic lines: without torch_npu everything means CUDA as before.

    No device is initialized here: the visible devices may be set later, and processes may still be forked.
    """
    needs = set(needs)
    torch, kind = prelude.torch, prelude.device_type
    lines = ["import torch"] if brings_torch else []
    lines += ["try:", "    import torch_npu  # noqa: F401", "except ImportError:", "    pass"]
    lines.append(f'{kind} = "npu" if hasattr({torch}, "npu") else "cuda"')
    if "accelerator" in needs:
        lines.append(f"{prelude.accelerator} = getattr({torch}, {kind})")
    if "backend" in needs:
        lines.append(f'{prelude.backend} = "hccl" if {kind} == "npu" else "nccl"')
    if "ranges" in needs:
        lines.append(f'{prelude.ranges} = {torch}.npu.mstx if {kind} == "npu" else {torch}.cuda.nvtx')
    return lines


def import_line(module: str, called: PreludeNames, needs: Iterable[PreludeName]) -> str:
    """Return the import of the names that a file needs from the module that has them."""
    usual = choose_names(None, frozenset())
    names = [(usual.name_for(name), called.name_for(name)) for name in _NAME_CHOICES if name in {*needs}]
    return f"from {module} import " + ", ".join(
        name if name == bound else f"{name} as {bound}" for name, bound in names
    )


MINIMAL_LINES = ["import torch_npu  # noqa: F401", "from torch_npu.contrib import transfer_to_npu  # noqa: F401"]
# torch.distributed.broadcast of torch 2.13 takes the first of the numbers; without the variable torch_npu has None.
CAPABILITY_LINES = [
    "import os", 'os.environ.setdefault("TORCH_NPU_DEVICE_CAPABILITY", "8.0")  # torch.distributed.broadcast'
]  # fmt: skip
_BROADCAST = re.compile(r"\bbroadcast(?:_object_list)?\s*\(")


def broadcasts(text: str) -> bool:
    """Tell whether code calls a broadcast of torch.distributed, by its name alone."""
    return "distributed" in text and _BROADCAST.search(text) is not None


def minimal_lines(*, has_broadcast: bool) -> list[str]:
    """Return the lines of the minimal style, without line ends. `has_broadcast`: whether what the script reaches calls
    one."""
    return [*MINIMAL_LINES, *CAPABILITY_LINES] if has_broadcast else MINIMAL_LINES
