"""What transfer_to_npu covers: read with ast from the files of a torch_npu, never imported."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from studio.places import GUEST

if TYPE_CHECKING:
    from collections.abc import Callable

SHIPPED = GUEST / "ascend_studio" / "rehearsal" / "transfer_to_npu.json"
TRANSFER = "torch_npu/contrib/transfer_to_npu.py"
CUDA = "torch_npu/npu/__init__.py"
AMP = "torch_npu/npu/amp/__init__.py"
VERSION = "torch_npu/version.py"
FILES = (TRANSFER, CUDA, AMP, VERSION)
# It lays no list over these: `_patch_cuda` and `_init` name them one by one (torch_npu 2.13.0).
ONE_BY_ONE = frozenset(
    {"CUDAGraph", "DoubleTensor", "default_generators"}
    | {f"memory.{name}" for name in ("_record_memory_history", "_snapshot", "_dump_snapshot")}
    | {f"random.{name}" for name in ("get_rng_state", "set_rng_state", "get_rng_state_all", "set_rng_state_all")}
    | {f"random.{name}" for name in ("manual_seed", "manual_seed_all", "seed", "seed_all", "initial_seed")}
)
AMP_MODULES = ("autocast_mode", "common", "grad_scaler")


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    """`cuda`, `amp`: names laid over torch.cuda and torch.cuda.amp; `device`: functions whose device arguments are
    rewritten; `backend`: those whose backend is; `arguments`: which keywords hold a device."""

    source: str = ""
    version: str = ""
    cuda: frozenset[str] = frozenset()
    amp: frozenset[str] = frozenset()
    device: frozenset[str] = frozenset()
    backend: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()

    def overlaid(self, name: str) -> bool:
        """Whether a name of torch.cuda is the NPU's own after transfer_to_npu; torch.cuda itself is."""
        rest = name.removeprefix("torch.cuda").removeprefix(".")
        head, _, tail = rest.partition(".")
        if head == "amp":
            first, _, deeper = tail.partition(".")
            return first in ("", *AMP_MODULES) or first in self.amp or deeper in self.amp
        return rest == "" or head in self.cuda or rest in ONE_BY_ONE or head in ("CUDAGraph", "DoubleTensor")


@lru_cache(maxsize=1)
def shipped() -> Transfer:
    return msgspec.json.decode(SHIPPED.read_bytes(), type=Transfer)


def covered(read: Callable[[str], str]) -> dict[str, Any]:
    """`read` gives the text of one of FILES. Raises SyntaxError, ValueError or KeyError where it is another layout."""
    trees = {name: ast.parse(read(name)) for name in FILES}
    names = _lists(trees[TRANSFER])
    begin = next(one for one in trees[TRANSFER].body if isinstance(one, ast.FunctionDef) and one.name == "_init")
    wrapped = [pair for one in begin.body for node in ast.walk(one) for pair in _wrapped(node, names)]
    return {
        "source": f"torch_npu {_version(trees)}: {', '.join(FILES[:-1])}",
        "version": _version(trees),
        "cuda": _lists(trees[CUDA])["__all__"],
        "amp": _lists(trees[AMP])["__all__"],
        "device": sorted({path for how, path in wrapped if how == "_wrapper_cuda"}),
        "backend": sorted({path for how, path in wrapped if how == "_wrapper_hccl"}),
        "arguments": names["device_kwargs_list"],
    }


def _version(trees: dict[str, ast.Module]) -> str:
    (version,) = (
        ast.literal_eval(one.value)
        for one in trees[VERSION].body
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "__version__"
    )
    return str(version)


def _lists(tree: ast.Module) -> dict[str, list[str]]:
    assigned = (one for one in tree.body if isinstance(one, ast.Assign) and isinstance(one.value, ast.List))
    return {ast.unparse(one.targets[0]): ast.literal_eval(one.value) for one in assigned}


def _wrapped(node: ast.AST, names: dict[str, list[str]]) -> list[tuple[str, str]]:
    """(wrapper, path) of `_device_wrapper(torch.x, [names])` and of `torch.x.y = _wrapper(torch.x.y)`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "_device_wrapper":
        listed = node.args[1]
        found = names[listed.id] if isinstance(listed, ast.Name) else ast.literal_eval(listed)
        pairs = [("_wrapper_cuda", f"{ast.unparse(node.args[0])}.{name}") for name in found]
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
        used = {one.id for one in ast.walk(node.value.func) if isinstance(one, ast.Name)}
        pairs = [(name, ast.unparse(node.targets[0])) for name in sorted(used)]
        pairs += [(one.id, ast.unparse(node.targets[0])) for one in _composed(node.value)]
    else:
        return []
    return [(how, path) for how, path in pairs if path.startswith("torch.")]


def _composed(call: ast.Call) -> list[ast.Name]:
    inner = call.func.args if isinstance(call.func, ast.Call) else []
    return [one for one in inner if isinstance(one, ast.Name)]
