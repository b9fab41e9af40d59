"""What transfer_to_npu covers: read with ast from the files of a torch_npu, never imported."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from studio.paths import GUEST

if TYPE_CHECKING:
    from collections.abc import Callable

SHIPPED = GUEST / "ascend_studio" / "rehearsal" / "transfer_to_npu.json"
TRANSFER = "torch_npu/contrib/transfer_to_npu.py"
CUDA = "torch_npu/npu/__init__.py"
AMP = "torch_npu/npu/amp/__init__.py"
VERSION = "torch_npu/version.py"
FILES = (TRANSFER, CUDA, AMP, VERSION)
# It lays no list over these: `_patch_cuda` and `_init` name them one by one (torch_npu 2.13.0).
PATCHED_SINGLY = frozenset(
    {"CUDAGraph", "DoubleTensor", "default_generators"}
    | {f"memory.{name}" for name in ("_record_memory_history", "_snapshot", "_dump_snapshot")}
    | {f"random.{name}" for name in ("get_rng_state", "set_rng_state", "get_rng_state_all", "set_rng_state_all")}
    | {f"random.{name}" for name in ("manual_seed", "manual_seed_all", "seed", "seed_all", "initial_seed")}
)
AMP_MODULES = ("autocast_mode", "common", "grad_scaler")


class TransferCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """`cuda`, `amp`: names laid over torch.cuda and torch.cuda.amp; `device`: functions whose device arguments are
    rewritten; `backend`: those whose backend is; `arguments`: which keywords hold a device."""

    source: str = ""
    version: str = ""
    cuda: frozenset[str] = frozenset()
    amp: frozenset[str] = frozenset()
    device: frozenset[str] = frozenset()
    backend: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()

    def is_overlaid(self, name: str) -> bool:
        """Whether a name of torch.cuda is the NPU's own after transfer_to_npu; torch.cuda itself is."""
        rest = name.removeprefix("torch.cuda").removeprefix(".")
        head, _, tail = rest.partition(".")
        if head == "amp":
            first, _, deeper = tail.partition(".")
            return first in ("", *AMP_MODULES) or first in self.amp or deeper in self.amp
        return rest == "" or head in self.cuda or rest in PATCHED_SINGLY or head in ("CUDAGraph", "DoubleTensor")


@lru_cache(maxsize=1)
def shipped_coverage() -> TransferCoverage:
    return msgspec.json.decode(SHIPPED.read_bytes(), type=TransferCoverage)


def parse_coverage(read_file: Callable[[str], str]) -> dict[str, Any]:
    """`read` gives the text of one of FILES. Raises SyntaxError, ValueError or KeyError where it is another layout."""
    trees = {name: ast.parse(read_file(name)) for name in FILES}
    names = _list_assignments(trees[TRANSFER])
    init_function = next(
        statement
        for statement in trees[TRANSFER].body
        if isinstance(statement, ast.FunctionDef) and statement.name == "_init"
    )
    wrapped = [
        pair for statement in init_function.body for node in ast.walk(statement) for pair in _wrapped_paths(node, names)
    ]
    return {
        "source": f"torch_npu {_version(trees)}: {', '.join(FILES[:-1])}",
        "version": _version(trees),
        "cuda": _list_assignments(trees[CUDA])["__all__"],
        "amp": _list_assignments(trees[AMP])["__all__"],
        "device": sorted({path for wrapper, path in wrapped if wrapper == "_wrapper_cuda"}),
        "backend": sorted({path for wrapper, path in wrapped if wrapper == "_wrapper_hccl"}),
        "arguments": names["device_kwargs_list"],
    }


def _version(trees: dict[str, ast.Module]) -> str:
    (version,) = (
        ast.literal_eval(statement.value)
        for statement in trees[VERSION].body
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__version__"
    )
    return str(version)


def _list_assignments(tree: ast.Module) -> dict[str, list[str]]:
    assigned = (
        statement
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List)
    )
    return {ast.unparse(statement.targets[0]): ast.literal_eval(statement.value) for statement in assigned}


def _wrapped_paths(node: ast.AST, names: dict[str, list[str]]) -> list[tuple[str, str]]:
    """(wrapper, path) of `_device_wrapper(torch.x, [names])` and of `torch.x.y = _wrapper(torch.x.y)`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "_device_wrapper":
        listed = node.args[1]
        functions = names[listed.id] if isinstance(listed, ast.Name) else ast.literal_eval(listed)
        pairs = [("_wrapper_cuda", f"{ast.unparse(node.args[0])}.{name}") for name in functions]
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        used = {node_name.id for node_name in ast.walk(node.value.func) if isinstance(node_name, ast.Name)}
        pairs = [(name, ast.unparse(node.targets[0])) for name in sorted(used)]
        pairs += [(node_name.id, ast.unparse(node.targets[0])) for node_name in _inner_wrappers(node.value)]
    else:
        return []
    return [(wrapper, path) for wrapper, path in pairs if path.startswith("torch.")]


def _inner_wrappers(call: ast.Call) -> list[ast.Name]:
    inner = call.func.args if isinstance(call.func, ast.Call) else []
    return [argument for argument in inner if isinstance(argument, ast.Name)]
