"""Reads from a torch_npu wheel, without importing it, what its transfer_to_npu covers.

`python -m tests.contract.transfer_to_npu WHEEL` writes the guest's table.
"""

from __future__ import annotations

import ast
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

from studio.places import GUEST

TABLE = GUEST / "ascend_studio" / "rehearsal" / "transfer_to_npu.json"
TRANSFER = "torch_npu/contrib/transfer_to_npu.py"


def covered(wheel: Path) -> dict[str, Any]:
    """`cuda`, `amp`: names laid over torch.cuda and torch.cuda.amp; `device`: functions whose device arguments are
    rewritten; `backend`: those whose backend is; `arguments`: which keywords hold a device."""
    with zipfile.ZipFile(wheel) as opened:
        trees = {name: ast.parse(opened.read(name)) for name in opened.namelist() if name.endswith(_READ)}
    names = _lists(trees[TRANSFER])
    begin = next(one for one in trees[TRANSFER].body if isinstance(one, ast.FunctionDef) and one.name == "_init")
    wrapped = [pair for one in begin.body for node in ast.walk(one) for pair in _wrapped(node, names)]
    return {
        "source": f"torch_npu {_version(trees)}: {', '.join(_READ[:-1])}",
        "version": _version(trees),
        "cuda": _lists(trees[_READ[1]])["__all__"],
        "amp": _lists(trees[_READ[2]])["__all__"],
        "device": sorted({path for how, path in wrapped if how == "_wrapper_cuda"}),
        "backend": sorted({path for how, path in wrapped if how == "_wrapper_hccl"}),
        "arguments": names["device_kwargs_list"],
    }


_READ = (TRANSFER, "torch_npu/npu/__init__.py", "torch_npu/npu/amp/__init__.py", "torch_npu/version.py")


def _version(trees: dict[str, ast.Module]) -> str:
    (version,) = (
        ast.literal_eval(one.value)
        for one in trees[_READ[3]].body
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


if __name__ == "__main__":
    TABLE.write_text(json.dumps(covered(Path(sys.argv[1])), indent=1) + "\n", encoding="utf-8")
