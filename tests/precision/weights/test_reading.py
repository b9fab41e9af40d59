"""Checkpoints read without the frameworks that wrote them, and whatever else lies in a file."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from backends.precision.measure.formats import STORAGE_DTYPES, widened
from backends.precision.weights import torch_child
from backends.precision.weights.checkpoints import open_weights
from studio.errors import Stopped, StudioError
from studio.paths import ROOT

if TYPE_CHECKING:
    from backends.precision.measure.measures import Tensor

PYTHON = Path(sys.executable)
NO_PYTHON = Path("/nowhere/python")


def whole(tensor: Tensor) -> np.ndarray[Any, Any]:
    is_wide = tensor.dtype in STORAGE_DTYPES
    parts = [widened(piece, tensor.dtype) if is_wide else piece.copy() for piece in tensor.chunks(64)]
    return np.concatenate(parts).reshape(tensor.shape) if parts else np.zeros(tensor.shape)


def values_of(path: Path, scratch: Path, python: Path = NO_PYTHON) -> dict[str, np.ndarray[Any, Any]]:
    return {name: whole(tensor) for name, tensor in open_weights(path, scratch / "s", python).tensors.items()}


def assert_same(found: dict[str, np.ndarray[Any, Any]], wanted: dict[str, np.ndarray[Any, Any]]) -> None:
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        assert found[name].shape == value.shape, name
        assert np.array_equal(found[name], value), name


def test_that_a_state_dict_of_torch_is_read_without_torch(of_torch: Path, tmp_path: Path) -> None:
    assert_same(values_of(of_torch / "state.pt", tmp_path), dict(np.load(of_torch / "state.npz")))


def test_that_safetensors_are_read(of_torch: Path, tmp_path: Path) -> None:
    wanted = {f"module.{name}": value for name, value in np.load(of_torch / "state.npz").items()}
    assert_same(values_of(of_torch / "wrapped.safetensors", tmp_path), wanted)


def test_that_an_old_file_of_torch_is_read_by_a_child(of_torch: Path, tmp_path: Path) -> None:
    found = values_of(of_torch / "legacy.pt", tmp_path, PYTHON)
    assert_same(found, dict(np.load(of_torch / "state.npz")))


ARRAYS = """
import sys, numpy as np, torch
content = {
    "plain": torch.ones(3), "array": np.arange(6, dtype=np.float32).reshape(2, 3), "half": np.float16([1.5, -2.0]),
    "turned": np.asfortranarray(np.arange(6.0).reshape(2, 3)), "swapped": np.arange(4, dtype=">i4"),
    "empty": np.zeros((0, 2), np.float32), "flags": np.array([True, False]),
    "nested": {"mean": np.float64(0.25), "list": [np.int64([7])]},
    "names": np.array(["a", "bc"]), "objects": np.array([np.float32([2.0]), "text"], dtype=object), "step": np.int64(5),
}
torch.save(content, sys.argv[1])
torch.save(content, sys.argv[2], _use_new_zipfile_serialization=False)
"""


@pytest.mark.parametrize("name", ["new.pth", "old.pth"])
def test_that_arrays_of_numpy_in_a_file_of_torch_are_read(tmp_path: Path, name: str) -> None:
    paths = [tmp_path / "new.pth", tmp_path / "old.pth"]
    subprocess.run([PYTHON, "-c", ARRAYS, *paths], check=True)
    expected = {
        "plain": np.ones(3, np.float32), "array": np.arange(6, dtype=np.float32).reshape(2, 3),
        "half": np.array([1.5, -2.0], np.float16), "turned": np.arange(6.0).reshape(2, 3),
        "swapped": np.arange(4, dtype=np.int32), "empty": np.zeros((0, 2), np.float32),
        "flags": np.array([True, False]), "nested.list.0": np.array([7]), "objects.0": np.array([2.0], np.float32),
    }  # fmt: skip
    assert_same(values_of(tmp_path / name, tmp_path, PYTHON), expected)
    checkpoint = open_weights(tmp_path / name, tmp_path / "s", PYTHON)
    texts = {name: value.text for name, value in checkpoint.values.items()}
    assert (texts["nested.mean"], texts["step"], texts["objects.1"]) == ("0.25", "5", "text")
    assert texts["names"].startswith("U2 [2] ")


def test_that_an_array_of_numpy_whose_bytes_are_said_to_be_objects_is_no_object(tmp_path: Path) -> None:
    """numpy's own reader would take the bytes for addresses of objects."""
    import pickle
    import zipfile

    from numpy.core import multiarray

    class Lie:
        def __reduce__(self) -> Any:
            return multiarray._reconstruct, (np.ndarray, (0,), b"b"), (1, (1,), Objects(), False, b"\x41" * 8)

    class Objects:
        def __reduce__(self) -> Any:
            return np.dtype, ("O", False, True), (3, "|", None, None, None, -1, -1, 0)

    with zipfile.ZipFile(tmp_path / "lie.pth", "w") as file:
        file.writestr("lie/data.pkl", pickle.dumps({"w": Lie()}, 2))
        file.writestr("lie/version", b"3")
    with pytest.raises(StudioError) as error:
        open_weights(tmp_path / "lie.pth", tmp_path / "s", PYTHON)
    assert error.value.key == "precision.weights.no_tensors"


