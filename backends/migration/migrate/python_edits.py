"""The edit for a finding in Python code, by style and category."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import msgspec

from backends.migration.migrate import (
    amp_edits,
    method_edits,
    name_edits,
    requirement_edits,
    string_edits,
    string_literals,
    text_edits,
    variable_edits,
)
from backends.migration.migrate.draft import BACKEND, DEVICE_TYPE, NO_NAMES, RANGES, Draft, option_group, variable_group

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.changes import Style
    from backends.migration.migrate.draft import PreludeName
    from backends.migration.migrate.prelude import PreludeNames
    from backends.migration.migrate.syntax_tree import SyntaxTree

    Editor: TypeAlias = Callable[[SyntaxTree, ScanFinding, PreludeNames], list[Draft] | None]

# Findings of these categories need no edit for a result that runs on either device.
_DEVICE_AGNOSTIC = frozenset(
    ("backend_cuda", "cudnn", "ddp_device_ids", "torch_compile", "jit", "custom_ext_load", "cpp_binding")
)
_COMPILED = re.compile(r"\bjit\.(?:script|export|unused)|\bscript(?:_method|_if_tracing)?\b|\btriton\.jit\b")
_QUOTED = re.compile(r"[rbuf]{0,2}['\"]", re.IGNORECASE)
_ATTENTION = ("flash_attention_2", "flash_attention_3")


def edit_python(tree: SyntaxTree, finding: ScanFinding, style: Style, prelude: PreludeNames) -> list[Draft] | None:
    """Return the drafts for a finding: None where there is no safe edit, an empty list where there is nothing to
    edit."""
    if finding.context == "command" and not _QUOTED.match(tree.source.text, tree.span_of_finding(finding)[0]):
        return _edit_command(tree, finding, style)
    if finding.category == "req_torch":
        return requirement_edits.edit_requirement(tree.source, finding, style)
    literal = string_edits.find_literal(tree, tree.nodes_inside(finding, ast.expr)) if _is_text(tree, finding) else None
    if finding.rule == "place.npu_branch":
        return []
    if finding.state in ("manual", "none"):  # Only transfer_to_npu switches torch.jit off.
        return [] if finding.category == "jit" and style == "explicit" else None
    if (
        _is_guarded(tree, finding)
        or _is_annotation(tree, finding)
        or (literal is not None and _names_itself(tree, literal))
    ):
        return []
    if style == "minimal":
        return _edit_minimal(tree, finding, literal, prelude) if finding.state == "edit" else []
    if _is_compiled(tree, finding):
        return None
    if literal is not None:
        return _edit_explicit_text(tree, finding, literal, prelude)
    editor = _EXPLICIT_EDITORS.get(finding.category)
    if editor is not None:
        return editor(tree, finding, prelude)
    # Without transfer_to_npu the profiler sees no NPU.
    is_done = finding.effort == 0 and finding.category != "profiler_cuda"
    return [] if finding.category in _DEVICE_AGNOSTIC or is_done else None


def _edit_command(tree: SyntaxTree, finding: ScanFinding, style: Style) -> list[Draft] | None:
    """Edit part of a command line inside a string as a script is edited."""
    inner = msgspec.structs.replace(finding, context=str(finding.args.get("inner", "")))
    drafts = text_edits.edit_text(tree.source, inner, style)
    is_filled_in_twice = any(draft.begin == draft.end and re.search(r"[%{]", draft.text) for draft in drafts or ())
    return None if is_filled_in_twice else drafts


def _is_guarded(tree: SyntaxTree, finding: ScanFinding) -> bool:
    """Tell whether a finding is in `… if … == "npu" else …`, whose author has seen to it."""
    node = tree.node_around(finding, ast.IfExp)
    return node is not None and (string_edits.mentions_npu(node.test) or string_edits.mentions_npu(node.body))


def _is_annotation(tree: SyntaxTree, finding: ScanFinding) -> bool:
    """Tell whether a finding only states a type: torch has the classes of torch.cuda on every host."""
    if finding.category not in ("cuda_api", "cuda_tensor_type"):
        return False
    node: ast.AST | None = tree.node_around(finding, ast.expr)
    for parent in tree.ancestors(node) if node is not None else ():
        if node in (getattr(parent, "annotation", None), getattr(parent, "returns", None)):
            return True
        if isinstance(parent, ast.stmt | ast.Call):
            return False
        node = parent
    return False


def _is_compiled(tree: SyntaxTree, finding: ScanFinding) -> bool:
    """Tell whether a finding is in a function for TorchScript or Triton, where module variables are unknown."""
    node: ast.AST | None = tree.node_around(finding, ast.expr)
    for parent in tree.ancestors(node) if node is not None else ():
        if isinstance(parent, ast.FunctionDef) and node in parent.body:
            return any(_COMPILED.search(tree.text(decorator)) for decorator in parent.decorator_list)
        node = parent
    return False


def _names_itself(tree: SyntaxTree, literal: ast.expr) -> bool:
    """Tell whether a literal is a member of an enumeration such as CUDA = "cuda", which says what cuda is called."""
    parent = tree.parent(literal)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else getattr(parent, "target", None)
    called = target.id if isinstance(target, ast.Name) else ""
    return isinstance(parent, ast.Assign | ast.AnnAssign) and called.lower() == string_literals.literal_value(
        tree.text(literal)
    )


def _is_text(tree: SyntaxTree, finding: ScanFinding) -> bool:
    """Tell whether a finding is a string, rather than a call or name that contains one."""
    begin, _ = tree.span_of_finding(finding)
    if finding.context in ("getattr", "hasattr"):
        return bool(finding.name == name_edits.CUDA)
    outer = next(iter(tree.nodes_inside(finding, ast.expr)), None)
    if isinstance(outer, ast.Constant | ast.JoinedStr | ast.BinOp):
        return True
    return finding.category in ("device_str", "nccl_str", "cuda_env", "attn_impl") and outer is not None and begin >= 0


def _edit_explicit_text(
    tree: SyntaxTree, finding: ScanFinding, literal: ast.expr, prelude: PreludeNames
) -> list[Draft] | None:
    if finding.category in _TEXT_EDITORS:
        return _TEXT_EDITORS[finding.category](tree, finding, literal, prelude)
    if string_edits.has_npu_alternative(tree, literal):
        return []
    return _grouped(tree, literal, string_edits.edit_explicit(tree, literal, prelude))


def _edit_minimal(
    tree: SyntaxTree, finding: ScanFinding, literal: ast.expr | None, prelude: PreludeNames
) -> list[Draft] | None:
    if finding.category == "cuda_method":
        return method_edits.edit_cuda_method(tree, finding, prelude)
    if literal is None:
        return _edit_nvtx(tree, finding, f"{prelude.torch}.npu.mstx", NO_NAMES) if finding.category == "nvtx" else None
    if finding.category in _TEXT_EDITORS:
        return _TEXT_EDITORS[finding.category](tree, finding, literal, None)
    if string_edits.has_npu_alternative(tree, literal):
        return []
    return _grouped(tree, literal, string_edits.edit_minimal(tree, literal))


def _edit_variable(
    tree: SyntaxTree, finding: ScanFinding, literal: ast.expr, prelude: PreludeNames | None
) -> list[Draft] | None:
    if finding.state == "auto":
        return []
    drafts = variable_edits.edit_variable(tree, literal, explicit=prelude is not None)
    group = variable_group(str(ast.literal_eval(literal))) if drafts else ""
    return drafts and [_with_group(draft, group) for draft in drafts]


def _edit_attention(
    tree: SyntaxTree, finding: ScanFinding, literal: ast.expr, prelude: PreludeNames | None
) -> list[Draft] | None:
    """Replace FlashAttention by torch's scaled dot product attention. Code that only compares or lists the name
    stays."""
    raw = tree.text(literal)
    value = string_literals.literal_value(raw)
    if finding.state != "edit" or string_edits.literal_use(tree, literal) != "plain":
        return []
    if value not in _ATTENTION:
        return None
    begin, end = tree.span(literal)
    other = raw.replace(value, "sdpa")
    if prelude is None:
        return [Draft(begin=begin, end=end, text=other)]
    if not isinstance(tree.parent(literal), ast.keyword | ast.Assign | ast.AnnAssign | ast.Call | ast.Return):
        return None
    text = f'{other} if {prelude.device_type} == "npu" else {raw}'
    return [Draft(begin=begin, end=end, text=text, needs=DEVICE_TYPE)]


# Editors of texts that are neither a device nor a backend; the prelude is None in the minimal style.
_TEXT_EDITORS = {"cuda_env": _edit_variable, "attn_impl": _edit_attention}


def _with_group(draft: Draft, group: str) -> Draft:
    return Draft(begin=draft.begin, end=draft.end, text=draft.text, needs=draft.needs, group=group)


def _grouped(tree: SyntaxTree, literal: ast.expr, drafts: list[Draft] | None) -> list[Draft] | None:
    """Put the edits of an option's values into a group with the scripts and files that set the option."""
    group = group_of_option(tree, literal)
    return drafts if not group or drafts is None else [_with_group(draft, group) for draft in drafts]


