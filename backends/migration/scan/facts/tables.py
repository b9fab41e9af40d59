"""The tables of assets/migration, read on first use; its README.md says where each is from."""

from __future__ import annotations

from functools import lru_cache

from studio.paths import ASSETS

FOLDER = ASSETS / "migration"


def _lines(name: str) -> list[str]:
    return (FOLDER / name).read_text("utf-8").splitlines()


@lru_cache(maxsize=1)
def aten_kinds() -> dict[str, str]:
    """Operator with its overload ("add.Tensor") to kernel, composite, fallback, maybe or none; of torch 2.13."""
    rows = (line.split("\t") for line in _lines("aten.tsv"))
    return {name: kind for kind, names in rows for name in names.split()}


@lru_cache(maxsize=1)
def mindspore_names() -> dict[str, str]:
    """torch name to MindSpore name, a "~" before it where the two are not consistent."""
    rows = (line.split("\t") for line in _lines("mindspore.tsv"))
    return {torch: equivalent if relation == "=" else f"~{equivalent}" for torch, equivalent, relation in rows}


@lru_cache(maxsize=1)
def deprecated_names() -> frozenset[str]:
    return frozenset(_lines("deprecated.txt"))
