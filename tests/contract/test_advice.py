"""What the advice says of torch_npu, msprobe, msprof-analyze and MindSpore, held against their own sources.

None of them is imported: the wheel of torch_npu is read as a zip, the others where they are installed.
"""

from __future__ import annotations

import ast
import re
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from backends.migration.scan.advice import silent_changes
from backends.migration.scan.advice.cpu_fallback import OPERATORS
from backends.migration.scan.facts import facts_of_interpreter, kernels

if TYPE_CHECKING:
    from collections.abc import Iterator

TRANSFER = "torch_npu/contrib/transfer_to_npu.py"


def source(wheel: Path, name: str) -> str:
    with zipfile.ZipFile(wheel) as opened:
        return opened.read(name).decode("utf-8")


def package(name: str) -> Path:
    found = find_spec(name)
    if found is None or found.origin is None:
        pytest.skip(f"{name} is not installed")
    return Path(found.origin).parent


def bound(tree: ast.Module) -> set[str]:
    """What a module gives its own name to: definitions, assignments, imports."""
    names = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def options(path: Path) -> set[str]:
    """Words that begin with a hyphen: the options of a parser."""
    strings = (node.value for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Constant))
    return {text for text in strings if isinstance(text, str) and re.fullmatch(r"--?[\w-]+", text)}


def function(path: Path, name: str) -> str:
    tree = ast.parse(path.read_text("utf-8"))
    return ast.unparse(next(one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == name))


def test_that_transfer_to_npu_changes_what_is_said(wheel: Path) -> None:
    text = source(wheel, TRANSFER)
    assert "torch.cuda.DoubleTensor = torch.npu.FloatTensor" in text
    assert "del kwargs['experimental_config']" in text
    assert "def _patch_has_triton(**kwargs):\n    return False" in text
    replaced = {ast.unparse(one.targets[0]) for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Assign)}
    assert replaced >= silent_changes.SCRIPT
    assert {name for name in replaced if name.endswith(".has_triton")} <= silent_changes.HAS_TRITON


def test_that_operators_said_to_fall_back_have_no_kernel(wheel: Path) -> None:
    listed = {name for file in kernels.FILES for name in kernels.parse_supported_operators(source(wheel, file))}
    assert not {operator for operator in OPERATORS.values() if operator in listed}
    facts = facts_of_interpreter(None, None)
    assert {facts.aten_class(operator) for operator in OPERATORS.values()} <= {kernels.FALLBACK, kernels.MAYBE}


def test_that_transfer_to_npu_gives_no_device(wheel: Path) -> None:
    tree = ast.parse(source(wheel, TRANSFER))
    assert "get_npu_device" not in bound(tree)
    assert "current_device" in source(wheel, "torch_npu/npu/__init__.py")


def test_that_the_profiler_has_the_names_that_are_offered_and_not_the_others(wheel: Path) -> None:
    names = bound(ast.parse(source(wheel, "torch_npu/profiler/__init__.py")))
    assert names >= {"profile", "tensorboard_trace_handler", "_ExperimentalConfig", "ProfilerLevel"}
    assert not names & {"Profiler", "ExperimentalConfig"}
    assert "Level1 = " in source(wheel, "torch_npu/profiler/experimental_config.py")


def test_that_the_switch_against_falling_back_is_real(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        assert b"TORCH_NPU_FALLBACK_CPU_DISABLE" in opened.read("torch_npu/lib/libtorch_npu.so")


def sources_of(folder: Path) -> Iterator[str]:
    return (path.read_text("utf-8", "replace") for path in folder.rglob("*.py"))


def test_that_msprobe_has_none_of_what_tutorials_say() -> None:
    assert not [text for text in sources_of(package("msprobe")) if "ApiProfiler" in text or "MSPROBE_PATH" in text]


def test_that_msprobe_has_what_is_offered_instead() -> None:
    folder = package("msprobe")
    assert "PrecisionDebugger" in bound(ast.parse((folder / "pytorch" / "__init__.py").read_text("utf-8")))
    main = options(folder / "msprobe.py")
    compare = function(folder / "core" / "compare" / "utils.py", "_compare_parser")
    offered = set(re.findall(r"'(--?\w+)'", compare))
    assert {"-tp", "-gp", "-o"} <= offered
    assert not {"-f", "--framework", "-l", "--level"} & (offered | main)
    text = (folder / "msprobe.py").read_text("utf-8")
    assert all(f"add_parser('{name}')" in text for name in ("compare", "acc_check", "graph_visualize"))


def test_that_msprobe_refuses_dynamo_and_takes_its_hooks_off_for_a_script() -> None:
    text = (package("msprobe") / "pytorch" / "dump" / "api_dump" / "script_wrapper.py").read_text("utf-8")
    assert "TORCHDYNAMO_DISABLE=1" in text
    assert "restore_all_api" in function(
        package("msprobe") / "pytorch" / "dump" / "api_dump" / "script_wrapper.py", "wrap_jit_script_func"
    )


def test_that_msprof_analyze_ignores_what_it_does_not_know() -> None:
    folder = package("msprof_analyze") / "cli"
    assert "ignore_unknown_options'] = True" in (folder / "cluster_cli.py").read_text("utf-8")
    assert "-i" not in set().union(*(options(path) for path in folder.glob("*.py")))
    assert {"-d", "-o"} <= options(folder / "analyze_cli.py")
    assert 'name="all"' in (folder / "analyze_cli.py").read_text("utf-8")
    assert 'name="advisor"' in (folder / "entrance.py").read_text("utf-8")


def test_that_jit_of_mindspore_takes_two_levels() -> None:
    folder = package("mindspore")
    assert "check_string(jit_level, ['O0', 'O1']" in function(folder / "graph" / "api.py", "jit")


def test_that_mindspore_wants_a_dictionary_for_each_fused_operator() -> None:
    path = package("mindspore") / "parallel" / "_auto_parallel_context.py"
    for name in ("_set_allreduce_comm_fusion", "_set_allgather_comm_fusion"):
        assert re.search(r"not isinstance\(comm_fusion, dict\):\s+raise TypeError", function(path, name))
    keys = dict(re.findall(r'^    (MODE|FUSION_CONFIG|SIZE) = "(\w+)"', path.read_text("utf-8"), re.MULTILINE))
    assert keys == {"MODE": "mode", "FUSION_CONFIG": "config", "SIZE": "size"}


def test_that_tuple_to_array_is_for_numbers_and_clipping_for_tensors() -> None:
    functions = package("mindspore") / "ops" / "function"
    assert "A tuple of numbers" in function(functions / "array_func.py", "tuple_to_array")
    assert "clip_by_global_norm" in function(functions / "clip_func.py", "clip_by_global_norm")