def test_that_a_torch_that_takes_no_stand_ins_for_numpy_says_what_to_do(tmp_path: Path) -> None:
    subprocess.run([PYTHON, "-c", ARRAYS, tmp_path / "new.pth", tmp_path / "old.pth"], check=True)
    (tmp_path / "sitecustomize.py").write_text("import torch\ndel torch.serialization.add_safe_globals\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {PYTHON} "$@"\n')
    python.chmod(0o755)
    with pytest.raises(StudioError) as error:
        open_weights(tmp_path / "new.pth", tmp_path / "s", python)
    assert error.value.key == "precision.weights.holds_numpy"


def test_that_a_missing_torch_is_said(of_torch: Path, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nexec {PYTHON} -S -I "$@"\n')
    python.chmod(0o755)
    with pytest.raises(StudioError) as error:
        open_weights(of_torch / "legacy.pt", tmp_path / "s", python)
    assert error.value.key == "precision.weights.no_torch"


def test_that_a_stop_ends_the_child_that_reads(of_torch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 100\n")
    python.chmod(0o755)

    class StopsWhenItRuns:
        @property
        def stop_requests(self) -> bool:
            return (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n")

    monkeypatch.setattr(torch_child, "STOP", StopsWhenItRuns())
    with pytest.raises(Stopped):
        open_weights(of_torch / "legacy.pt", tmp_path / "s", python)
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_that_weights_and_optimizer_in_dictionaries_get_dotted_names(of_torch: Path, tmp_path: Path) -> None:
    found = values_of(of_torch / "nested.pt", tmp_path)
    assert found["optimizer.state.0.exp_avg"].shape == found["model.0.weight"].shape == (7, 5)
    assert "rng" in found
    assert not [name for name in found if name.startswith(("names", "epoch", "lr"))]


def test_that_a_transposed_view_is_read_in_its_own_order(of_torch: Path, tmp_path: Path) -> None:
    found = values_of(of_torch / "kinds.pt", tmp_path)
    assert np.array_equal(found["strided"], np.arange(12).reshape(3, 4).T)
    assert found["half"].dtype == np.float16
    assert found["bool"].shape == ()


@pytest.mark.parametrize("name", ["plain.ckpt", "checked.ckpt", "sliced.ckpt"])
def test_that_a_checkpoint_of_mindspore_is_read_without_mindspore(
    of_mindspore: Path, tmp_path: Path, name: str
) -> None:
    found = values_of(of_mindspore / name, tmp_path)
    assert np.array_equal(found.pop("brain"), [0, 1, 2])
    added = {"epoch": found.pop("epoch"), "lr": found.pop("lr")} if name == "checked.ckpt" else {}
    assert_same(found, dict(np.load(of_mindspore / "values.npz")))
    assert {name: float(value) for name, value in added.items()} == ({"epoch": 3, "lr": 0.5} if added else {})


def test_that_a_checkpoint_of_our_own_training_is_found_from_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "backends" / "launch" / "engine"))
    checkpoint = importlib.import_module("ascend_engine.checkpoints.checkpoint")
    weights = {"dense.weight": np.arange(6, dtype=np.float32).reshape(2, 3), "步": np.array([3], np.int64)}
    folder = tmp_path / "run 运行" / "artifacts" / "checkpoints"
    folder.mkdir(parents=True)
    (tmp_path / "run 运行" / "run.json").write_text("{}")
    saved = checkpoint.Saved(step=2, weights=weights, rest={}, facts={})
    made = checkpoint.write(folder, saved, ("last",))
    for place in (made, tmp_path / "run 运行", made / "weights.safetensors"):
        assert_same(values_of(place, tmp_path), weights)


def test_that_a_run_without_a_checkpoint_says_so(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(StudioError) as error:
        open_weights(tmp_path, tmp_path / "s", NO_PYTHON)
    assert error.value.key == "precision.weights.no_checkpoint_in_run"


def test_that_the_parts_of_a_large_model_are_read_together(of_torch: Path, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"a": np.ones(2, np.float32)}, tmp_path / "model-1.safetensors")
    save_file({"b": np.zeros(3, np.float32)}, tmp_path / "model-2.safetensors")
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert set(values_of(tmp_path, tmp_path / "scratch")) == {"a", "b"}
    (tmp_path / "model.safetensors.index.json").unlink()
    assert set(values_of(tmp_path, tmp_path / "scratch")) == {"a", "b"}


@pytest.mark.parametrize("text", ['{"weight_map": {"a": "../secret.safetensors"}}', '{"weight_map": {}}', "[1]", "{"])
def test_that_an_index_that_leads_elsewhere_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "model.safetensors.index.json").write_text(text)
    with pytest.raises(StudioError) as error:
        open_weights(tmp_path, tmp_path / "s", NO_PYTHON)
    assert error.value.key == "precision.weights.damaged"


def test_that_tensors_of_an_index_that_no_part_has_are_named(tmp_path: Path) -> None:
    save_file({"a": np.ones(3, np.float32)}, tmp_path / "part.safetensors")
    index = {"weight_map": {"a": "part.safetensors", "b": "part.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(StudioError) as refused:
        open_weights(tmp_path, tmp_path / "scratch", Path(sys.executable))
    assert (refused.value.key, refused.value.values["name"]) == ("precision.weights.not_in_parts", "b")


def test_that_a_tensor_in_two_files_of_a_folder_is_not_chosen_silently(tmp_path: Path) -> None:
    for number in range(2):
        save_file({"a": np.full(3, number, np.float32)}, tmp_path / f"{number}.safetensors")
    with pytest.raises(StudioError) as refused:
        open_weights(tmp_path, tmp_path / "scratch", Path(sys.executable))
    assert refused.value.key == "precision.weights.twice"


def test_that_several_checkpoints_in_a_folder_ask_for_one(of_mindspore: Path, tmp_path: Path) -> None:
    with pytest.raises(StudioError) as error:
        open_weights(of_mindspore, tmp_path / "s", NO_PYTHON)
    assert error.value.key == "precision.weights.several"


def test_that_a_text_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "x.ckpt").write_text("hello, this is a text")
    with pytest.raises(StudioError) as error:
        open_weights(tmp_path / "x.ckpt", tmp_path / "s", NO_PYTHON)
    assert error.value.key == "precision.weights.no_checkpoint"


def test_that_a_file_that_runs_code_is_not_run(tmp_path: Path) -> None:
    import zipfile

    sign = tmp_path / "ran"
    code = b"cposix\nsystem\nX" + len(f"touch {sign}").to_bytes(4, "little") + f"touch {sign}".encode() + b"\x85R."
    with zipfile.ZipFile(tmp_path / "evil.pt", "w") as file:
        file.writestr("evil/data.pkl", b"\x80\x02" + code)
        file.writestr("evil/version", b"3")
    with pytest.raises(StudioError):
        open_weights(tmp_path / "evil.pt", tmp_path / "s", PYTHON)
    assert not sign.exists()


@pytest.mark.parametrize("name", ["state.pt", "nested.pt", "wrapped.safetensors"])
@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_that_a_damaged_file_is_read_or_refused(of_torch: Path, tmp_path: Path, name: str, data: st.DataObject) -> None:
    check_damaged(of_torch / name, tmp_path, data)


@given(data=st.data())
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_that_a_damaged_ckpt_is_read_or_refused(of_mindspore: Path, tmp_path: Path, data: st.DataObject) -> None:
    check_damaged(of_mindspore / "checked.ckpt", tmp_path, data)


def check_damaged(path: Path, scratch: Path, data: st.DataObject) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, len(content) - 1) | st.integers(0, min(2000, len(content) - 1)))
        content[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)) | st.just(len(content)))
    (scratch / "damaged").write_bytes(content[:cut])
    with suppress(StudioError):
        values_of(scratch / "damaged", scratch)


KEYS = st.sampled_from(["dtype", "shape", "data_offsets", "x"])
NOTHING_NESTED = st.none() | st.integers() | st.text(max_size=9) | st.sampled_from(["F32", "BOOL"])


@given(
    header=st.recursive(NOTHING_NESTED, lambda one: st.lists(one) | st.dictionaries(KEYS, one), max_leaves=8)
    | st.fixed_dictionaries(
        {"dtype": st.just("U8"), "shape": st.lists(st.integers()), "data_offsets": st.lists(st.integers())}
    )
)
def test_that_any_header_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, header: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    text = json.dumps({"a": header}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(64))
    with suppress(StudioError):
        values_of(path, path.parent)


def test_that_a_header_longer_than_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes((50 << 20).to_bytes(8, "little") + b'{"a":')
    with pytest.raises(StudioError) as error:
        open_weights(tmp_path / "x", tmp_path / "s", NO_PYTHON)
    assert error.value.key == "precision.weights.damaged"
