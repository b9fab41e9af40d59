"""What is read of dataclasses and functions, beside what transformers, simple_parsing and tyro themselves said of the
same scripts: see record_parsers.py, and the version in each file."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import pytest

from backends.launch.own.options.reader import parse_words, read_script_options, to_words
from tests.launch.record_parsers import DISTRIBUTIONS, RECORDED

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.own.options.option import Option, Value

SHOWN_ONLY = ("tyro", "conf_arg", "--fixed")  # by its help; nothing can set it


@functools.cache
def recorded(folder: str) -> Any:
    return json.loads((RECORDED / f"{folder}.json").read_text(encoding="utf-8"))


CASES = [(folder, name) for folder in DISTRIBUTIONS for name in recorded(folder)["cases"]]


def of_json(values: dict[str, Any]) -> dict[str, Value]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}


def in_words(value: Value | None) -> str | None:
    return " ".join(value) if isinstance(value, tuple) else None if value is None else str(value)


def ours(said: dict[str, Any], found: tuple[Option, ...]) -> Option | None:
    names = set(said["names"])
    return next((one for one in found if not one.command and names & {one.flag, *one.names, *one.offs}), None)


@pytest.mark.parametrize(("folder", "name"), CASES)
def test_that_a_script_has_the_options_that_its_own_parser_declares(folder: str, name: str) -> None:
    found = read_script_options(RECORDED / folder / f"{name}.py")
    assert found.reason is None
    for said in recorded(folder)["cases"][name]["options"]:
        if said["names"] in (["-h", "--help"], ["help"]) or "dummy" in said["names"][0]:
            continue
        option = ours(said, found.options)
        if option is None:
            assert (folder, name, said["names"][0]) == SHOWN_ONLY
            continue
        assert set(said["names"]) <= {option.flag, *option.names, *option.offs}, said
        assert option.required == said["required"], said
        if said["choices"] and option.kind != "bool":
            assert sorted(option.choices) == said["choices"], said
        if set(said["names"]) <= set(option.offs):  # it turns off what another one turns on
            continue
        assert in_words(option.default) == said["default"] or (option.default_source and said["default"]), said


@pytest.mark.parametrize(("folder", "name"), CASES)
def test_that_values_are_written_as_the_real_parser_took_them(folder: str, name: str) -> None:
    found = read_script_options(RECORDED / folder / f"{name}.py").options
    case = recorded(folder)["cases"][name]
    for each in case["written"]:
        assert to_words(found, of_json(each["values"])) == tuple(each["words"])
    for each in case["spelled"]:
        assert parse_words(found, each["words"]) == (of_json(each["values"]), ())


def test_that_a_field_of_one_class_among_several_is_said_to_be_unread() -> None:
    found = read_script_options(RECORDED / "simple_parsing" / "subgroups.py")
    assert [option.flag for option in found.options] == ["--optimizer", "--epochs"]
    assert len(found.unread) == 1


def test_that_classes_and_types_that_multiply_each_other_are_left(tmp_path: Path) -> None:
    """Followed to their end, these are 2 to the power of 30 types, 9 to the power of 20 fields and as many bases."""
    lines = ["import tyro", "from dataclasses import dataclass", "from typing import Union", "T0 = int"]
    lines += [f"T{place + 1} = Union[T{place}, T{place}]" for place in range(30)]
    lines += ["@dataclass\nclass C0:\n    x: int = 1", "class B0: pass"]
    for place in range(20):
        held = "".join(f"    f{one}: C{place}\n" for one in range(9))
        lines += [f"@dataclass\nclass C{place + 1}:\n{held}", f"class B{place + 1}({f'B{place}, ' * 9}): pass"]
    lines += ["@dataclass\nclass Args(B20):\n    t: T30 = 1\n    c: C20 = None\n    last: int = 2", "tyro.cli(Args)"]
    (tmp_path / "train.py").write_text("\n".join(lines))
    found = read_script_options(tmp_path / "train.py")
    assert found.reason is None
    assert len(found.options) < 5000


def test_that_a_long_script_of_many_classes_is_read(tmp_path: Path) -> None:
    lines = ["from dataclasses import dataclass", "from transformers import HfArgumentParser"]
    lines += [f"@dataclass\nclass C{place}:\n    f{place}: int = 1  # one" for place in range(3000)]
    lines += [f"HfArgumentParser(({', '.join(f'C{place}' for place in range(3000))}))"]
    (tmp_path / "train.py").write_text("\n".join(lines))
    assert len(read_script_options(tmp_path / "train.py").options) == 3000
