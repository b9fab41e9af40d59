"""What a checkpoint holds besides tensors that are read: never told as equal without a word."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from backends.precision.weights import result, unread_files
from backends.precision.weights.checkpoints import open_weights
from backends.precision.weights.spec import Accepted, Checkpoints, WeightsSpec
from backends.precision.weights.work import compare_weights
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from tests.precision.weights.made import ckpt_of

if TYPE_CHECKING:
    from collections.abc import Callable

W = np.arange(12, dtype=np.float32).reshape(3, 4) + 0.5
T = torch.from_numpy(W)


def answer(folder: Path, target: Path, golden: Path, allow: float = 0) -> dict[str, Any]:
    sides = Checkpoints(target_weights=target, golden_weights=golden)
    spec = WeightsSpec(checkpoints=sides, accepted=Accepted(allow_weights=allow))
    run = runs.create(folder / "runs", "compare-weights", schema.to_json(spec))
    ended = compare_weights(spec, run)
    return {**result.weights_answer(run), "code": ended.code}


def saved(folder: Path, name: str, content: Any, **more: Any) -> Path:
    torch.save(content, folder / name, **more)
    return folder / name


@pytest.mark.parametrize("content", [{"a": {"b": T}, "a.b": T + 1}, {1: T, "1": T + 1}])
@pytest.mark.parametrize("is_zip", [True, False])
def test_that_two_tensors_under_one_name_are_refused(tmp_path: Path, content: Any, is_zip: bool) -> None:
    path = saved(tmp_path, "a.pt", content, _use_new_zipfile_serialization=is_zip)
    with pytest.raises(StudioError) as error:
        open_weights(path, tmp_path / "s", Path(sys.executable))
    assert error.value.key == "precision.weights.twice_in_file"


@pytest.mark.parametrize("is_zip", [True, False])
@pytest.mark.parametrize(("golden", "target"), [(2.0, 1.0), ([1.0, 2.0], [1.0, 3.0])])
def test_that_a_number_beside_the_weights_is_compared(tmp_path: Path, golden: Any, target: Any, is_zip: bool) -> None:
    sides = [
        saved(tmp_path, name, {"w": T, "logit_scale": value}, _use_new_zipfile_serialization=is_zip)
        for name, value in (("t.pt", target), ("g.pt", golden))
    ]
    assert answer(tmp_path, *sides)["verdict"] == "differs"


def test_that_other_values_are_said_and_do_not_count(tmp_path: Path) -> None:
    sides = [
        saved(tmp_path, name, {"model": {"w": T}, "epoch": epoch, "config": {"alpha": epoch}, "best_loss": epoch / 10})
        for name, epoch in (("t.pt", 16), ("g.pt", 32))
    ]
    found = answer(tmp_path, *sides)
    assert (found["code"], [row["name"] for row in found["values"]]) == (0, ["epoch", "config.alpha", "best_loss"])


@pytest.mark.parametrize("is_zip", [True, False])
def test_that_numbers_behind_the_last_one_that_is_read_are_said(tmp_path: Path, is_zip: bool) -> None:
    scales = [1.0] * 70_000
    sides = [
        saved(tmp_path, name, {"w": T, "scales": [*scales, last]}, _use_new_zipfile_serialization=is_zip)
        for name, last in (("t.pt", 2.0), ("g.pt", 1.0))
    ]
    found = answer(tmp_path, *sides)
    assert (found["verdict"], found["unread"], found["code"]) == ("incomplete", ["scales.65536 …"], 3)


def test_that_many_files_that_were_not_read_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread_files, "MAX_FILES", 2)
    for name in ("t", "g"):
        (tmp_path / name).mkdir()
        save_file({"w": W}, tmp_path / name / "model.safetensors")
        for number in range(3):
            save_file({"w": W}, tmp_path / name / f"z{number}.bin")
    found = answer(tmp_path, tmp_path / "t", tmp_path / "g")
    assert (found["verdict"], found["unread"]) == ("incomplete", ["z1.bin …"])


def test_that_results_and_counters_beside_the_weights_do_not_count(tmp_path: Path) -> None:
    sides = [
        saved(
            tmp_path, name, {"w": T, "epoch": value, "val_loss": value / 7, "global_step": value, "best_acc": 1 / value}
        )
        for name, value in (("t.pt", 3), ("g.pt", 4))
    ]
    assert answer(tmp_path, *sides)["code"] == 0


def test_that_counters_alone_are_no_weights(tmp_path: Path) -> None:
    for name in ("t", "g"):
        save_file({"bn.num_batches_tracked": np.array([3])}, tmp_path / name)
    assert answer(tmp_path, tmp_path / "t", tmp_path / "g")["verdict"] == "incomplete"


def test_that_packed_weights_of_4_bits_are_equal_or_differ(tmp_path: Path) -> None:
    for name, packed in (("t", 107), ("g", 106)):
        save_file({"w": np.array([100, packed, 200], np.uint8)}, tmp_path / name)
    assert answer(tmp_path, tmp_path / "t", tmp_path / "g", 0.05)["verdict"] == "differs"


@pytest.mark.parametrize("is_zip", [True, False])
def test_that_a_conjugate_is_another_tensor(tmp_path: Path, is_zip: bool) -> None:
    values = torch.view_as_complex(T.reshape(6, 2))
    sides = [
        saved(tmp_path, name, {"w": value}, _use_new_zipfile_serialization=is_zip)
        for name, value in (("t.pt", values.conj()), ("g.pt", values))
    ]
    assert answer(tmp_path, *sides)["verdict"] == "differs"


def header(**entries: tuple[int, int]) -> bytes:
    content = {name: {"dtype": "F32", "shape": [3, 4], "data_offsets": place} for name, place in entries.items()}
    return json.dumps(content).encode()


@pytest.mark.parametrize(
    "text",
    [
        header(w=(0, 48), v=(0, 48)),
        header(w=(0, 48)),
        header(w=(48, 96)),
        header(w=(48, 96))[:-1] + b"," + header(w=(0, 48))[1:],
    ],
    ids=["overlap", "bytes behind", "a hole", "a name twice"],
)
def test_that_safetensors_whose_data_does_not_lie_one_behind_the_other_are_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "x.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + W.tobytes() + (W + 1).tobytes())
    with pytest.raises(StudioError, match="damaged"):
        open_weights(tmp_path / "x.safetensors", tmp_path / "s", Path(sys.executable))


@pytest.mark.parametrize("both", [True, False])
def test_that_hash_tables_of_mindspore_are_not_read_and_said(tmp_path: Path, both: bool) -> None:
    (tmp_path / "g.ckpt").write_bytes(ckpt_of({"w": W}, table="embedding"))
    (tmp_path / "t.ckpt").write_bytes(ckpt_of({"w": W}, table="embedding" if both else ""))
    found = answer(tmp_path, tmp_path / "t.ckpt", tmp_path / "g.ckpt")
    assert (found["verdict"], found["unread"]) == ("incomplete", ["embedding"])


def with_index(folder: Path, value: float) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"w": "model.safetensors"}}))
    save_file({"lora": W + value}, folder / "extra.safetensors")


def with_head(folder: Path, value: float) -> None:
    torch.save({"head": T + value}, folder / "head.pth")


def with_folder(folder: Path, value: float) -> None:
    (folder / "2_Dense").mkdir()
    save_file({"w": W + value}, folder / "2_Dense" / "model.safetensors")


@pytest.mark.parametrize("add", [with_index, with_head, with_folder])
@pytest.mark.parametrize("difference", [0.0, 1.0])
def test_that_files_that_were_not_read_are_said_unless_they_are_equal(
    tmp_path: Path, add: Callable[[Path, float], None], difference: float
) -> None:
    for name, value in (("t", difference), ("g", 0.0)):
        (tmp_path / name).mkdir()
        save_file({"w": W}, tmp_path / name / "model.safetensors")
        add(tmp_path / name, value)
    found = answer(tmp_path, tmp_path / "t", tmp_path / "g")
    assert (found["verdict"], len(found["unread"])) == (("incomplete", 1) if difference else ("equal", 0))


def test_that_the_trainings_state_and_earlier_checkpoints_are_no_unread_files(tmp_path: Path) -> None:
    for name, value in (("t", 0.0), ("g", 1.0)):
        (tmp_path / name / "checkpoint-500").mkdir(parents=True)
        save_file({"w": W}, tmp_path / name / "model.safetensors")
        save_file({"w": W + value}, tmp_path / name / "checkpoint-500" / "model.safetensors")
        for file in ("optimizer.pt", "rng_state_0.pth", "training_args.bin"):
            torch.save({"w": T + value}, tmp_path / name / file)
    assert answer(tmp_path, tmp_path / "t", tmp_path / "g")["verdict"] == "equal"


@pytest.mark.parametrize("sides", ["tg", "t"])
def test_that_the_same_model_in_another_format_is_said_unless_it_is_the_same_on_both_sides(
    tmp_path: Path, sides: str
) -> None:
    for side in "tg":
        (tmp_path / side).mkdir()
        save_file({"w": W}, tmp_path / side / "model.safetensors")
    for value, side in enumerate(sides):
        torch.save({"w": T + value}, tmp_path / side / "pytorch_model.bin")
    outcome = answer(tmp_path, tmp_path / "t", tmp_path / "g")
    assert (outcome["verdict"], outcome["unread"], outcome["code"]) == ("incomplete", ["pytorch_model.bin"], 3)
    for side in "tg":
        torch.save({"w": T}, tmp_path / side / "pytorch_model.bin")
    assert answer(tmp_path, tmp_path / "t", tmp_path / "g")["code"] == 0


@pytest.mark.parametrize(
    "name", ["ema.npz", "a.npy", "__0_0.distcp", "m.gguf", "m.H5", "m.onnx", "m.mindir", "below/m.onnx"]
)
def test_that_weights_of_a_format_that_is_not_read_are_said(tmp_path: Path, name: str) -> None:
    for side in ("t", "g"):
        path = tmp_path / side / name
        path.parent.mkdir(parents=True)
        save_file({"w": W}, tmp_path / side / "a.safetensors")
        path.write_bytes(side.encode())
    outcome = answer(tmp_path, tmp_path / "t", tmp_path / "g")
    assert (outcome["verdict"], outcome["unread"], outcome["code"]) == ("incomplete", [name], 3)
    for side in ("t", "g"):
        (tmp_path / side / name).write_bytes(b"the same bytes")
    assert answer(tmp_path, tmp_path / "t", tmp_path / "g")["code"] == 0


@pytest.mark.parametrize("is_link", [True, False])
def test_that_a_dead_link_and_a_folder_in_the_place_of_a_shard_are_said(tmp_path: Path, is_link: bool) -> None:
    for side in ("t", "g"):
        shard = tmp_path / side / "b.safetensors"
        shard.parent.mkdir()
        save_file({"w": W}, tmp_path / side / "a.safetensors")
        if is_link:
            shard.symlink_to(tmp_path / "nowhere")
        else:
            shard.mkdir()
    outcome = answer(tmp_path, tmp_path / "t", tmp_path / "g")
    assert (outcome["verdict"], outcome["unread"], outcome["code"]) == ("incomplete", ["b.safetensors"], 3)


@pytest.mark.parametrize(
    ("golden", "target"),
    [
        ({"l._extra_state": b"123"}, {"l._extra_state": b"124"}),
        ({"l._extra_state": {"amax": 1.0}}, {"l._extra_state": {"amax": 2.0}}),
        ({"z": 1 + 2j}, {"z": 1 + 9j}),
        ({"scale": 2.0}, {"scale": None}),
        ({"scale": 2.0}, {"scale": "2.0"}),
        ({"pruned": {1, 2}}, {"pruned": {1, 3}}),
        ({"logit_scale": 2.0}, {}),
        ({}, {"logit_scale": 2.0}),
        ({"module.logit_scale": 2.0}, {"logit_scale": 3.0}),
    ],
)
def test_that_what_lies_beside_the_weights_counts_as_they_do(
    tmp_path: Path, golden: dict[str, Any], target: dict[str, Any]
) -> None:
    sides = [saved(tmp_path, name, {"w": T, **values}) for name, values in (("t.pt", target), ("g.pt", golden))]
    assert answer(tmp_path, *sides)["verdict"] == "differs"


def test_that_bytes_of_a_later_pickle_protocol_count_as_well(tmp_path: Path) -> None:
    sides = [saved(tmp_path, name, {"w": T, "l._extra_state": name.encode()}, pickle_protocol=3) for name in "tg"]
    assert answer(tmp_path, *sides)["verdict"] == "differs"


@pytest.mark.parametrize(
    ("golden", "target"),
    [({"module.logit_scale": 2.0}, {"logit_scale": 2.0}), ({"bias": None}, {}), ({"x": b"1"}, {"x": b"1"})],
)
def test_that_the_same_beside_the_weights_is_no_difference(
    tmp_path: Path, golden: dict[str, Any], target: dict[str, Any]
) -> None:
    sides = [saved(tmp_path, name, {"w": T, **values}) for name, values in (("t.pt", target), ("g.pt", golden))]
    assert answer(tmp_path, *sides)["code"] == 0
