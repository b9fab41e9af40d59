"""What is read of a dump: recorded ones, and such as msprobe writes elsewhere."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from backends.precision.dump import decode
from backends.precision.dump.dump import (
    GRADIENT,
    INPUT,
    KWARG,
    MAX,
    MEAN,
    MIN,
    NORM,
    NOTHING,
    OUTPUT,
    PARAMETER,
    SCALAR,
    TENSOR,
    Dump,
    DumpLocation,
)
from backends.precision.dump.layout import find_dumps
from backends.precision.dump.names import source_of
from backends.precision.dump.read import read_dump
from studio.errors import StudioError
from tests.precision.dump.recorded import DUMPS, copy_of, dump_at, folder_of, json_of

if TYPE_CHECKING:
    from pathlib import Path

TORCH = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "requires_grad": True}


def read(folder: Path) -> Dump:
    (place,) = find_dumps(folder)
    return read_dump(place)


def row_of(dump: Dump, call: str, role: int, item: str) -> int:
    """The one row of that call."""
    number = dump.calls.index(call)
    rows = np.flatnonzero((dump.call == number) & (dump.role == role))
    (found,) = [row for row in rows if dump.item[row] == item]
    return int(found)


def one_call(tmp_path: Path, call: dict[str, Any], name: str = "Torch.add.0.forward") -> Dump:
    return read(dump_at(tmp_path / "step0" / "rank0", {name: call}))


def test_that_every_tensor_of_a_real_dump_is_a_row() -> None:
    dump = read(DUMPS / "torch_statistics")
    assert (dump.framework, dump.task, dump.level) == ("torch", "statistics", "mix")
    assert (dump.damage, dump.skipped, dump.data_folder) == ("", 0, None)
    assert dump.calls == tuple(json_of("torch_statistics")["data"])
    tensors = json.dumps(json_of("torch_statistics")).count('"torch.Tensor"')
    assert np.count_nonzero(dump.kind == TENSOR) == tensors
    row = row_of(dump, "Module.first.Linear.forward.0", PARAMETER, "weight")
    assert dump.dtypes[dump.dtype[row]] == "float32"
    assert dump.shapes[dump.shape[row]] == (6, 4)
    assert dump.needs_grad[row]
    expected = json_of("torch_statistics")["data"]["Module.first.Linear.forward.0"]["parameters"]["weight"]
    assert list(dump.stats[row]) == [expected[key] for key in ("Max", "Min", "Mean", "Norm")]


def test_that_all_columns_have_one_length() -> None:
    dump = read(DUMPS / "mindspore_tensor")
    rows = {len(column) for column in (dump.call, dump.role, dump.kind, dump.dtype, dump.shape, dump.has_stats)}
    assert rows | {len(dump.item), len(dump.stats), len(dump.needs_grad)} == {len(dump.call)}
    assert {len(dump.parents), len(dump.stacks)} == {len(dump.calls)}
    assert (np.diff(dump.call) >= 0).all()


def test_that_nan_is_a_number_and_null_is_none() -> None:
    dump = read(DUMPS / "torch_statistics")
    row = row_of(dump, "Torch.log.0.forward", OUTPUT, "0")
    assert np.isnan(dump.stats[row]).all()
    assert dump.has_stats[row] == 0b1111
    labels = row_of(dump, "Functional.cross_entropy.0.forward", INPUT, "1")
    assert dump.dtypes[dump.dtype[labels]] == "int64"
    assert (dump.stats[labels][MAX], dump.stats[labels][MIN]) == (2, 0)
    assert dump.has_stats[labels] == 1 << MAX | 1 << MIN


def test_that_bfloat16_and_scalars_and_gradients_have_their_rows() -> None:
    dump = read(DUMPS / "torch_statistics")
    row = row_of(dump, "Functional.linear.1.forward", OUTPUT, "0")
    assert dump.dtypes[dump.dtype[row]] == "bfloat16"
    eps = row_of(dump, "Functional.layer_norm.0.forward", INPUT, "4")
    assert (dump.kind[eps], dump.value[eps]) == (SCALAR, "1e-05")
    assert dump.value[row_of(dump, "Functional.layer_norm.0.forward", INPUT, "1.0")] == "6"
    none = row_of(dump, "Functional.linear.1.backward", OUTPUT, "1")
    assert (dump.kind[none], dump.dtype[none]) == (NOTHING, -1)
    assert dump.kind[row_of(dump, "Module.first.Linear.parameters_grad.0", GRADIENT, "bias")] == TENSOR


def test_that_parents_and_stacks_are_found_also_of_backwards() -> None:
    dump = read(DUMPS / "torch_statistics")
    call = dump.calls.index("Functional.linear.0.forward")
    assert dump.calls[dump.parents[call]] == "Module.first.Linear.forward.0"
    assert source_of(dump.stack_lines[dump.stacks[call]]).endswith("torch_net.py:36")
    backward = dump.calls.index("Functional.linear.0.backward")
    assert dump.stacks[backward] == dump.stacks[call]
    gradient = dump.calls.index("Module.first.Linear.parameters_grad.0")
    assert dump.stacks[gradient] == dump.stacks[dump.calls.index("Module.first.Linear.forward.0")]


def test_that_a_checksum_makes_it_md5() -> None:
    dump = read(DUMPS / "torch_md5")
    assert dump.task == "md5"
    row = row_of(dump, "Functional.linear.0.forward", INPUT, "0")
    assert len(dump.digest[row]) == 8
    assert dump.has_stats[row] == 0b1111


def test_that_a_structure_has_its_calls_and_no_rows() -> None:
    dump = read(DUMPS / "torch_structure")
    assert (dump.task, len(dump.call), dump.stats.shape) == ("structure", 0, (0, 4))
    assert set(dump.calls) == set(json_of("torch_structure", "construct.json"))
    assert dump.stacks[dump.calls.index("Torch.log.0.forward")] >= 0


def test_that_what_msprobe_left_out_is_known_by_name() -> None:
    dump = read(DUMPS / "torch_statistics")
    assert {dump.calls[call]: names for call, names in dump.untraced.items()} == {
        "Functional.linear.1.forward": ("Torch.cat.0.forward", "Tensor.to.0.forward"),
        "Functional.cross_entropy.0.forward": ("Tensor.float.0.forward",),
        "Functional.linear.1.backward": ("Tensor.float.0.backward",),
        "Functional.layer_norm.0.backward": ("Tensor.to.0.backward", "Torch.cat.0.backward"),
    }


def test_that_tensors_are_named_and_lie_beside_the_dump(tmp_path: Path) -> None:
    copy = copy_of("torch_tensor", tmp_path / "copied 🚀")
    dump = read(copy)
    assert dump.data_folder == copy / "dump_tensor_data"
    assert set(dump.file.values()) == {path.name for path in dump.data_folder.iterdir()}


def test_that_mindspore_is_read() -> None:
    dump = read(DUMPS / "mindspore_tensor")
    assert (dump.framework, dump.dtypes) == ("mindspore", ("float32",))
    assert dump.shapes[dump.shape[row_of(dump, "Functional.concat.0.forward", INPUT, "0.1")]] == (2, 3)
    assert dump.value[row_of(dump, "Functional.concat.0.forward", KWARG, "axis")] == "1"
    assert all(name.endswith(".npy") for name in dump.file.values())


def test_that_a_dump_of_msprobe_8_is_read(tmp_path: Path) -> None:
    """Without framework; stacks by call; with Megatron a parent and its micro step."""
    folder = copy_of("torch_statistics", tmp_path / "step1" / "rank")
    content, stack = json_of("torch_statistics"), json_of("torch_statistics", "stack.json")
    parents = json_of("torch_statistics", "construct.json")
    del content["framework"]
    old_stack = {name: lines for names, lines in stack.values() for name in names}
    old_parents = {name: [parent, 3] for name, parent in parents.items()} | {"megatron_micro_step_number": 3}
    for name, value in (("dump", content), ("stack", old_stack), ("construct", old_parents)):
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    old, new = read(folder), read(DUMPS / "torch_statistics")
    assert old.framework == "torch"
    assert old.parents.tolist() == new.parents.tolist()
    assert [old.stack_lines[at] for at in old.stacks] == [new.stack_lines[at] for at in new.stacks]


def test_that_input_of_a_forward_is_read_where_an_old_one_says_so(tmp_path: Path) -> None:
    dump = one_call(tmp_path, {"input": [{**TORCH, "Max": 1}], "output": [None]})
    assert dump.role.tolist() == [INPUT, OUTPUT]
    assert dump.kind.tolist() == [TENSOR, NOTHING]


def test_that_nested_tensors_have_the_path_to_them(tmp_path: Path) -> None:
    group = {"type": "torch.ProcessGroup", "group_ranks": [0, 1], "group_id": "ab"}
    peer = {"class_type": "torch.distributed.P2POp", "tensor": TORCH, "op": "isend", "peer": 1}
    call = {
        "input_args": [[TORCH, [TORCH, None]], {"mask": TORCH, "type": {"type": "str", "value": "x"}}, [], {}],
        "input_kwargs": {"group": group, "ops": [peer], "size": {"type": "torch.Size", "value": [2, 3]}},
        "output": [{"logits": TORCH, "states": [[TORCH]]}],
    }
    dump = one_call(tmp_path, call)
    assert dump.item == (
        *("0.0", "0.1.0", "0.1.1", "1.mask", "1.type"),
        *("group", "ops.0.class_type", "ops.0.tensor", "ops.0.op", "ops.0.peer", "size"),
        *("0.logits", "0.states.0.0"),
    )
    assert [dump.value.get(row) for row in (4, 5, 6, 8, 9, 10)] == [
        *("x", "[0, 1]", "torch.distributed.P2POp", "isend", "1", "[2, 3]")
    ]


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        ({"type": "float", "value": 0.1}, "0.1"),
        ({"type": "int", "value": 10**30}, str(10**30)),
        ({"type": "bool", "value": True}, "True"),
        ({"type": "str", "value": "mean"}, "mean"),
        ({"type": "slice", "value": [None, 3, None]}, "[None, 3, None]"),
        ({"type": "ellipsis", "value": "..."}, "..."),
        ({"type": "torch.dtype", "value": "torch.bfloat16"}, "torch.bfloat16"),
        ({"type": "torch.device", "value": "cpu:None"}, "cpu:None"),
        ({"type": "torch.memory_format", "format": "channels_last"}, "channels_last"),
        ({"type": "float64", "value": math.inf}, "inf"),
        ({"type": "something new"}, "something new"),
    ],
)
def test_that_an_argument_is_text_that_tells_it_from_others(
    tmp_path: Path, argument: dict[str, Any], text: str
) -> None:
    dump = one_call(tmp_path, {"input_args": [argument]})
    assert dump.kind.tolist() == [SCALAR]
    assert dump.value[0].strip("'") == text


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("NaN", math.nan),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ('"nan"', math.nan),
        ('"-inf"', -math.inf),
        ("true", 1.0),
        ("1e400", math.inf),
    ],
)
def test_that_what_is_not_finite_is_read_however_it_is_written(tmp_path: Path, written: str, value: float) -> None:
    folder = dump_at(tmp_path / "step0" / "rank0")
    tensor = json.dumps({**TORCH, "Max": "here"}).replace('"here"', written)
    odd = json.dumps({"type": "str", "value": 'x": NaN, Infinity'})
    text = f'{{"task": "statistics", "data": {{"Torch.add.0.forward": {{"input_args": [{tensor}, {odd}]}}}}}}'
    (folder / "dump.json").write_text(text, encoding="utf-8")
    dump = read(folder)
    assert dump.damage == ""
    np.testing.assert_array_equal(dump.stats[0], [value, math.nan, math.nan, math.nan])
    assert dump.has_stats.tolist() == [1 << MAX, 0]
    assert dump.value == {1: 'x": NaN, Infinity'}


def test_that_what_is_not_finite_in_a_list_is_read(tmp_path: Path) -> None:
    folder = dump_at(tmp_path / "step0" / "rank0")
    call = {"input_args": [{"type": "list", "value": [math.nan, "NaN, NaN", -math.inf]}, {**TORCH, "Norm": math.nan}]}
    (folder / "dump.json").write_text(json.dumps({"data": {"Torch.add.0.forward": call}}), encoding="utf-8")
    dump = read(folder)
    assert dump.has_stats.tolist() == [0, 1 << NORM]
    assert "NaN, NaN" in dump.value[0]


def test_that_rows_of_wrong_types_are_skipped_and_counted(tmp_path: Path) -> None:
    wrong: list[Any] = [
        {**TORCH, "shape": "[2]"},
        {**TORCH, "dtype": 5},
        {**TORCH, "Max": [1]},
        {**TORCH, "Max": "many"},
    ]
    data = {
        "Torch.add.0.forward": {"input_args": [*wrong, {**TORCH, "Mean": 2}], "output": 7},
        "Torch.add.1.forward": 5,
        "Torch.add.2.forward": {"output": [TORCH]},
    }
    dump = read(dump_at(tmp_path / "step0" / "rank0", data))
    assert dump.skipped == 4
    assert dump.has_stats.tolist()[:2] == [0, 1 << MEAN]
    assert [dump.calls[call] for call in dump.call] == [*["Torch.add.0.forward"] * 3, "Torch.add.2.forward"]


def test_that_a_tensor_elsewhere_is_not_named(tmp_path: Path) -> None:
    files = ["../../secret.pt", "/etc/passwd", "..", "a\\b.pt", "good.pt"]
    dump = one_call(tmp_path, {"input_args": [{**TORCH, "data_name": file} for file in files]})
    assert dump.file == {4: "good.pt"}


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ("", "empty_file"),
        ("\0\0\0\n", "empty_file"),
        ("[1, 2]", "not_a_dump"),
        ('{"pk": 1}', "not_a_dump"),
        ('{"data": [1]}', "not_a_dump"),
        ("\x7fELF", "not_a_dump"),
    ],
)
def test_that_another_file_is_no_dump(tmp_path: Path, content: str, key: str) -> None:
    folder = dump_at(tmp_path / "step0" / "rank0")
    (folder / "dump.json").write_text(content, encoding="utf-8")
    with pytest.raises(StudioError) as error:
        read(folder)
    assert error.value.key == f"precision.dump.{key}"


def test_that_a_file_larger_than_the_memory_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = dump_at(tmp_path / "step0" / "rank0")
    with (folder / "dump.json").open("r+b") as file:
        file.truncate(decode.MAX_FILE_BYTES + 1)
    with pytest.raises(StudioError) as error:
        read(folder)
    assert error.value.key == "precision.dump.too_large"
    assert error.value.values["megabytes"] == 2048
    monkeypatch.setattr(decode, "available", lambda: 1000)
    with pytest.raises(StudioError) as error:
        read_dump(DumpLocation(folder=folder_of("torch_statistics")))
    assert error.value.key == "precision.dump.too_large"


def test_that_a_dump_without_stack_and_construct_is_read(tmp_path: Path) -> None:
    dump = one_call(tmp_path, {"output": [TORCH]})
    assert (dump.damage, dump.parents.tolist(), dump.stacks.tolist(), dump.stack_lines) == ("", [-1], [-1], ())


def test_that_parents_in_a_circle_end(tmp_path: Path) -> None:
    folder = dump_at(tmp_path / "step0" / "rank0", {"Torch.add.0.forward": {"output": []}})
    circle = {"Torch.add.0.forward": "Module.a.A.forward.0", "Module.a.A.forward.0": "Module.a.A.forward.0"}
    (folder / "construct.json").write_text(json.dumps(circle), encoding="utf-8")
    assert read(folder).parents.tolist() == [-1]
