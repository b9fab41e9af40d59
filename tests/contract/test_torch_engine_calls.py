"""The calls of the PyTorch engine that only an NPU can run, held against the source of the wheel."""

from __future__ import annotations

import ast
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from backends.launch.launchers import ENGINE
from studio.paths import GUEST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = "torch_npu/npu/"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(GUEST))
    monkeypatch.syspath_prepend(str(ENGINE))
    from importlib import import_module

    device = import_module("ascend_engine.pytorch.device")
    usage = import_module("ascend_engine.resource_usage")
    yield [device.IS_AVAILABLE, device.SET_DEVICE, usage.PEAK_ON_CARD["torch"]]
    for name in [name for name in sys.modules if name.partition(".")[0] in ("ascend_engine", "ascend_studio")]:
        del sys.modules[name]


def functions(wheel: Path) -> dict[str, ast.FunctionDef]:
    """The functions of the modules that `torch_npu.npu` is made of, by name."""
    found = {}
    with zipfile.ZipFile(wheel) as opened:
        names = [name for name in opened.namelist() if name.startswith(PACKAGE) and name.endswith(".py")]
        for name in names:
            tree = ast.parse(opened.read(name))
            found.update({node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)})
    return found


def exported(wheel: Path) -> set[str]:
    """What `torch_npu/npu/__init__.py` defines or imports."""
    with zipfile.ZipFile(wheel) as opened:
        tree = ast.parse(opened.read(PACKAGE + "__init__.py"))
        imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
        whole = [str(node.module) for node in imports if node.names[0].name == "*" and node.level == 1]
        public = [names_of_all(ast.parse(opened.read(f"{PACKAGE}{module}.py"))) for module in whole]
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    return names.union(*public, (node.name for node in tree.body if isinstance(node, ast.FunctionDef)))


def names_of_all(tree: ast.Module) -> set[str]:
    assigned = (node for node in tree.body if isinstance(node, ast.Assign))
    lists = (node.value for node in assigned if ast.unparse(node.targets[0]) == "__all__")
    return {name for names in lists for name in ast.literal_eval(names)}


def test_that_every_call_of_the_pytorch_engine_fits_the_wheel(wheel: Path, calls: list[Any]) -> None:
    known, public = functions(wheel), exported(wheel)
    for call in calls:
        assert call.module == "torch_npu.npu"
        assert call.name in public, call
        parameters = known[call.name].args
        given = len(call.positional) + len(call.kwargs)
        names = [argument.arg for argument in (*parameters.posonlyargs, *parameters.args)]
        assert len(names) - len(parameters.defaults) <= given <= len(names), (call, names)
        assert tuple(names[: len(call.positional)]) == call.positional, (call, names)
