"""Parts that are there and say nothing: they are not compared, so no check of them is whole."""

from __future__ import annotations

import pytest

from backends.precision.config.pack import Own, Pack
from backends.precision.config.pack_discovery import one_sided

NULLS = b'{"w": {"max": null, "min": null, "mean": null, "norm": null}}'
FIGURES = NULLS.replace(b"null", b"1.0")


def pack(own: Own, weights: bytes = FIGURES, packages: dict[str, str] | None = None) -> Pack:
    members = {"weights/step0/rank0/weight.json": weights, "dataset/step0/rank0/dataset.json": FIGURES}
    members |= {"random/rank0.json": b"{}", "buffers/step0/rank0/buffer.json": b"{}"}
    packages = {"torch": "2.6"} if packages is None else packages
    return Pack(path="a", rank=0, own=own, env={}, packages=packages, members=members)


SEEDED = Own(seeds={"torch.seed": 1})


@pytest.mark.parametrize(
    ("empty", "key"),
    [
        (pack(Own()), "precision.config.part_nowhere"),
        (pack(Own(seeds={"torch.seed": None})), "precision.config.part_nowhere"),
        (pack(SEEDED, packages={}), "precision.config.part_nowhere"),
        (pack(SEEDED, NULLS), "precision.config.part_nowhere"),
        (pack(Own(seeds={"torch.seed": 1}, reason="MemoryError")), "precision.config.pack_failed"),
    ],
)
def test_that_what_is_empty_on_both_sides_is_not_compared(empty: Pack, key: str) -> None:
    assert key in [sentence.key for sentence in one_sided([empty], [empty], [(empty, empty)])]


def test_that_whole_packs_leave_nothing_out() -> None:
    whole = pack(SEEDED)
    assert one_sided([whole], [whole], [(whole, whole)]) == ()
