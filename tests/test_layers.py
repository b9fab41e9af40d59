"""`ui -> backends -> studio`: who may import whom, read from the source."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from studio.places import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FRAMEWORKS = {"mindspore", "torch", "torch_npu"}
QT = {"PySide6", "pyqtgraph"}


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, also inside functions and under TYPE_CHECKING."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def layer_of(path: Path) -> str:
    relative = path.relative_to(ROOT).as_posix()
    for name in ("studio/guest", "backends/launch/engine"):
        if relative.startswith(name):
            return name
    return relative.split("/")[0]


NEVER = {
    "studio": {"ui", "backends", *QT, *FRAMEWORKS},
    "studio/guest": {"ui", "backends", "studio", "numpy", "msgspec", *QT, *FRAMEWORKS},
    "backends": {"ui", *QT, *FRAMEWORKS},
    "backends/launch/engine": {"ui", "backends", "studio", "msgspec", *QT},
    "ui": FRAMEWORKS,
}


@pytest.mark.parametrize("folder", ["studio", "backends", "ui"])
def test_that_no_layer_imports_what_is_above_it(folder: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources(folder)
        if path != ROOT / "studio" / "__main__.py"
        for name in imports(path)
        if name.split(".")[0] in NEVER[layer_of(path)]
    ]
    assert not wrong


def test_that_no_feature_imports_another() -> None:
    features = {path.parent.name for path in (ROOT / "backends").glob("*/__init__.py")} - {"common"}
    wrong = []
    for path in sources("backends"):
        own = path.relative_to(ROOT / "backends").parts[0]
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "backends" and len(parts) > 1 and parts[1] in features - {own}:
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert not wrong


def test_that_only_series_needs_numpy_in_the_engine_room() -> None:
    users = [path.name for path in sources("studio") if "numpy" in {name.split(".")[0] for name in imports(path)}]
    assert users == ["series.py"]


def test_that_the_guest_is_written_in_python_3_7() -> None:
    for path in sources("studio/guest"):
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_that_nothing_is_unpickled_and_nothing_runs_through_a_shell() -> None:
    words = ("pickle", "shell=True", "os.system(", "eval(", "processEvents")
    wrong = [
        f"{path.relative_to(ROOT)}: {word}"
        for folder in ("studio", "backends", "ui")
        for path in sources(folder)
        for word in words
        if word in path.read_text(encoding="utf-8").replace("literal_eval(", "")
    ]
    assert not wrong