def group_of_option(tree: SyntaxTree, literal: ast.expr) -> str:
    """Return the group of the argparse option whose choices or default hold the literal, "" where there is none."""
    node: ast.AST = literal
    for parent in tree.ancestors(literal):
        if isinstance(parent, ast.Call) and isinstance(node, ast.keyword) and node.arg in ("choices", "default"):
            spellings = [
                argument.value
                for argument in parent.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            ]
            longest = max(spellings, key=len, default="")
            return option_group(longest) if getattr(parent.func, "attr", "") == "add_argument" else ""
        if isinstance(parent, ast.stmt):
            break
        node = parent
    return ""


def _edit_api(tree: SyntaxTree, finding: ScanFinding, prelude: PreludeNames) -> list[Draft] | None:
    if finding.context == "import":
        statement = tree.node_around(finding, ast.stmt) or next(iter(tree.nodes_inside(finding, ast.stmt)), None)
        return name_edits.edit_import(tree, statement, prelude) if statement is not None else None
    if finding.context in ("getattr", "hasattr"):
        return name_edits.edit_getattr(tree, finding, prelude)
    node = name_edits.find_name(tree, finding)
    return None if node is None else name_edits.replace_cuda(tree, node, finding.name, prelude)


def _edit_ranges(tree: SyntaxTree, finding: ScanFinding, prelude: PreludeNames) -> list[Draft] | None:
    return _edit_nvtx(tree, finding, prelude.ranges, RANGES)


