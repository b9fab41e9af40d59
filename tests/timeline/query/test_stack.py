from __future__ import annotations

from pathlib import Path

import pytest

from backends.timeline.query.stack import stack_of

SEPARATED = ";\r\n"


def test_that_a_call_stack_of_torch_npu_is_split_into_frames(tmp_path: Path) -> None:
    script = tmp_path / "训练.py"
    script.write_text("x")
    lines = [f"{script}(345): train", "/gone/queues.py(122): get", "<string>(1): <module>"]
    frames = stack_of({"Call stack": SEPARATED.join(lines)}, ["aten::empty"])
    assert [(frame.path, frame.line, frame.function, frame.exists) for frame in frames] == [
        (script, 345, "train", True),
        (Path("/gone/queues.py"), 122, "get", False),
        (Path("<string>"), 1, "<module>", False),
    ]


def test_that_a_call_chain_of_a_database_is_a_list() -> None:
    frames = stack_of({"callStack": ["/a.py(1): f", "/b.py(2): g"]}, [])
    assert [frame.function for frame in frames] == ["f", "g"]


def test_that_python_functions_around_a_slice_are_its_stack_and_are_found_below_the_roots(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("x")
    parents = ["aten::add", "nn.Module: Conv2d_0", "<built-in method add>", "ProfilerStep#2", "train.py(21): <module>"]
    frames = stack_of({}, parents, [Path("/nowhere"), tmp_path])
    assert [frame.text for frame in frames] == [parents[1], parents[2], parents[4]]
    assert [frame.exists for frame in frames] == [False, False, True]
    assert frames[2].path == tmp_path / "train.py"
    assert frames[0].path is None


def test_that_operators_around_a_slice_are_no_stack() -> None:
    assert stack_of({}, ["aten::add", "aten::conv2d", "ProfilerStep#2"]) == ()


@pytest.mark.parametrize("value", [None, 7, [], {}, "", ";\r\n;\r\n", "\0(1): x", "(" * 9999, "x(99999999999999): f"])
def test_that_no_stack_is_too_strange(value: object) -> None:
    assert all(not frame.exists for frame in stack_of({"Call stack": value}, ["a"]))
