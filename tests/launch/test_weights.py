"""Weights that a training starts from, and weights that are taken out of one."""

from __future__ import annotations

import ast
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from ascend_engine.checkpoints import safetensors
from hypothesis import given
from hypothesis import strategies as st

from backends.launch.export.spec import ExportSpec
from backends.launch.start_weights import table_in
from studio import run as runs
from studio import schema
from tests.command_line import last_json, studio
from tests.launch.engine_process import check, needs_mindspore
from tests.launch.specs import launch_spec, rules
from tests.prove.checkpoint import checkpoint

if TYPE_CHECKING:
    from studio.run import Run

SOME = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array(True), "empty": np.zeros((0, 4), np.int8)}


@needs_mindspore
def test_that_names_are_matched_and_nothing_in_a_file_is_run(tmp_path: Path) -> None:
    script = """
import json, os, pickle
from pathlib import Path
import ascend_studio, mindspore as ms, numpy as np
from mindspore import Tensor, nn
from ascend_engine import failures
from ascend_engine.checkpoints import safetensors
from ascend_engine.checkpoints import weights, weights_table

told = []
ascend_studio.note = lambda key, **args: told.append([key, args])
ascend_studio.finding = lambda key, severity, **args: told.append([key, args])

def network():
    return nn.SequentialCell(nn.Dense(3, 2), nn.Dense(2, 2))

def outcome(file):
    made = network()
    before = {one.name: one.asnumpy().copy() for one in made.get_parameters()}
    try:
        weights.start_from(made, Path(file))
    except failures.Failure as failure:
        return [failure.rule, failure.args_of_rule]
    after = {one.name: one.asnumpy() for one in made.get_parameters()}
    rows = json.loads(weights_table.TABLE.read_text())["rows"]
    changed = [name for name in after if not np.array_equal(after[name], before[name])]
    return [[[row["name"], row["status"], row["here"], row["there"]] for row in rows], changed, told[-1]]

full = {one.name: np.full(one.shape, 0.5, np.float32) for one in network().get_parameters()}
def save(name, arrays):
    ms.save_checkpoint([{"name": key, "data": Tensor(value)} for key, value in arrays.items()], name)

save("full.ckpt", full)
part = {**full, "0.weight": np.ones((3, 2), np.float32), "moments.0.weight": np.ones(3, np.float32)}
part.pop("1.bias")
save("part.ckpt", part)
entry = {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}
header = json.dumps({"1.bias": entry, "__metadata__": {"format": "pt"}}).encode()
halves = np.array([1.5, -2.0], np.float32).view(np.uint32) >> 16
half = len(header).to_bytes(8, "little") + header + halves.astype("<u2").tobytes()
Path("half.safetensors").write_bytes(half)
save("other.ckpt", {"conv.weight": np.ones((2, 2), np.float32)})
class Runs:
    def __reduce__(self):
        return os.mkdir, ("ran",)
Path("pickled.ckpt").write_bytes(pickle.dumps({"0.weight": Runs()}))
Path("cut.ckpt").write_bytes(Path("full.ckpt").read_bytes()[:-9])
Path("cut.safetensors").write_bytes(half[:-1])
files = ["full.ckpt", "part.ckpt", "half.safetensors", "other.ckpt", "pickled.ckpt", "cut.ckpt", "cut.safetensors"]
files += ["no.ckpt", "."]
print("\\n" + json.dumps({file: outcome(file) for file in files}))
"""
    found = json.loads(check(tmp_path, script).splitlines()[-1])
    rows, changed, told = found["full.ckpt"]
    assert {row[1] for row in rows} == {"matched"}
    assert changed == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert told == ["launch.weights", {"file": "full.ckpt", "matched": 4, "left_over": 0}]
    rows, changed, told = found["part.ckpt"]
    assert rows == [
        ["0.weight", "other_shape", [2, 3], [3, 2]], ["0.bias", "matched", [2], [2]],
        ["1.weight", "matched", [2, 2], [2, 2]], ["1.bias", "missing", [2], None],
        ["moments.0.weight", "left_over", None, [3]],
    ]  # fmt: skip
    assert changed == ["0.bias", "1.weight"]
    assert told[0] == "launch.weights_partly"
    assert (told[1]["matched"], told[1]["initial"], told[1]["names"]) == (2, 2, "0.weight, 1.bias")
    assert found["half.safetensors"][1] == ["1.bias"]
    assert found["other.ckpt"][0] == "launch.weights_nothing"
    for file in ("pickled.ckpt", "cut.ckpt", "cut.safetensors", "no.ckpt", "."):
        assert found[file][0] == "launch.weights_unreadable", file
    assert not (tmp_path / "ran").exists()


