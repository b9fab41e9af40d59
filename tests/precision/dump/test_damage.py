"""Dumps that were cut off, damaged or changed by anybody: what is whole is read, and nothing crashes."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.precision.dump.dump import DumpLocation
from backends.precision.dump.read import read_dump
from studio.errors import StudioError
from tests.precision.dump.recorded import copy_of, folder_of, json_of

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.dump.dump import Dump

WHOLE = (folder_of("torch_statistics") / "dump.json").read_bytes()
FILES = ("dump.json", "stack.json", "construct.json")


def read_bytes(folder: Path, content: bytes, file: str = "dump.json") -> Dump:
    (folder / file).write_bytes(content)
    return read_dump(DumpLocation(folder=folder))


def test_that_a_file_cut_off_gives_all_calls_before(tmp_path: Path) -> None:
    whole = read_bytes(tmp_path, WHOLE)
    cut = WHOLE.index(b'"Functional.cross_entropy.0.forward"') + 200
    dump = read_bytes(tmp_path, WHOLE[:cut])
    count = whole.calls.index("Functional.cross_entropy.0.forward")
    assert (dump.damage, dump.skipped) == ("precision.dump.damaged", 1)
    assert dump.calls == whole.calls[:count]
    assert (dump.framework, dump.task, dump.level) == ("torch", "statistics", "mix")
    rows = len(dump.call)
    assert dump.item == whole.item[:rows]
    assert dump.stats[:rows].tobytes() == whole.stats[:rows].tobytes()


def test_that_after_a_damaged_call_the_next_is_read(tmp_path: Path) -> None:
    at = WHOLE.index(b'"Torch.relu.0.forward"') + 60
    dump = read_bytes(tmp_path, WHOLE[:at] + b"\0\xff{{" + WHOLE[at + 30 :])
    assert dump.damage == "precision.dump.damaged"
    assert dump.skipped == 1
    assert set(json_of("torch_statistics")["data"]) - set(dump.calls) == {"Torch.relu.0.forward"}


def test_that_a_file_cut_off_before_its_calls_is_no_dump(tmp_path: Path) -> None:
    with pytest.raises(StudioError) as error:
        read_bytes(tmp_path, WHOLE[:40])
    assert error.value.key == "precision.dump.not_a_dump"


@pytest.mark.parametrize("file", ["stack.json", "construct.json"])
@pytest.mark.parametrize("content", [b'{"0": [["a"', b"[1]", b"\xff\xfe", b'{"0": 5, "1": [[5], 7], "x": {}}'])
def test_that_calls_are_read_where_only_their_context_is_damaged(tmp_path: Path, file: str, content: bytes) -> None:
    copy = copy_of("torch_statistics", tmp_path / "rank0")
    whole = read_dump(DumpLocation(folder=folder_of("torch_statistics")))
    dump = read_bytes(copy, content, file)
    assert dump.calls == whole.calls
    assert dump.damage in ("", f"precision.dump.{file[:-5]}_damaged")
    assert (dump.stacks if file == "stack.json" else dump.parents).max() == -1


def test_that_deep_nesting_ends(tmp_path: Path) -> None:
    deep = "[" * 5000 + "]" * 5000
    text = f'{{"data": {{"Torch.a.0.forward": {{"output": {deep}}}, "Torch.b.0.forward": {{"output": [null]}}}}}}'
    dump = read_bytes(tmp_path, text.encode())
    assert len(dump.call) == 1


def check(dump: Dump) -> None:
    """A dump that anything may be done with."""
    rows = len(dump.call)
    assert dump.stats.shape == (rows, 4)
    assert {len(dump.item), len(dump.dtype), len(dump.shape), len(dump.role), len(dump.needs_grad)} == {rows}
    assert rows == 0 or dump.call.max() < len(dump.calls)
    assert rows == 0 or (dump.dtype.max() < len(dump.dtypes) and dump.shape.max() < len(dump.shapes))
    assert (dump.parents < len(dump.calls)).all()
    assert (dump.stacks < len(dump.stack_lines)).all()
    assert all(isinstance(text, str) for column in (dump.value, dump.digest, dump.file) for text in column.values())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of("torch_statistics", tmp_path_factory.mktemp("fuzz") / "rank0")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_that_no_damage_of_the_bytes_is_too_bad(folder: Path, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(FILES))
    whole = (folder_of("torch_statistics") / file).read_bytes()
    at = data.draw(st.integers(0, len(whole)))
    length = data.draw(st.integers(0, 400))
    changed = whole[:at] + data.draw(st.binary(max_size=8)) + whole[at + length :]
    try:
        with suppress(StudioError):
            check(read_bytes(folder, changed, file))
    finally:
        (folder / file).write_bytes(whole)


KEYS = st.sampled_from(
    ["type", "dtype", "shape", "Max", "Mean", "value", "md5", "data_name", "format", "requires_grad", "x"]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("torch.Tensor"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["input_args", "input_kwargs", "input", "output", "parameters"]), ANYTHING))
def test_that_no_call_is_too_odd(folder: Path, call: dict[str, object]) -> None:
    data = {"Torch.a.0.forward": call, "Module.a.A.parameters_grad.0": call, "x": [call]}
    try:
        check(read_bytes(folder, json.dumps({"data": data}).encode()))
    finally:
        (folder / "dump.json").write_bytes(WHOLE)


@settings(max_examples=100, deadline=None)
@given(ANYTHING, st.sampled_from(FILES[1:]), st.text(max_size=8))
def test_that_no_context_is_too_odd(folder: Path, value: object, file: str, name: str) -> None:
    content = {name: value, "Torch.relu.0.forward": value}
    try:
        check(read_bytes(folder, json.dumps(content).encode(), file))
    finally:
        (folder / file).write_bytes((folder_of("torch_statistics") / file).read_bytes())
