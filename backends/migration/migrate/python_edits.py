"""The edit that a finding in Python code asks for, by style and category."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import msgspec

from backends.migration.migrate import (
    amp,
    contract,
    environment,
    literals,
    methods,
    names,
    requirement,
    strings,
    text_edits,
)
from backends.migration.migrate.draft import BACKEND, DEVICE_TYPE, NOTHING, RANGES, Draft

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from backends.migration.found import Found
    from backends.migration.migrate.changes import Style
    from backends.migration.migrate.draft import Name
    from backends.migration.migrate.prelude import Prelude
    from backends.migration.migrate.tree import Tree

    Editor: TypeAlias = Callable[[Tree, Found, Prelude], list[Draft] | None]

# Under these nothing has to be edited for a result that runs on either device.
_NATIVE = frozenset(
    ("backend_cuda", "cudnn", "ddp_device_ids", "torch_compile", "jit", "custom_ext_load", "cpp_binding")
)
_COMPILED = re.compile(r"\bjit\.(?:script|export|unused)|\bscript(?:_method|_if_tracing)?\b|\btriton\.jit\b")
_QUOTED = re.compile(r"[rbuf]{0,2}['\"]", re.IGNORECASE)
_ATTENTION = ("flash_attention_2", "flash_attention_3")


def edits(tree: Tree, found: Found, style: Style, prelude: Prelude) -> list[Draft] | None:
    """None where there is no safe edit; an empty list where there is nothing to edit."""
    if found.context == "command" and not _QUOTED.match(tree.source.text, tree.where(found)[0]):
        return _command(tree, found, style)
    if found.category == "req_torch":
        return requirement.edits(tree.source, found, style)
    literal = strings.literal_at(tree, tree.inside(found, ast.expr)) if _is_text(tree, found) else None
    if found.state in ("manual", "none"):  # torch.jit is only switched off by transfer_to_npu
        return [] if found.category == "jit" and style == "explicit" else None
    if _is_chosen(tree, found) or _is_type(tree, found) or (literal is not None and _names_itself(tree, literal)):
        return []
    if style == "minimal":
        return _minimal(tree, found, literal, prelude) if found.state == "edit" else []
    if _is_compiled(tree, found):
        return None
    if literal is not None:
        return _explicit_text(tree, found, literal, prelude)
    editor = _EXPLICIT.get(found.category)
    if editor is not None:
        return editor(tree, found, prelude)
    is_done = found.effort == 0 and found.category != "profiler_cuda"  # without transfer_to_npu it sees no NPU
    return [] if found.category in _NATIVE or is_done else None


def _command(tree: Tree, found: Found, style: Style) -> list[Draft] | None:
    """A part of a command line in a string, which is edited as in a script."""
    inner = msgspec.structs.replace(found, context=str(found.args.get("inner", "")))
    drafts = text_edits.edits(tree.source, inner, style)
    is_filled_in_twice = any(one.begin == one.end and re.search(r"[%{]", one.text) for one in drafts or ())
    return None if is_filled_in_twice else drafts


def _is_chosen(tree: Tree, found: Found) -> bool:
    """Whether it stands in `… if … == "npu" else …`, whose author has seen to it."""
    node = tree.around(found, ast.IfExp)
    return node is not None and (strings.names_npu(node.test) or strings.names_npu(node.body))


def _is_type(tree: Tree, found: Found) -> bool:
    """Whether it only says the type of something: torch has the classes of torch.cuda on every host."""
    if found.category not in ("cuda_api", "cuda_tensor_type"):
        return False
    node: ast.AST | None = tree.around(found, ast.expr)
    for parent in tree.above(node) if node is not None else ():
        if node in (getattr(parent, "annotation", None), getattr(parent, "returns", None)):
            return True
        if isinstance(parent, ast.stmt | ast.Call):
            return False
        node = parent
    return False


def _is_compiled(tree: Tree, found: Found) -> bool:
    """Whether it stands in the body of a function for TorchScript or Triton, which know no variable of the module."""
    node: ast.AST | None = tree.around(found, ast.expr)
    for parent in tree.above(node) if node is not None else ():
        if isinstance(parent, ast.FunctionDef) and node in parent.body:
            return any(_COMPILED.search(tree.text(one)) for one in parent.decorator_list)
        node = parent
    return False


def _names_itself(tree: Tree, literal: ast.expr) -> bool:
    """A member of an enumeration such as CUDA = "cuda" says what cuda is called; others say where it is used."""
    parent = tree.parent(literal)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else getattr(parent, "target", None)
    called = target.id if isinstance(target, ast.Name) else ""
    return isinstance(parent, ast.Assign | ast.AnnAssign) and called.lower() == literals.value_of(tree.text(literal))


def _is_text(tree: Tree, found: Found) -> bool:
    """Whether a finding is a string, and no call or name that holds one."""
    begin, _ = tree.where(found)
    if found.context in ("getattr", "hasattr"):
        return bool(found.name == names.CUDA)
    outer = next(iter(tree.inside(found, ast.expr)), None)
    if isinstance(outer, ast.Constant | ast.JoinedStr | ast.BinOp):
        return True
    return found.category in ("device_str", "nccl_str", "cuda_env", "attn_impl") and outer is not None and begin >= 0


def _explicit_text(tree: Tree, found: Found, literal: ast.expr, prelude: Prelude) -> list[Draft] | None:
    if found.category in _OTHER_TEXTS:
        return _OTHER_TEXTS[found.category](tree, found, literal, prelude)
    if strings.has_npu_beside(tree, literal):
        return []
    return _grouped(tree, literal, strings.explicit(tree, literal, prelude))


def _minimal(tree: Tree, found: Found, literal: ast.expr | None, prelude: Prelude) -> list[Draft] | None:
    if literal is None:
        return _nvtx(tree, found, f"{prelude.torch}.npu.mstx", NOTHING) if found.category == "nvtx" else None
    if found.category in _OTHER_TEXTS:
        return _OTHER_TEXTS[found.category](tree, found, literal, None)
    if strings.has_npu_beside(tree, literal):
        return []
    return _grouped(tree, literal, strings.minimal(tree, literal))


def _variable(tree: Tree, found: Found, literal: ast.expr, prelude: Prelude | None) -> list[Draft] | None:
    if found.state == "auto":
        return []
    drafts = environment.edits(tree, literal, explicit=prelude is not None)
    group = contract.of_variable(str(ast.literal_eval(literal))) if drafts else ""
    return drafts and [_with_group(one, group) for one in drafts]


def _attention(tree: Tree, found: Found, literal: ast.expr, prelude: Prelude | None) -> list[Draft] | None:
    """Scaled dot product attention of torch's own. What only asks for the other one, or names it, stays."""
    raw = tree.text(literal)
    value = literals.value_of(raw)
    if found.state != "edit" or strings.use_of(tree, literal) != "plain":
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