def _edit_nvtx(tree: SyntaxTree, finding: ScanFinding, text: str, needs: frozenset[PreludeName]) -> list[Draft] | None:
    node = name_edits.find_name(tree, finding)
    return None if node is None else name_edits.edit_nvtx(tree, node, finding.name, text, needs)


def _edit_nccl(tree: SyntaxTree, finding: ScanFinding, prelude: PreludeNames) -> list[Draft] | None:
    """Turn `dist.is_nccl_available()` into `dist.is_backend_available(…)`."""
    node = name_edits.find_name(tree, finding)
    call = tree.parent(node) if node is not None else None
    if not finding.name.endswith(".is_nccl_available") or not isinstance(node, ast.Attribute):
        return None
    if not isinstance(call, ast.Call) or call.func is not node or not name_edits.is_as_written(tree, node):
        return None
    end = tree.span(node)[1]
    backend_edits = name_edits.insert_first_argument(tree, call, prelude.backend, BACKEND)
    renamed = Draft(begin=end - len("is_nccl_available"), end=end, text="is_backend_available")
    return None if backend_edits is None else [renamed, *backend_edits]


def _edit_generic_amp(tree: SyntaxTree, finding: ScanFinding, prelude: PreludeNames) -> list[Draft] | None:
    """Edit torch.amp. The device in torch.autocast("cuda") may also be a finding of its own; the same edit twice
    counts once."""
    literals = [node for node in tree.nodes_inside(finding, ast.Constant) if node.value == "cuda"]
    if literals:
        return string_edits.edit_explicit(tree, literals[0], prelude)
    return amp_edits.edit_generic_amp(tree, finding, prelude)


_EXPLICIT_EDITORS: dict[str, Editor] = {
    "cuda_api": _edit_api,
    "cuda_tensor_type": _edit_api,
    "amp_cuda": amp_edits.edit_cuda_amp,
    "amp_generic": _edit_generic_amp,
    "cuda_method": method_edits.edit_cuda_method,
    "is_cuda": method_edits.edit_is_cuda,
    "device_int": method_edits.edit_device_arguments,
    "nccl_api": _edit_nccl,
    "nvtx": _edit_ranges,
}
