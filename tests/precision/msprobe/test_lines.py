"""The command lines of msprobe, against the options that it has: of the installed one by its sources, of older ones by
what their `-h` said."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from pathlib import Path

import pytest

from backends.precision.msprobe import lines
from backends.precision.msprobe.installed import Installed, family_of, version_of
from tests.precision.msprobe.recorded import RECORDED

A, B, OUT = Path("/a/dump.json"), Path("/b/dump.json"), Path("/out")
PARSERS = {
    "compare": ("core/compare/utils.py", "_compare_parser"),
    "overflow_check": ("overflow_check/analyzer.py", "_overflow_check_parser"),
    "config_check": ("core/config_check/config_check_cli.py", "_config_checking_parser"),
    "acc_check": ("pytorch/api_accuracy_checker/acc_check/acc_check.py", "_acc_check_parser"),
    "api_precision_compare": (
        "pytorch/api_accuracy_checker/compare/api_precision_compare.py", "_api_precision_compare_parser",
    ),
}  # fmt: skip


def installed(version: str) -> Installed:
    return Installed(version=version, family=family_of(version), path=Path("/x"), python=Path("/usr/bin/python"))


def every_line(of: Installed) -> dict[str, tuple[str, ...]]:
    return {
        "compare": lines.compare_line(of, "torch", A, B, OUT),
        "overflow_check": lines.overflow_line(of, A.parent, OUT),
        "config_check": lines.config_check_line(of, A, B, OUT),
        "acc_check": lines.acc_check_line(of, A, OUT),
        "api_precision_compare": lines.api_precision_compare_line(of, A, B, OUT),
    }


def options(line: tuple[str, ...]) -> set[str]:
    """Of the command, which stands behind `-m msprobe.msprobe`."""
    return {word for word in line[3:] if word.startswith("-")}


def source_options(file: str, function: str) -> set[str]:
    """What a parser of the installed msprobe takes, from its source: importing it would import torch."""
    spec = importlib.util.find_spec("msprobe")
    assert spec is not None
    assert spec.origin is not None
    tree = ast.parse((Path(spec.origin).parent / file).read_text("utf-8"))
    body = next(one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == function)
    words = {str(one.value) for one in ast.walk(body) if isinstance(one, ast.Constant)}
    assert "argument" in ast.unparse(body)
    return {word for word in words if word.startswith("-")}


@pytest.mark.parametrize("command", PARSERS)
def test_that_the_installed_msprobe_takes_every_option_of_a_line(command: str) -> None:
    line = every_line(installed("26.2.0"))[command]
    assert line[:4] == ("/usr/bin/python", "-m", "msprobe.msprobe", command)
    assert options(line) <= source_options(*PARSERS[command])


@pytest.mark.parametrize("command", PARSERS)
def test_that_what_26_2_said_of_its_options_has_every_one_of_a_line(command: str) -> None:
    said = (RECORDED / f"help_26.2.0_{command}.txt").read_text("utf-8")
    known = set(re.findall(r"(?<![\w-])--?[a-z_]+", said))
    wanted = options(every_line(installed("26.2.0"))[command])
    # Its help of acc_check shows the rest of the options only for a file that exists.
    assert wanted - known <= ({"-o"} if command == "acc_check" else set())


@pytest.mark.parametrize("version", ["8.3.3", "8.1.0", "1.3.0", "1.0.4"])
def test_that_an_old_msprobe_is_given_a_framework_and_a_file_with_paths(version: str) -> None:
    line = lines.compare_line(installed(version), "mindspore", A, B, OUT)
    assert line[3:] == ("-f", "mindspore", "compare", "-i", "/out/compare.json", "-o", "/out", "-s")
    said = (RECORDED / f"help_{version}_compare.txt").read_text("utf-8")
    assert {"-i", "-o", "-s"} <= set(re.findall(r"(?<![\w-])-[a-z]+", said))
    assert lines.compare_input(A, B) == {
        "npu_path": "/a/dump.json", "bench_path": "/b/dump.json", "stack_path": "/a/stack.json",
        "is_print_compare_log": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "called"),
    [
        ("overflow_check", "nan_analyze"),
        ("acc_check", "run_ut"),
        ("api_precision_compare", "api_precision_compare"),
        ("config_check", "config_check"),
    ],
)
def test_that_commands_have_their_former_names_in_8_3(command: str, called: str) -> None:
    old = installed("8.3.3")
    line = {
        "overflow_check": lines.overflow_line(old, A.parent, OUT), "acc_check": lines.acc_check_line(old, A, OUT),
        "api_precision_compare": lines.api_precision_compare_line(old, A, B, OUT),
        "config_check": lines.config_check_line(old, A, B, OUT),
    }[command]  # fmt: skip
    assert line[3:6] == ("-f", "pytorch", called)
    said = (RECORDED / f"help_8.3.3_{called}.txt").read_text("utf-8")
    assert options(line[3:]) - {"-f"} <= set(re.findall(r"(?<![\w-])-[a-z_]+", said))


def test_that_the_msprobe_of_an_interpreter_is_known_from_its_files(tmp_path: Path) -> None:
    own = version_of(Path(sys.executable))
    assert (own.family, (own.path or Path()).name) == ("26", "msprobe")
    assert version_of(tmp_path / "bin" / "python").family == ""


def test_that_an_environment_with_an_old_msprobe_is_told_apart(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python3.9" / "site-packages"
    (packages / "mindstudio_probe-8.3.3.dist-info").mkdir(parents=True)
    python = tmp_path / "bin" / "python"
    assert version_of(python).family == "", "its dist-info without its package"
    (packages / "msprobe").mkdir()
    assert (version_of(python).family, version_of(python).version) == ("8", "8.3.3")


@pytest.mark.parametrize(("version", "family"), [("26.2.0", "26"), ("1.0.1", "8"), ("9.0", "8"), ("", ""), ("x", "")])
def test_that_a_version_has_a_family(version: str, family: str) -> None:
    assert family_of(version) == family
