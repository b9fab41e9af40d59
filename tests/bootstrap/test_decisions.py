"""What bootstrap.py decides, without doing any of it."""

from __future__ import annotations

import ast
import shlex
import string
import sys
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import bootstrap
from studio.paths import ROOT
from studio.setup import messages, packages, pythons, system

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def python(*version: int, bits: int = 64, build: str = "CPython") -> dict[str, Any]:
    return {"path": "/p", "version": version, "bits": bits, "build": build}


def state(**changes: Any) -> dict[str, Any]:
    stamp = {"python": [3, 11], "groups": {"base": "a"}, "packages": ["numpy-1.26.4"], "root": "/r"}
    ready = {"exists": True, "begun": False, "stamp": stamp, "python": (3, 11), "packages": ["numpy-1.26.4"]}
    return {**ready, **changes}


@pytest.mark.parametrize(
    ("answers", "best"),
    [
        ([python(3, 10, 1), python(3, 12, 1), python(3, 11, 1)], (3, 12, 1)),
        ([python(3, 13, 0), python(3, 10, 9)], (3, 10, 9)),
        ([python(3, 13, 0), python(3, 14, 0)], (3, 13, 0)),
        ([python(3, 12, 1, bits=32), python(3, 11, 2)], (3, 11, 2)),
        ([python(3, 12, 1, build="PyPy"), python(3, 13, 0, build="CPythont"), python(3, 10, 0)], (3, 10, 0)),
    ],
)
def test_that_the_best_python_is_chosen(answers: list[dict[str, Any]], best: tuple[int, ...]) -> None:
    chosen = pythons.choose(answers)
    assert chosen
    assert chosen["version"] == best


@pytest.mark.parametrize("version", [(3, 14, 0), (3, 15, 1), (3, 9, 18), (2, 7, 18)])
def test_that_a_python_without_wheels_is_not_chosen(version: tuple[int, ...]) -> None:
    assert pythons.choose([python(*version)]) is None


@pytest.mark.parametrize(
    ("state_of_venv", "action", "why"),
    [
        (state(), "ready", ""),
        (state(exists=False), "make", ""),
        (state(python=None), "rebuild", "broken_python"),
        (state(python=(3, 9)), "rebuild", "unfit_python"),
        (state(python=(3, 12)), "rebuild", "unfit_python"),
        (state(stamp={}, begun=True), "rebuild", "half_made"),
        (state(stamp={}), "add", "adopted"),
        (state(packages=[]), "add", "packages_gone"),
        (state(packages=["numpy-1.26.4", "one-of-the-users-own-1"]), "ready", ""),
    ],
)
def test_that_what_is_there_decides_what_is_done(state_of_venv: dict[str, Any], action: str, why: str) -> None:
    assert bootstrap.judge(state_of_venv, {"base": "a"}, "/r") == (action, why)


def test_that_a_changed_or_a_further_group_is_added() -> None:
    assert bootstrap.judge(state(), {"base": "b"}, "/r") == ("add", "")
    assert bootstrap.judge(state(), {"base": "a", "torch": "t"}, "/r") == ("add", "")


def test_that_a_moved_folder_is_set_right_and_not_rebuilt() -> None:
    assert bootstrap.judge(state(), {"base": "a"}, "/elsewhere") == ("move", "moved")


def test_that_the_own_reader_of_pyproject_agrees_with_tomllib() -> None:
    source = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(source)["project"]
    expected = {"base": project["dependencies"], **project["optional-dependencies"]}
    assert bootstrap.dependencies(source) == expected
    assert set(bootstrap.GROUPS) == set(expected)
    assert set(packages.ROOM) == set(packages.DOWNLOAD) == set(expected)


def test_that_all_groups_are_resolved_together_and_torch_is_the_cpu_build_where_there_is_one() -> None:
    lists = {
        "base": ['numpy<2; python_version < "3.13"', 'numpy>=2; python_version >= "3.13"'],
        "torch": ["torch==2.13.0"],
        "dev": ["torch-thing==1"],
    }
    assert packages.plan(lists, ["base", "torch", "dev"], (3, 11), True) == [
        'numpy<2; python_version < "3.13"',
        "torch==2.13.0+cpu",
        "torch-thing==1",
    ]
    assert packages.plan(lists, ["torch"], (3, 12), False) == ["torch==2.13.0"]


