"""What triton-ascend takes of triton.language."""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from backends.migration.scan.facts.tables import FOLDER

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TritonSupport: TypeAlias = Literal["taken", "limited", "refused", "ignored", "unknown"]
LANGUAGE = "triton.language."
_CUDA_PARTS = ("extra.cuda.", "inline_asm")
_TYPE = re.compile(r"(?:u?int(?:1|8|16|32|64)|float(?:16|32|64)|bfloat16|float8\w+)\Z")


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((FOLDER / "triton.toml").read_text("utf-8"))
    return table


@lru_cache(maxsize=1)
def _names() -> dict[str, frozenset[str]]:
    return {kind: frozenset(str(_table()[kind]).split()) for kind in ("limited", "refused", "ignored", "taken")}


def is_triton_type(name: str) -> bool:
    """Tell whether a canonical name is an element type: triton.language.float32."""
    return name.startswith(LANGUAGE) and _TYPE.match(name.removeprefix(LANGUAGE)) is not None


def triton_type_support(function: str, dtype: str) -> TritonSupport:
    """Judge an element type that a function is given, both by their canonical names: refused where the table has the
    type and not for this function, unknown where it has no such type."""
    kind, last = dtype.removeprefix(LANGUAGE), function.rpartition(".")[2]
    if kind not in str(_table()["types"]).split():
        return "unknown"
    taken: dict[str, str] = _table()["taken_types"]
    return "taken" if last not in taken or kind in taken[last].split() else "refused"


def triton_support(name: str) -> TritonSupport:
    """Judge a function of triton.language by its canonical name; a name that no table has is unknown."""
    rest = name.removeprefix(LANGUAGE)
    if rest.startswith(_CUDA_PARTS):
        return "refused"
    last = rest.rpartition(".")[2]
    if rest.startswith("extra."):
        return "unknown"
    support: TritonSupport
    for support in ("refused", "limited", "ignored", "taken"):
        if last in _names()[support]:
            return support
    return "unknown"
