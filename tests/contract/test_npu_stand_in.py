"""What stands in for torch.npu in a rehearsal, held against the source of the wheel."""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from studio.paths import GUEST

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(GUEST))
    from importlib import import_module

    yield import_module("ascend_studio.rehearsal.npu_parts")
    for name in [name for name in sys.modules if name.partition(".")[0] == "ascend_studio"]:
        del sys.modules[name]


def source(wheel: Path, name: str) -> ast.Module:
    with zipfile.ZipFile(wheel) as opened:
        return ast.parse(opened.read(f"torch_npu/{name}"))


def function(tree: ast.Module, name: str) -> Any:
    """A function of the wheel by itself: it needs no more than these modules."""
    (found,) = (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == name)
    cached = {"_cached_device_capability": None, "_cached_device_capability_env": None}
    space: dict[str, Any] = {"os": os, "re": re, "warnings": warnings, **cached}
    exec(compile(ast.Module(body=[found], type_ignores=[]), name, "exec"), space)
    return space[name]


@pytest.mark.parametrize("given", [None, "", "8.0", "9.12", "8", "v8.0", "8.0.1", " 8.0"])
def test_that_the_capability_is_what_the_wheel_says(
    wheel: Path, parts: ModuleType, monkeypatch: pytest.MonkeyPatch, given: str | None
) -> None:
    theirs = function(source(wheel, "npu/__init__.py"), "get_device_capability")
    monkeypatch.delenv(parts.CAPABILITY, raising=False)
    if given is not None:
        monkeypatch.setenv(parts.CAPABILITY, given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert parts.capability() == theirs()


def test_that_marks_take_what_the_wheel_takes(wheel: Path, parts: ModuleType) -> None:
    (theirs,) = (
        one for one in source(wheel, "npu/mstx.py").body if isinstance(one, ast.ClassDef) and one.name == "mstx"
    )
    known = {
        one.name: [argument.arg for argument in one.args.args]
        for one in theirs.body
        if isinstance(one, ast.FunctionDef)
    }
    ours = {
        name: list(inspect.signature(getattr(parts.mstx, name)).parameters)
        for name in vars(parts.mstx)
        if not name.startswith("_")
    }
    assert ours == known


def test_that_settings_refuse_what_the_wheel_refuses(wheel: Path, parts: ModuleType) -> None:
    text = ast.unparse(source(wheel, "npu/npu_config.py"))
    assert "allow_hf32 must be a bool, but got" in text
    with pytest.raises(TypeError, match="must be a bool"):
        parts.Settings().allow_hf32 = 1
    settings = parts.Settings(True)
    assert settings.allow_hf32 is True
    assert settings.anything is None


def test_that_properties_have_the_names_of_the_wheel(wheel: Path, parts: ModuleType) -> None:
    with zipfile.ZipFile(wheel) as opened:
        library = opened.read("torch_npu/lib/libtorch_npu.so")
    names = [name for name in vars(parts.Properties) if not name.startswith("_")]
    assert not [name for name in names if f"\0{name}\0".encode() not in library]
    for name in ("maxThreadsPerBlock", "total_constant_memory", "clock_rate"):
        assert f"\0{name}\0".encode() not in library


def test_that_hccl_is_the_backend_of_an_npu_in_the_wheel_too(wheel: Path) -> None:
    text = ast.unparse(source(wheel, "_init/registry/distributed.py"))
    calls = re.findall(r"Backend\.register_backend\('(\w+)'.*devices=\['(\w+)'\]", text)
    assert calls[0] == ("hccl", "npu")  # the first that is registered for a device is its default


def documented(wheel: Path) -> dict[str, str]:
    """The documentation of each operator in the wheel."""
    with zipfile.ZipFile(wheel) as opened:
        text = opened.read("torch_npu/_op_plugin_docs.py")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes in its texts
        tree = ast.parse(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) > 1]
    texts = [[one.value for one in call.args if isinstance(one, ast.Constant)] for call in calls]
    return {name: text for name, text, *_ in (words for words in texts if len(words) > 1)}


def formulas() -> dict[str, Any]:
    from importlib import import_module

    torch = pytest.importorskip("torch")
    return dict(import_module("ascend_studio.fused").operators(torch))


def test_that_fused_operators_take_the_arguments_of_the_wheel_in_their_order(wheel: Path, parts: ModuleType) -> None:
    texts, checked = documented(wheel), 0
    for name, formula in formulas().items():
        signature = re.search(rf"(?<!\w){name}\(([^)]*)\)", texts.get(name, ""))
        if signature:
            words = [word.partition("=")[0].split()[-1] for word in signature[1].split(",") if word.strip(" *")]
            ours = list(inspect.signature(formula).parameters)
            if name != "npu_format_cast_":  # its text names the overload that takes a tensor
                assert ours[1 : len(words)] == words[1:], name  # the texts call the first tensor self, x or input
            checked += 1
    assert checked > 18


def test_that_fused_optimizers_take_the_arguments_of_the_wheel_in_their_order(wheel: Path, parts: ModuleType) -> None:
    from importlib import import_module

    files = {"SGD": "sgd", "Adam": "adam", "AdamW": "adamw", "RMSprop": "rmsprop", "Adadelta": "adadelta"}
    for name, (base, names, _) in import_module("ascend_studio.fused.optimizers").FORMULAS.items():
        tree = source(wheel, f"optim/npu_fused_{files[base]}.py")
        (made,) = (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == "__init__")
        assert [argument.arg for argument in made.args.args] == ["self", "params", "lr", *names], name
