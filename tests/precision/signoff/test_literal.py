from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.precision.reproduce.literal import Literals
from studio.errors import StudioError

NAMES = {"tensor", "slice", "float", "DEVICE", "torch", "mindspore"}
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
entries = st.fixed_dictionaries(
    {"type": st.sampled_from(["float", "int", "str", "slice", "torch.dtype", "torch.device", "ellipsis"]) | st.text()},
    optional={"value": plain | st.lists(plain, max_size=4), "data_name": st.text(), "requires_grad": plain},
)
arguments = st.recursive(
    plain | entries,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(arguments)
def test_that_whatever_a_dump_says_becomes_a_value_or_is_refused(value: Any) -> None:
    try:
        source = Literals(call="Torch.any.0.forward").of(value)
    except StudioError:
        return
    for node in ast.walk(ast.parse(source, mode="eval")):
        assert not isinstance(node, (ast.Lambda, ast.Subscript, ast.BinOp, ast.ListComp, ast.JoinedStr))
        if isinstance(node, ast.Name):
            assert node.id in NAMES
        if isinstance(node, ast.Call):
            assert isinstance(node.func, ast.Name)


@pytest.mark.parametrize(
    ("value", "source"),
    [
        ({"type": "float", "value": float("nan")}, 'float("nan")'),
        ({"type": "slice", "value": [1, None, 2]}, "slice(1, None, 2)"),
        ([{"type": "int", "value": 8}], "(8,)"),
        ({"type": "torch.dtype", "value": "torch.bfloat16"}, "torch.bfloat16"),
        ({"type": "torch.device", "value": "cuda:0"}, "DEVICE"),
        ({"type": "ellipsis", "value": "..."}, "..."),
        (
            {"type": "torch.Tensor", "data_name": "a.input.0.pt", "requires_grad": True},
            "tensor('a.input.0.pt', grad=True)",
        ),
    ],
)
def test_that_arguments_come_back_as_they_were(value: Any, source: str) -> None:
    assert Literals(call="x").of(value) == source


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "a/b.pt", ".hidden", None])
def test_that_no_tensor_is_taken_from_elsewhere(name: str | None) -> None:
    with pytest.raises(StudioError, match="deeper"):
        Literals(call="x").of({"type": "torch.Tensor", "data_name": name})


def test_that_a_keyword_that_is_none_is_refused() -> None:
    with pytest.raises(StudioError):
        Literals(call="x").arguments({"a b": 1})