# Texts that are neither a device nor a backend; a prelude is there in the explicit style.
_OTHER_TEXTS = {"cuda_env": _variable, "attn_impl": _attention}


def _with_group(draft: Draft, group: str) -> Draft:
    return Draft(begin=draft.begin, end=draft.end, text=draft.text, needs=draft.needs, group=group)


def _grouped(tree: Tree, literal: ast.expr, drafts: list[Draft] | None) -> list[Draft] | None:
    """What an option of the command line takes changes together with what scripts and files hand to it."""
    group = option_of(tree, literal)
    return drafts if not group or drafts is None else [_with_group(one, group) for one in drafts]


def option_of(tree: Tree, literal: ast.expr) -> str:
    """The group of an argparse option whose choices hold the literal, or whose default it is."""
    node: ast.AST = literal
    for parent in tree.above(literal):
        if isinstance(parent, ast.Call) and isinstance(node, ast.keyword) and node.arg in ("choices", "default"):
            spelled = [one.value for one in parent.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            longest = max(spelled, key=len, default="")
            return contract.of_option(longest) if getattr(parent.func, "attr", "") == "add_argument" else ""
        if isinstance(parent, ast.stmt):
            break
        node = parent
    return ""


def _api(tree: Tree, found: Found, prelude: Prelude) -> list[Draft] | None:
    if found.context == "import":
        statement = tree.around(found, ast.stmt) or next(iter(tree.inside(found, ast.stmt)), None)
        return names.imported_module(tree, statement, prelude) if statement is not None else None
    if found.context in ("getattr", "hasattr"):
        return names.fetched(tree, found, prelude)
    node = names.name_at(tree, found)
    return None if node is None else names.replaced(tree, node, found.name, prelude)


def _ranges(tree: Tree, found: Found, prelude: Prelude) -> list[Draft] | None:
    return _nvtx(tree, found, prelude.ranges, RANGES)


def _nvtx(tree: Tree, found: Found, text: str, needs: frozenset[Name]) -> list[Draft] | None:
    node = names.name_at(tree, found)
    return None if node is None else names.ranges(tree, node, found.name, text, needs)


def _nccl(tree: Tree, found: Found, prelude: Prelude) -> list[Draft] | None:
    """`dist.is_nccl_available()` as `dist.is_backend_available(…)`."""
    node = names.name_at(tree, found)
    call = tree.parent(node) if node is not None else None
    if not found.name.endswith(".is_nccl_available") or not isinstance(node, ast.Attribute):
        return None
    if not isinstance(call, ast.Call) or call.func is not node or not names.is_as_written(tree, node):
        return None
    end = tree.span(node)[1]
    given = names.first_argument(tree, call, prelude.backend, BACKEND)
    renamed = Draft(begin=end - len("is_nccl_available"), end=end, text="is_backend_available")
    return None if given is None else [renamed, *given]


def _generic_amp(tree: Tree, found: Found, prelude: Prelude) -> list[Draft] | None:
    """The device of torch.autocast("cuda") may be a finding of its own: the same edit twice is one."""
    found_in = [one for one in tree.inside(found, ast.Constant) if one.value == "cuda"]
    if found_in:
        return strings.explicit(tree, found_in[0], prelude)
    return amp.generic(tree, found, prelude)


_EXPLICIT: dict[str, Editor] = {
    "cuda_api": _api,
    "cuda_tensor_type": _api,
    "amp_cuda": amp.edits,
    "amp_generic": _generic_amp,
    "cuda_method": methods.cuda_method,
    "is_cuda": methods.is_cuda,
    "device_int": methods.device_number,
    "nccl_api": _nccl,
    "nvtx": _ranges,
}
