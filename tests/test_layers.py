"""`ui -> backends -> studio`: who may import whom, read from the source."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from backends import features
from studio.feature import load
from studio.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

SHARED_ROOMS = {"widgets", "form", "services"}
ROOMS = {
    "widgets": {"widgets"},
    "form": {*SHARED_ROOMS},
    "services": {"widgets", "services"},
    "shell": {*SHARED_ROOMS, "shell"},
    "app.py": {*SHARED_ROOMS, "shell"},
}
"""What each room of the window may import of `ui`; a feature its own folder and the shared rooms."""
MAX_MODULES = 30
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
        if relative.startswith(f"{name}/"):
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


def test_that_no_feature_of_the_window_imports_another() -> None:
    wrong = []
    for path in sources("ui"):
        room = path.relative_to(ROOT / "ui").parts[0]
        allowed = ROOMS.get(room, {*SHARED_ROOMS, room})
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "ui" and len(parts) > 1 and parts[1] not in allowed:
                wrong.append(f"{path.relative_to(ROOT)}: {name}")
    assert not wrong


def test_that_the_shared_rooms_of_the_window_know_no_feature() -> None:
    """What they need of a feature's back end is in `backends/common` or named by the manifest."""
    features = {path.parent.name for path in (ROOT / "backends").glob("*/__init__.py")} - {"common"}
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for room in (*SHARED_ROOMS, "shell", "home", "help")
        for path in sources(f"ui/{room}")
        for name in imports(path)
        if name.startswith("backends.") and name.split(".")[1] in features
    ]
    assert not wrong


def test_that_a_manifest_names_modules_of_its_own_feature_only() -> None:
    wrong = []
    for path in (ROOT / "backends").glob("*/__init__.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and ":" in node.value:
                parts = node.value.partition(":")[0].split(".")
                if parts[0] in ("ui", "backends") and parts[1:2] != [path.parent.name]:
                    wrong.append(f"{path.parent.name}: {node.value}")
    assert not wrong


def test_that_all_that_manifests_name_is_there() -> None:
    for feature in features():
        names = [feature.page_function, feature.step]
        names += [name for action in feature.actions for name in (action.work, action.answer, action.card)]
        for opener in feature.opens:
            names += [opener.open, opener.is_certain, opener.is_probable, opener.is_inside]
        names += [step.do for step in feature.first_steps]
        assert all(callable(load(name)) for name in names if name), feature.id


def test_that_no_modules_import_each_other_while_they_load() -> None:
    """Imports inside functions, under TYPE_CHECKING and under `if False` are not run at load time."""
    modules_by_name = _modules()
    graph = {name: set(_loaded_modules(path, modules_by_name)) for name, path in modules_by_name.items()}
    while leaves := {name for name, modules in graph.items() if not modules}:
        graph = {name: modules - leaves for name, modules in graph.items() if name not in leaves}
    # What is left are the cycles and whatever imports them: the latter are taken off from the other end.
    while unused := set(graph) - set().union(*graph.values()):
        graph = {name: modules for name, modules in graph.items() if name not in unused}
    assert not sorted(graph)


def _modules() -> dict[str, Path]:
    """All our modules by the name under which they are imported."""
    roots = {"studio/guest": ROOT / "studio/guest", "backends/launch/engine": ROOT / "backends/launch/engine"}
    modules = {}
    for folder in ("studio", "backends", "ui"):
        for path in sources(folder):
            root = roots.get(layer_of(path), ROOT)
            modules[".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")] = path
    return modules


def _loaded_modules(path: Path, known: Container[str]) -> Iterator[str]:
    """Those of the known modules that are imported while a file is loaded."""
    pending: list[ast.AST] = list(ast.parse(path.read_text(encoding="utf-8")).body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (
                name if name in known else node.module for name in names if name in known or node.module in known
            )
        elif isinstance(node, ast.ClassDef | ast.Try | ast.With):
            pending += node.body
        elif isinstance(node, ast.If):
            is_typing = ast.unparse(node.test) in ("TYPE_CHECKING", "False")  # the guest does without the name
            pending += node.orelse if is_typing else [*node.body, *node.orelse]


def test_that_no_folder_holds_more_modules_than_one_can_survey() -> None:
    counts: dict[str, int] = {}
    for folder in ("studio", "backends", "ui"):
        for path in sources(folder):
            if path.name != "__init__.py":
                name = path.parent.relative_to(ROOT).as_posix()
                counts[name] = counts.get(name, 0) + 1
    assert not {name: count for name, count in counts.items() if count > MAX_MODULES}


def test_that_only_series_and_their_columns_need_numpy_in_the_engine_room() -> None:
    users = [path.name for path in sources("studio") if "numpy" in {name.split(".")[0] for name in imports(path)}]
    assert users == ["columns.py", "series.py"]


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


def test_that_git_is_started_in_one_place() -> None:
    """Its policy keeps git from running what a repository names: see `studio/git`."""
    starters = [
        path.relative_to(ROOT).as_posix()
        for folder in ("studio", "backends", "ui")
        for path in sources(folder)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (words := node.elts if isinstance(node, ast.List | ast.Tuple) else getattr(node, "args", None))
        and isinstance(words, list)
        and isinstance(words[0], ast.Constant)
        and re.match(r"(/\S*/)?git( |$)", str(words[0].value))
    ]
    assert starters == ["studio/git/calls.py"]


def test_that_no_test_module_imports_another() -> None:
    """Whatever two of them need is in a module without tests."""
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources("tests")
        for name in imports(path)
        if name.startswith("tests.") and name.rpartition(".")[2].startswith("test_")
    ]
    assert not wrong
