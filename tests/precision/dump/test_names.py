"""What names of calls and lines of stacks say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.precision.dump.dump import Name
from backends.precision.dump.names import frames, name_of, source_of

TORCH = "/home/me/venv/lib/python3.11/site-packages/torch/nn/modules/module.py"


def line(file: str, number: int, code: str = "x = 1") -> str:
    return f"File {file}, line {number}, in forward, \n {code}"


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("Functional.linear.12.forward", Name(kind="Functional", api="linear", number=12, direction="forward")),
        ("Tensor.__add__.0.backward", Name(kind="Tensor", api="__add__", direction="backward")),
        (
            "NPU.npu_fusion_attention.3.forward",
            Name(kind="NPU", api="npu_fusion_attention", number=3, direction="forward"),
        ),
        (
            "Module.1.self_attn.MultiheadAttention.forward.2",
            Name(kind="Module", api="1.self_attn", type="MultiheadAttention", number=2, direction="forward"),
        ),
        ("Module.Net.forward.0", Name(kind="Module", api="", type="Net", direction="forward")),
        ("Cell.net.a.Dense.backward.0", Name(kind="Cell", api="net.a", type="Dense", direction="backward")),
        (
            "Module.first.Linear.parameters_grad.0",
            Name(kind="Module", api="first", type="Linear", direction="parameters_grad"),
        ),
        (
            "Module.first.Linear.parameters_grad",
            Name(kind="Module", api="first", type="Linear", direction="parameters_grad"),
        ),
        (
            "Primitive.matmul.MatMul.1.forward",
            Name(kind="Primitive", api="matmul", type="MatMul", number=1, direction="forward"),
        ),
        ("Module.forward.Linear.forward.0", Name(kind="Module", api="forward", type="Linear", direction="forward")),
        ("optimizer", Name(kind="optimizer", api="")),
    ],
)
def test_that_a_name_is_taken_apart(call: str, name: Name) -> None:
    assert name_of(call) == name


@given(st.text())
def test_that_no_name_is_too_odd(call: str) -> None:
    assert isinstance(name_of(call), Name)


@given(st.lists(st.text()))
def test_that_no_stack_is_too_odd(lines: list[str]) -> None:
    assert isinstance(source_of(lines), str)


def test_that_the_source_is_the_innermost_line_of_the_users_own() -> None:
    lines = [
        line(TORCH, 1811),
        line("/x/msprobe/pytorch/hook.py", 2),
        line("/run/studio/guest/ascend_studio/torch_hooks.py", 3),
        line("/home/me/我的 项目, line 2, in x/model.py", 88),
        line("/home/me/train.py", 9),
    ]
    assert source_of(lines) == "/home/me/我的 项目, line 2, in x/model.py:88"


def test_that_a_project_in_a_folder_called_torch_is_the_users_own() -> None:
    assert source_of([line(TORCH, 1), line("/home/me/torch/model.py", 5)]) == "/home/me/torch/model.py:5"
    assert source_of([line(TORCH, 1), line("<frozen runpy>", 5)]) == ""


def test_that_a_frame_has_its_parts() -> None:
    (frame,) = frames([line("model.py", 7, "y = f(x)\n  # more"), "Without call stack"])
    assert (frame.file, frame.number, frame.function, frame.code) == ("model.py", 7, "forward", "y = f(x)\n  # more")
