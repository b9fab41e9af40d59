"""What is known of third-party libraries on an NPU."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Any, Literal

import msgspec

from backends.migration.finding import Effort, FindingState  # noqa: TC001 - msgspec reads the fields
from backends.migration.scan.facts.tables import FOLDER

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class LibraryFacts(msgspec.Struct, frozen=True, kw_only=True):
    """`name`: as in the category lib_<name>. `names`: modules and distributions that are it. `since`: the first version
    for which something of the NPU is known. `rule`: its sentences."""

    name: str = ""
    names: tuple[str, ...]
    state: FindingState
    effort: Effort
    since: str = ""
    confidence: Literal["high", "medium", "low"] = "high"
    source: str
    rule: str


@lru_cache(maxsize=1)
def _read_table() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((FOLDER / "libraries.toml").read_text("utf-8"))
    return table


@lru_cache(maxsize=1)
def load_libraries() -> dict[str, LibraryFacts]:
    """Return the libraries by name, without those that work on the host alone."""
    rows = {name: row for name, row in _read_table().items() if name != "host"}
    return {
        name: msgspec.convert(row | {"name": name, "rule": f"lib_{name}.used"}, LibraryFacts)
        for name, row in rows.items()
    }


@lru_cache(maxsize=1)
def _libraries_by_name() -> dict[str, LibraryFacts]:
    libraries = {_plain_name(name): library for library in load_libraries().values() for name in library.names}
    return {_plain_name(name): _host_library(name) for name in _read_table()["host"]} | libraries


def _host_library(name: str) -> LibraryFacts:
    return LibraryFacts(
        name=name, names=(name,), state="auto", effort=0, confidence="medium", source="", rule="library.host"
    )


def _plain_name(name: str) -> str:
    return name.replace("-", "_").lower()


def find_library(name: str) -> LibraryFacts | None:
    """Return the library of a module ("flash_attn.bert_padding") or a distribution ("flash-attn", "cupy-cuda12x")."""
    plain = _plain_name(name)
    while plain:
        if match := _libraries_by_name().get(plain):
            return match
        plain = plain.rpartition(".")[0]
    stem = re.split(r"_(?:cu|cuda)\d", _plain_name(name))[0]
    return _libraries_by_name().get(stem)


def library_of_category(category: str, name: str) -> LibraryFacts | None:
    """Return the library of a category `lib_<…>`, which names one of our table, a module or a distribution."""
    rest = category.removeprefix("lib_")
    return load_libraries().get(rest) or find_library(rest) or find_library(name)
