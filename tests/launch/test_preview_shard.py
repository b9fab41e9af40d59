"""Shard strategies, checked without a card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.launch.preview.answer import preview_answer
from backends.launch.preview.shard import check_shard, read_shapes, written
from backends.launch.preview.spec import PreviewSpec
from studio import schema

if TYPE_CHECKING:
    from backends.launch.preview.shard import Shapes

MATMUL = ((64, 128), (128, 256))


def rules(strategy: Shapes, devices: int) -> list[str]:
    return [problem.rule.rpartition(".")[2] for problem in check_shard(MATMUL, strategy, devices)]


@pytest.mark.parametrize(
    ("strategy", "devices", "expected"),
    [
        (((2, 4), (4, 1)), 8, []),
        (((1, 1), (1, 1)), 1, []),
        (((2, 4), (4, 1)), 4, ["shard_devices"]),
        (((3, 1), (1, 1)), 8, ["shard_divides"]),
        (((0, 1), (1, 1)), 8, ["shard_divides"]),
        (((3, 5), (1, 1)), 8, ["shard_divides", "shard_divides", "shard_devices"]),
        (((2,), (1, 1)), 8, ["shard_dimensions"]),
        (((2, 1),), 8, ["shard_inputs"]),
        (((2, 4), (4, 2)), 8, ["shard_product"]),
        (((2, 4), (4, 2)), 16, []),
        (((2, 4), (2, 2)), 16, ["shard_inner"]),
    ],
)
def test_that_a_strategy_is_refused_for_its_reason(strategy: Shapes, devices: int, expected: list[str]) -> None:
    assert rules(strategy, devices) == expected


def test_that_the_answer_says_what_was_looked_at() -> None:
    """Of two equal shapes it is not known whether they are multiplied element by element."""
    spec = schema.with_value(PreviewSpec(), "shard", (("64x128,128x256", "2x4,4x1"), ("8x8,8x8", "2x4,4x2")))
    keys = [(note.key, note.args.get("product")) for note in preview_answer(spec).before if "shard" in note.key]
    assert keys == [("preview.shard_product", 8), ("preview.shard_fits", None)]


@given(st.lists(st.tuples(st.integers(1, 64), st.integers(1, 64)), min_size=1, max_size=4))
def test_that_a_multiple_of_the_strategy_always_fits(pairs: list[tuple[int, int]]) -> None:
    shape = tuple(part * factor for part, factor in pairs)
    parts = tuple(part for part, _ in pairs)
    assert check_shard((shape,), (parts,), 64**4) == ()


@given(st.lists(st.lists(st.integers(0, 10**9), min_size=1, max_size=4), min_size=1, max_size=3))
def test_that_shapes_are_read_as_they_are_written(shapes: list[list[int]]) -> None:
    assert read_shapes(",".join(map(written, shapes))) == tuple(map(tuple, shapes))


@pytest.mark.parametrize("text", ["", "x", "2x", "2,,2", "-2x2", "2.5", "²", "9" * 40])
def test_that_other_texts_are_no_shapes(text: str) -> None:
    assert read_shapes(text) is None


def test_that_a_strategy_of_the_spec_is_checked_against_its_cards() -> None:
    spec = schema.with_value(PreviewSpec(), "shard", (("64x128", "4x4"), ("a", "b")))
    found = [(problem.field, problem.rule) for problem in schema.problems(spec)]
    assert found == [("shard", "launch.rule.shard_devices"), ("shard", "launch.rule.shard_form")]