def test_that_python_3_13_gets_the_window_without_the_engine() -> None:
    lists = bootstrap.dependencies((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = " ".join(packages.plan(lists, ["base", "mindspore", "tools"], (3, 13), False))
    assert "PySide6" in names
    assert "numpy<2" not in names
    assert "mindspore==" not in names
    assert packages.room(["base", "mindspore"], (3, 13))[0] < packages.room(["base", "mindspore"], (3, 12))[0] / 3


def test_that_room_is_needed_for_what_is_installed_and_for_what_is_downloaded() -> None:
    assert packages.lack_of_room((300, 100), 400, 0, True) is None
    assert packages.lack_of_room((300, 100), 399, 0, True) == ("here", 400, 399)
    assert packages.lack_of_room((300, 100), 300, 100, False) is None
    assert packages.lack_of_room((300, 100), 299, 100, False) == ("here", 300, 299)
    assert packages.lack_of_room((300, 100), 300, 99, False) == ("temporary", 100, 99)


@pytest.mark.parametrize(
    ("errors", "free", "key"),
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            1 << 40,
            "disk_full",
        ),
        ("ERROR: something else, as the log could not be written", 1 << 20, "disk_full"),
        (
            "NewConnectionError: refused\nERROR: No matching distribution found for numpy",
            1 << 40,
            "no_network",
        ),
        ("error: Request failed\n  Caused by: client error (Connect)", 1 << 40, "no_network"),
        ("ERROR: No matching distribution found for mindspore==2.10.*", 1 << 40, "no_match"),
        ("ERROR: Failed building wheel for x", 1 << 40, "pip_failed"),
        ("", 1 << 40, "pip_failed"),
    ],
)
def test_that_the_reason_is_read_from_what_pip_says(errors: str, free: int, key: str) -> None:
    assert packages.why_it_failed(errors, free, "log", "index", "3 GB").key == key


def test_that_the_line_for_the_system_names_packages_for_apt_and_libraries_for_dnf() -> None:
    missing = ["libxcb-cursor.so.0", "libglib-2.0.so.0", "libgthread-2.0.so.0", "font", "Xvfb"]
    assert system.system_line(missing, "apt-get") == (
        "sudo apt-get install -y fonts-wqy-microhei libglib2.0-0 libxcb-cursor0 xvfb"
    )
    assert "'libxcb-cursor.so.0()(64bit)'" in system.system_line(missing, "dnf")
    assert len(shlex.split(system.system_line(missing, "dnf"))) == 9


@pytest.mark.parametrize(
    ("words", "verb", "for_verb", "rest"),
    [
        ([], "window", "window", []),
        (["window", "--", "a"], "window", "window", ["a"]),
        (["test", "-k", "x"], "test", "test", ["-k", "x"]),
        (["setup", "--for", "bench"], "setup", "bench", []),
    ],
)
def test_that_arguments_reach_the_verb(words: list[str], verb: str, for_verb: str, rest: list[str]) -> None:
    assert bootstrap.read_arguments(words) == (verb, for_verb, rest)


@pytest.mark.parametrize(
    ("env", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LANGUAGE": "zh:en"}, "zh"),
        ({}, "en"),
    ],
)
def test_that_the_language_is_the_systems(env: dict[str, str], language: str) -> None:
    assert messages.language(env) == language


@pytest.mark.parametrize("key", messages.catalogue())
def test_that_both_languages_have_the_same_placeholders(key: str) -> None:
    english, chinese = (
        {field for _, field, _, _ in string.Formatter().parse(messages.catalogue()[key][language]) if field}
        for language in ("en", "zh")
    )
    assert english == chinese


def test_that_every_message_is_used() -> None:
    files = [ROOT / "bootstrap.py", *(ROOT / "studio" / "setup").glob("*.py")]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    assert not [key for key in messages.catalogue() if f'"{key}"' not in source]


def test_that_an_old_python_can_read_the_files() -> None:
    for path in (ROOT / "bootstrap.py", *(ROOT / "studio" / "setup").glob("*.py")):
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 6))


def test_that_the_lock_holds_a_version_for_every_requirement_that_is_in_its_range() -> None:
    groups = bootstrap.dependencies((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pins = [Requirement(pin) for pin in packages.read_pins(str(ROOT / "requirements.lock"))]
    for version in ("3.10", "3.11", "3.12", "3.13"):
        environment = {"python_version": version, "python_full_version": f"{version}.0", "sys_platform": "linux"}
        locked = {
            canonicalize_name(pin.name): next(iter(pin.specifier)).version
            for pin in pins
            if pin.marker is None or pin.marker.evaluate(environment)
        }
        for requirement in (Requirement(text) for group in groups.values() for text in group):
            if requirement.marker is None or requirement.marker.evaluate(environment):
                assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), requirement


def test_that_only_the_pins_that_the_installer_blames_give_way() -> None:
    pins = ["numpy==1.26.4 ; python_version < '3.13'", "msgspec==0.20.0", "tomli==2.2.1"]
    pip = "ERROR: Could not find a version that satisfies the requirement msgspec==0.20.0 (from versions: 0.18.6)"
    uv = "  × No solution found when resolving dependencies:\n  ╰─▶ Because there is no version of numpy==1.26.4 and"
    assert packages.blamed_pins(pip, pins) == [pins[1]]
    assert packages.blamed_pins(uv, pins) == [pins[0]]
    assert packages.blamed_pins("ERROR: ResolutionImpossible", pins) == []