def launched(tmp_path: Path, *words: str) -> Run:
    done = studio("launch", "--recipe", "linear", "--device", "cpu", "--json", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return runs.open_run(Path(last_json(done)["run"]))


@needs_mindspore
def test_that_an_exported_checkpoint_starts_another_training_with_the_same_weights(tmp_path: Path) -> None:
    first = launched(tmp_path, "--steps", "2", "--best", "loss", "--checkpoint-every", "2")
    (kept,) = checkpoint.complete(first.folder / "artifacts" / "checkpoints")
    arrays = checkpoint.read(kept).weights
    file = tmp_path / "out" / "line.ckpt"
    file.parent.mkdir()
    file.write_text("an older one", "utf-8")
    done = studio("export", "--source", first.name, "--which", "best", "--out", str(file), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{len(arrays)} parameters of step 2 are in {file}" in done.stderr
    assert [path.name for path in file.parent.iterdir()] == ["line.ckpt"]

    second = launched(tmp_path, "--steps", "1", "--weights", str(file))
    table = table_in(second)
    assert table is not None
    assert table.counts() == {"matched": len(arrays), "missing": 0, "other_shape": 0, "left_over": 0}
    script = f"""
import hashlib, mindspore as ms
from pathlib import Path
from mindspore import nn
from ascend_engine import failures
from ascend_engine.checkpoints import export, export_file
from ascend_engine.checkpoints import weights, weights_table

def digest(parameters):
    return {{one.name: hashlib.sha256(one.asnumpy().tobytes()).hexdigest() for one in parameters}}

file, kept = Path("{file}"), Path("{kept}")
network = nn.Dense(1, 1)
weights.start_from(network, file)
print(digest(ms.load_checkpoint(str(file)).values()))
print(digest(network.get_parameters()))
before = file.read_bytes()
(kept / "weights.safetensors").write_bytes(b"")
try:
    export_file.export(kept, file, export.write)
except failures.Failure as failure:
    print(failure.rule, file.read_bytes() == before, len(list(file.parent.iterdir())))
"""
    digests = {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in arrays.items()}
    lines = check(tmp_path, script).splitlines()[-3:]
    assert [ast.literal_eval(line) for line in lines[:2]] == [digests, digests]
    assert lines[2] == "launch.checkpoint_damaged True 1"


def test_that_what_cannot_be_exported_is_said_at_its_field(tmp_path: Path) -> None:
    def wrong(**values: object) -> list[tuple[str, str]]:
        spec = ExportSpec()
        for name, value in values.items():
            spec = schema.with_value(spec, name, value)
        return [(problem.field, problem.rule) for problem in schema.problems(spec)]

    pointers = tmp_path / "artifacts" / "checkpoints"
    pointers.mkdir(parents=True)
    (pointers / "last").write_text("step-000001-00000000", "ascii")
    assert wrong() == [("source", "launch.rule.no_source")]
    assert wrong(source=tmp_path) == []
    assert wrong(source=tmp_path, which="best") == [("source", "launch.rule.no_such_checkpoint")]
    assert wrong(source=tmp_path, out=tmp_path / "x.bin") == [("out", "launch.rule.no_ckpt")]
    assert wrong(source=tmp_path, out=tmp_path / "none" / "x.ckpt") == [("out", "launch.rule.no_folder")]


def test_that_weights_are_a_file_of_weights_and_give_way_to_a_resumed_run(tmp_path: Path) -> None:
    (tmp_path / "w.bin").touch()
    (tmp_path / "w.ckpt").touch()
    pointers = tmp_path / "artifacts" / "checkpoints"
    pointers.mkdir(parents=True)
    (pointers / "last").touch()
    assert rules(launch_spec(weights=tmp_path / "w.ckpt")) == rules(launch_spec(weights=tmp_path)) == []
    assert rules(launch_spec(weights=tmp_path / "none.ckpt")) == [("weights", "launch.rule.no_file")]
    assert rules(launch_spec(weights=tmp_path / "w.bin")) == [("weights", "launch.rule.no_weights")]
    both = launch_spec(weights=tmp_path / "w.ckpt", resume=tmp_path)
    assert rules(both) == [("weights", "launch.rule.weights_and_resume")]


@pytest.fixture(scope="module")
def content() -> bytes:
    return b"".join(safetensors.encode(SOME))


def test_that_arrays_come_back_as_they_were(content: bytes) -> None:
    found = safetensors.decode(content)
    assert list(found) == list(SOME)
    for name, array in SOME.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(found[name], array)


@given(place=st.integers(0, 10_000), patch=st.binary(max_size=12), cut=st.integers(0, 10_000))
def test_that_damaged_safetensors_give_arrays_or_a_value_error(
    content: bytes, place: int, patch: bytes, cut: int
) -> None:
    place %= len(content)
    damaged = content[:place] + patch + content[place + len(patch) :]
    only_value_errors(damaged[: len(damaged) - cut % len(damaged)])


NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(), st.none(), st.text(max_size=3), st.booleans())
ENTRY = st.fixed_dictionaries({
    "dtype": st.one_of(st.sampled_from(["F32", "BF16", "BOOL", "F8_E4M3"]), NUMBERS),
    "shape": st.one_of(st.lists(NUMBERS, max_size=3), NUMBERS),
    "data_offsets": st.one_of(st.lists(NUMBERS, max_size=3), NUMBERS),
})  # fmt: skip
HEADER = st.one_of(st.dictionaries(st.text(max_size=3), st.one_of(ENTRY, NUMBERS)), st.lists(NUMBERS), NUMBERS)


@given(header=HEADER, data=st.binary(max_size=16))
def test_that_odd_headers_give_arrays_or_a_value_error(header: object, data: bytes) -> None:
    text = json.dumps(header).encode()
    only_value_errors(len(text).to_bytes(8, "little") + text + data)


def only_value_errors(content: bytes) -> None:
    try:
        found = safetensors.decode(content)
    except ValueError:
        return
    assert sum(array.size for array in found.values()) <= len(content) * max(1, len(found))
