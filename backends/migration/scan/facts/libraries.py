"""Third-party libraries on an NPU."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Any, Literal

import msgspec

from backends.migration.found import Effort, State  # noqa: TC001 - msgspec reads the fields
from backends.migration.scan.facts.tables import FOLDER

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Library(msgspec.Struct, frozen=True, kw_only=True):
    """`name`: as in the category lib_<name>. `names`: modules and distributions that are it. `since`: the first version
    for which something of the NPU is known. `rule`: its sentences."""

    name: str = ""
    names: tuple[str, ...]
    state: State
    effort: Effort
    since: str = ""
    confidence: Literal["high", "medium", "low"] = "high"
    source: str
    rule: str


@lru_cache(maxsize=1)
def _read() -> dict[str, Any]:
    read: dict[str, Any] = tomllib.loads((FOLDER / "libraries.toml").read_text("utf-8"))
    return read


@lru_cache(maxsize=1)
def libraries() -> dict[str, Library]:
    """By name; those that work on the host are left out."""
    rows = {name: row for name, row in _read().items() if name != "host"}
    return {
        name: msgspec.convert(row | {"name": name, "rule": f"lib_{name}.used"}, Library) for name, row in rows.items()
    }


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Library]:
    known = {_plain(name): one for one in libraries().values() for name in one.names}
    return {_plain(name): _on_host(name) for name in _read()["host"]} | known


def _on_host(name: str) -> Library:
    return Library(
        name=name, names=(name,), state="auto", effort=0, confidence="medium", source="", rule="library.host"
    )


def _plain(name: str) -> str:
    return name.replace("-", "_").lower()


def library(name: str) -> Library | None:
    """Of a module ("flash_attn.bert_padding") or a distribution ("flash-attn", "cupy-cuda12x")."""
    plain = _plain(name)
    while plain:
        if found := _by_name().get(plain):
            return found
        plain = plain.rpartition(".")[0]
    stem = re.split(r"_(?:cu|cuda)\d", _plain(name))[0]
    return _by_name().get(stem)


def of_category(category: str, name: str) -> Library | None:
    """Of a place in `lib_<…>`, which names a library of ours, a module or a distribution."""
    rest = category.removeprefix("lib_")
    return libraries().get(rest) or library(rest) or library(name)
