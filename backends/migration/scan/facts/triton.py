"""What triton-ascend takes of triton.language."""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import Literal, TypeAlias

from backends.migration.scan.facts.tables import FOLDER

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TritonSupport: TypeAlias = Literal["taken", "limited", "refused", "ignored", "unknown"]
LANGUAGE = "triton.language."
_CUDA_PARTS = ("extra.cuda.", "inline_asm")


@lru_cache(maxsize=1)
def _names() -> dict[str, frozenset[str]]:
    table = tomllib.loads((FOLDER / "triton.toml").read_text("utf-8"))
    return {kind: frozenset(str(table[kind]).split()) for kind in ("limited", "refused", "ignored", "taken")}


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
