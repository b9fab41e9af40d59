from __future__ import annotations

from pathlib import Path

import pytest

from backends.timeline.query.stack import SourceFolders, stack_of

MODEL = """import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return self.linear(x)

@torch.no_grad()
def evaluate(net):
    '''Several lines.

No code.'''
    return [net(x) for x in ()]
"""
SEPARATED = ";\r\n"


def test_that_a_call_stack_of_torch_npu_is_split_into_frames(tmp_path: Path) -> None:
    script = tmp_path / "训练.py"
    script.write_text(MODEL)
    lines = [f"{script}(5): forward", "/gone/queues.py(122): get", "<string>(1): <module>"]
    frames = stack_of({"Call stack": SEPARATED.join(lines)}, ["aten::empty"])
    assert [(frame.path, frame.line, frame.function, frame.match) for frame in frames] == [
        (script, 5, "forward", "same"),
        (Path("/gone/queues.py"), 122, "get", "missing"),
        (Path("<string>"), 1, "<module>", "missing"),
    ]


def test_that_a_call_chain_of_a_database_is_a_list() -> None:
    frames = stack_of({"callStack": ["/a.py(1): f", "/b.py(2): g"]}, [])
    assert [frame.function for frame in frames] == ["f", "g"]


def test_that_python_functions_around_a_slice_are_its_stack_and_are_found_below_the_roots(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(MODEL)
    parents = ["aten::add", "nn.Module: Conv2d_0", "<built-in method add>", "ProfilerStep#2", "train.py(1): <module>"]
    frames = stack_of({}, parents, SourceFolders(roots=(Path("/nowhere"), tmp_path)))
    assert [frame.text for frame in frames] == [parents[1], parents[2], parents[4]]
    assert [frame.match for frame in frames] == ["missing", "missing", "same"]
    assert frames[2].path == tmp_path / "train.py"
    assert frames[0].path is None


def test_that_operators_around_a_slice_are_no_stack() -> None:
    assert stack_of({}, ["aten::add", "aten::conv2d", "ProfilerStep#2"]) == ()


@pytest.mark.parametrize("value", [None, 7, [], {}, "", ";\r\n;\r\n", "\0(1): x", "(" * 9999, "x(99999999999999): f"])
def test_that_no_stack_is_too_strange(value: object) -> None:
    assert all(frame.match == "missing" for frame in stack_of({"Call stack": value}, ["a"]))


@pytest.mark.parametrize(
    ("frame", "match"),
    [
        ("(4): forward", "same"), ("(5): forward", "same"), ("(5): Net.forward", "same"), ("(7): evaluate", "same"),
        ("(12): evaluate", "same"), ("(12): <listcomp>", "same"), ("(1): <module>", "same"), ("(3): Net", "same"),
        ("(6): forward", "other"), ("(1): forward", "other"), ("(5): evaluate", "other"),
        ("(451): _conv_forward", "other"),
        ("(99): <module>", "other"), ("(2): <module>", "other"),
    ],
)  # fmt: skip
def test_that_a_file_is_the_one_of_a_frame_only_if_the_function_is_at_that_line(
    tmp_path: Path, frame: str, match: str
) -> None:
    path = tmp_path / "net.py"
    path.write_text(MODEL)
    assert stack_of({"Call stack": f"{path}{frame}"}, [])[0].match == match


def test_that_a_file_of_another_version_is_no_link_even_among_the_packages(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "conv.py").write_text("# a newer torch\n" * 500)
    (frame,) = stack_of({}, ["torch/conv.py(451): _conv_forward"], SourceFolders(roots=(tmp_path,)))
    assert (frame.match, frame.path) == ("other", tmp_path / "torch" / "conv.py")


@pytest.mark.parametrize(
    "written", ["main.py(5): forward", "src/main.py(5): forward", "/root/other/src/main.py(5): forward"]
)
def test_that_the_users_own_files_are_found_anywhere_in_the_project(tmp_path: Path, written: str) -> None:
    for folder in ("old", "src", ".venv/src"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "main.py").write_text("x = 1\n" * 9 if folder == "old" else MODEL)
    (frame,) = stack_of({}, [written], SourceFolders(projects=(tmp_path,)))
    assert (frame.match, frame.path) == ("same", tmp_path / "src" / "main.py")


@pytest.mark.parametrize("content", ["def f(:\n" * 9, "(" * 100_000, "\0\0\0", "x" * 3_000_000])
def test_that_a_file_that_is_no_python_is_not_taken_for_the_frames(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.py").write_text(content)
    assert stack_of({"Call stack": f"{tmp_path / 'a.py'}(1): f"}, [])[0].match == "other"
