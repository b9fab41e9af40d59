"""The lines that a migrated Python file needs before its own: where they stand and what they say.

They stand beside one statement at the top of the module, its anchor: the first import of torch, or else the first
statement of all. `prelude_places` reports it as a finding, since a diff touches lines of findings only.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.migration.found import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backends.migration.found import Found
    from backends.migration.migrate.changes import Style
    from backends.migration.migrate.draft import Name
    from backends.migration.scan.python.module import Module

RULE = "migrate.prelude"
# Categories that transfer_to_npu, or a name of the prelude, may matter to.
_NAMED = frozenset(
    ("device_str", "nccl_str", "cuda_api", "cuda_tensor_type", "amp_cuda", "amp_generic", "cuda_method", "is_cuda",
     "device_int", "nccl_api", "nvtx", "profiler_cuda", "cuda_graph", "ddp_device_ids", "dataparallel")
)  # fmt: skip
# What a name is called, in order of preference: the first that the file does not use.
_CALLED: dict[Name, tuple[str, ...]] = {
    "device_type": ("DEVICE_TYPE", "ACCELERATOR_TYPE", "NPU_OR_CUDA"),
    "accelerator": ("accelerator", "device_module", "npu_or_cuda"),
    "backend": ("COLLECTIVE_BACKEND", "HCCL_OR_NCCL"),
    "ranges": ("profiler_ranges", "mstx_or_nvtx"),
}


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """`torch`: what the module calls torch from there on, "" where it does not import it at its top. `after`: the
    lines go behind the statement, else before it. `is_entry`: the file is made to be run."""

    first: int
    last: int
    torch: str
    after: bool
    is_entry: bool


def anchor_of(module: ast.Module) -> Anchor | None:
    """None for a module without a statement."""
    body = _without_head(module.body)
    if not body:
        return None
    entry = _is_entry(body)
    first_torch = next((one for one in body if _imports_torch(one)), None)
    if first_torch is None and _is_of_python(body[0]):
        last = body[0].end_lineno or body[0].lineno
        return Anchor(first=last, last=last, torch="", after=True, is_entry=entry)
    if first_torch is None:
        first = min([body[0].lineno, *(one.lineno for one in getattr(body[0], "decorator_list", ()))])
        return Anchor(first=first, last=first, torch="", after=False, is_entry=entry)
    name = _bound_by(first_torch)
    last = (first_torch.end_lineno if name else None) or first_torch.lineno
    return Anchor(first=last, last=last, torch=name, after=bool(name), is_entry=entry)


def _without_head(body: list[ast.stmt]) -> list[ast.stmt]:
    """Behind the docstring and the imports from __future__."""
    begin = 0
    for index, one in enumerate(body):
        is_docstring = not index and isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        if not is_docstring and not (isinstance(one, ast.ImportFrom) and one.module == "__future__"):
            break
        begin = index + 1
    return body[begin:]


def _imports_torch(statement: ast.stmt) -> bool:
    """Also in a `try` or `if` at the top, as a guarded import is."""
    if isinstance(statement, ast.Try | ast.If):
        return any(_imports_torch(one) for one in statement.body)
    if isinstance(statement, ast.Import):
        return any(alias.name.partition(".")[0] == "torch" for alias in statement.names)
    return isinstance(statement, ast.ImportFrom) and not statement.level and _is_torch(statement.module)


def _is_of_python(statement: ast.stmt) -> bool:
    """An import of the standard library, which leads to no torch."""
    if isinstance(statement, ast.Import):
        return all(alias.name.partition(".")[0] in sys.stdlib_module_names for alias in statement.names)
    module = (statement.module or "") if isinstance(statement, ast.ImportFrom) and not statement.level else ""
    return module.partition(".")[0] in sys.stdlib_module_names


def _is_torch(module: str | None) -> bool:
    return (module or "").partition(".")[0] == "torch"


def _bound_by(statement: ast.stmt) -> str:
    """What a plain import calls torch itself; "" where it binds something else only."""
    if not isinstance(statement, ast.Import):
        return ""
    for alias in statement.names:
        if alias.name == "torch" or (alias.name.startswith("torch.") and not alias.asname):
            return alias.asname or "torch"
    return ""


def _is_entry(body: list[ast.stmt]) -> bool:
    """A guard for __main__, a loop, or a call of a function of its own, at the top."""
    own = {one.name for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
    return any(
        _is_guard(one) or isinstance(one, ast.For | ast.While | ast.With) or _calls(one, own | {"main"}) for one in body
    )


def _calls(statement: ast.stmt, functions: set[str]) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") in functions


def _is_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__main__" in ast.dump(statement.test)


def prelude_places(module: Module, places: Iterable[Place]) -> Iterator[Place]:
    """The finding at the anchor of a file with places that may need the lines, or that is run and imports others of
    the project, which may have such places."""
    anchor = anchor_of(module.tree)
    if anchor is None:
        return
    has_places = any(may_need(place) or place.category == "attn_impl" for place in places)
    if not has_places and not (anchor.is_entry and _imports_own(module)):
        return
    begin = anchor.first if anchor.after else max(1, anchor.first - 1)  # a diff shows the line before an insertion
    text = "\n".join(module.lines[begin - 1 : anchor.first])
    args: dict[str, Any] = {"entry": anchor.is_entry}
    yield Place(
        kind="advice", path=module.path, line=begin, end=anchor.first, column=0,
        end_column=len(module.lines[anchor.first - 1]),
        category="prelude", rule=RULE, name="torch", context="import", text=text[:200], args=args,
    )  # fmt: skip


def may_need(place: Place | Found) -> bool:
    """Whether transfer_to_npu, or a name of the prelude, may matter to it."""
    return place.kind == "place" and place.category in _NAMED


def _imports_own(module: Module) -> bool:
    return any(_is_own(module, alias.name) for node in module.nodes(ast.Import) for alias in node.names) or any(
        node.level or _is_own(module, node.module or "") for node in module.nodes(ast.ImportFrom)
    )


def _is_own(module: Module, name: str) -> bool:
    return module.exports.canonical(name, module.path).startswith("/")


@dataclass(frozen=True, kw_only=True)
class Prelude:
    """What one file's names are called."""

    torch: str
    device_type: str
    accelerator: str
    backend: str
    ranges: str

    def called(self, name: Name) -> str:
        return str(getattr(self, name))


def prelude_of(anchor: Anchor | None, taken: frozenset[str]) -> Prelude:
    names = {name: _free(called, taken) for name, called in _CALLED.items()}
    return Prelude(torch=anchor.torch if anchor and anchor.torch else "torch", **names)


def _free(called: tuple[str, ...], taken: frozenset[str]) -> str:
    numbered = (f"{called[0]}_{number}" for number in range(2, 1000))
    return next(name for name in (*called, *numbered) if name not in taken)


def explicit_lines(prelude: Prelude, needs: Iterable[Name], *, brings_torch: bool) -> list[str]:
    """Device-agnostic: without torch_npu all of it means CUDA as before. No device is asked for here: which ones are
    visible may be said later, and processes may still be forked."""
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


MINIMAL_LINES = ["import torch_npu  # noqa: F401", "from torch_npu.contrib import transfer_to_npu  # noqa: F401"]


def prelude_lines(style: Style, prelude: Prelude, needs: Iterable[Name], *, brings_torch: bool) -> list[str]:
    return MINIMAL_LINES if style == "minimal" else explicit_lines(prelude, needs, brings_torch=brings_torch)
