"""The tables of assets/migration, read when first asked for; its README.md says where each is from."""

from __future__ import annotations

from functools import lru_cache

from studio.places import ASSETS

FOLDER = ASSETS / "migration"


def _lines(name: str) -> list[str]:
    return (FOLDER / name).read_text("utf-8").splitlines()


@lru_cache(maxsize=1)
def aten() -> dict[str, str]:
    """Operator with its overload ("add.Tensor") to kernel, composite, fallback, maybe or none; of torch 2.13."""
    rows = (line.split("\t") for line in _lines("aten.tsv"))
    return {name: kind for kind, names in rows for name in names.split()}


@lru_cache(maxsize=1)
def mindspore() -> dict[str, str]:
    """torch name to MindSpore name, a "~" before it where the two are not consistent."""
    rows = (line.split("\t") for line in _lines("mindspore.tsv"))
    return {torch: ours if how == "=" else f"~{ours}" for torch, ours, how in rows}


@lru_cache(maxsize=1)
def deprecated() -> frozenset[str]:
    return frozenset(_lines("deprecated.txt"))
