"""Checkpoints as files: written whole or not at all, and never loaded where they are damaged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from ascend_engine.checkpoints import safetensors
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from tests.launch.engine_process import check_fresh, read_events
from tests.prove.checkpoint import checkpoint, fill, kill_writers, last_step, small_disk

if TYPE_CHECKING:
    from pathlib import Path

DTYPES = st.sampled_from(sorted(safetensors.NAMES)).map(np.dtype)
ARRAYS = st.dictionaries(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=20),
    arrays_of.arrays(DTYPES, arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)),
    max_size=4,
)


def saved(step: int, size: int = 3, **facts: Any) -> checkpoint.Saved:
    return checkpoint.Saved(
        step=step,
        weights={"layer.weight": np.full((2, size), step, np.float32)},
        rest={"scaler.value": np.array(1024, np.float32), "optimizer.step": np.array([step], np.int32)},
        facts=facts,
    )


def steps(folder: Path) -> list[int]:
    return [checkpoint.read(path).step for path in checkpoint.complete(folder)]


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(
        (one[name].dtype, one[name].shape, one[name].tobytes())
        == (other[name].dtype, other[name].shape, other[name].tobytes())
        for name in one
    )


@settings(deadline=None, max_examples=50)
@given(arrays=ARRAYS)
def test_that_arrays_come_back_as_they_were_also_to_the_safetensors_package(
    arrays: dict[str, np.ndarray], tmp_path_factory: pytest.TempPathFactory
) -> None:
    package = pytest.importorskip("safetensors.numpy")
    arrays.pop("__metadata__", None)
    path = tmp_path_factory.mktemp("arrays") / "one.safetensors"
    path.write_bytes(b"".join(safetensors.encode(arrays)))
    assert same(safetensors.decode(path.read_bytes()), arrays)
    assert same(package.load_file(path), arrays)


def test_that_what_was_saved_comes_back(tmp_path: Path) -> None:
    store = checkpoint.Store(tmp_path / "kept", keep=3)
    path = store.add(saved(120, recipe="digits"), is_best=False)
    back = checkpoint.read(path)
    assert path.name.startswith("step-000120-")
    assert (back.step, back.facts) == (120, {"recipe": "digits"})
    assert same(back.weights, saved(120).weights)
    assert same(back.rest, saved(120).rest)
    assert checkpoint.target(tmp_path / "kept" / "last") == path.name


def test_that_the_newest_and_the_best_are_kept(tmp_path: Path) -> None:
    store = checkpoint.Store(tmp_path, keep=2)
    for step in range(1, 7):
        store.add(saved(step), is_best=step == 2)
        store.prune()
    assert steps(tmp_path) == [6, 5, 2]
    assert checkpoint.read(tmp_path / checkpoint.target(tmp_path / "best")).step == 2


def test_that_what_a_kill_left_is_no_checkpoint_and_goes_with_the_next(tmp_path: Path) -> None:
    store = checkpoint.Store(tmp_path, keep=2)
    first = store.add(saved(1), is_best=False)
    shutil.copytree(first, tmp_path / "step-000002-00000000.tmp")
    (tmp_path / "last.tmp").write_text("half")
    assert list(checkpoint.candidates(tmp_path)) == [first]
    checkpoint.Store(tmp_path, keep=2).add(saved(3), is_best=False)
    assert not list(tmp_path.glob("*.tmp"))


def test_that_one_that_someone_deleted_is_not_missed(tmp_path: Path) -> None:
    store = checkpoint.Store(tmp_path, keep=2)
    shutil.rmtree(store.add(saved(1), is_best=False))
    for step in (2, 3, 4):
        store.add(saved(step), is_best=False)
        store.prune()
    assert steps(tmp_path) == [4, 3]


def test_that_many_and_empty_arrays_are_written_whole(tmp_path: Path) -> None:
    arrays = {str(number): np.full(number % 3, number, np.int32) for number in range(3000)}
    path = checkpoint.write(tmp_path, checkpoint.Saved(step=1, weights=arrays, rest={}, facts={}))
    assert same(checkpoint.read(path).weights, arrays)


def test_that_a_pointer_that_names_none_leaves_the_newest_first(tmp_path: Path) -> None:
    """What a power failure may leave of it."""
    store = checkpoint.Store(tmp_path, keep=9)
    names = [store.add(saved(step), is_best=False).name for step in (1, 2)]
    (tmp_path / "last").write_bytes(b"")
    assert [path.name for path in checkpoint.candidates(tmp_path)] == names[::-1]


def test_that_the_one_pointed_to_is_tried_before_newer_ones(tmp_path: Path) -> None:
    store = checkpoint.Store(tmp_path, keep=9)
    names = [store.add(saved(step), is_best=False).name for step in (1, 2, 3)]
    checkpoint.point(tmp_path / "last", names[1])
    assert [path.name for path in checkpoint.candidates(tmp_path)] == [names[1], names[2], names[0]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkpoint.write(tmp_path_factory.mktemp("whole"), saved(5, recipe="digits", lr=0.1))


@given(data=st.data())
def test_that_a_damaged_checkpoint_is_never_loaded(whole: Path, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(sorted(whole.iterdir())))
    content = file.read_bytes()
    place = data.draw(st.integers(0, len(content) - 1))
    kind = data.draw(st.sampled_from(("bit", "zeros", "cut", "longer", "gone")))
    damaged = {
        "bit": content[:place] + bytes([content[place] ^ data.draw(st.integers(1, 255))]) + content[place + 1 :],
        "zeros": content[:place] + bytes(len(content) - place),
        "cut": content[:place],
        "longer": content + b"\0",
        "gone": b"",
    }[kind]
    try:
        if kind == "gone":
            file.unlink()
        else:
            file.write_bytes(damaged)
        back = checkpoint.read(whole)
    except checkpoint.Damaged:
        return
    finally:
        file.write_bytes(content)
    if damaged == content:  # the last bytes of a file may be zeros anyway
        return
    # What is left is damage that changes nothing that is read: white space between the words of state.json.
    assert json.loads(damaged) == json.loads(content)
    assert back.step == 5


def test_that_ten_kills_while_writing_leave_the_last_one_whole(tmp_path: Path) -> None:
    figures = kill_writers(tmp_path, 10)
    assert figures["lost"] == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to mount a disk")
def test_that_a_full_disk_leaves_the_last_one_whole(tmp_path: Path) -> None:
    try:
        with small_disk(tmp_path / "disk", 4_000_000) as disk:
            step = fill(disk)
            assert step >= 3
            assert not list(disk.glob("step-*.tmp"))
            assert last_step(disk) == step
    except subprocess.CalledProcessError:
        pytest.skip("nothing can be mounted here")


KEEPER = """
import threading
from pathlib import Path
from types import SimpleNamespace
from ascend_engine.checkpoints import keeper
from ascend_engine.checkpoints.checkpoint import Saved

def make_keeper(**options):
    given = dict(checkpoint_every=None, checkpoint_minutes=None, keep=9, best="none")
    return keeper.Keeper(SimpleNamespace(**{**given, **options}), lambda step: Saved(step, {}, {}, {}))

def steps():
    return sorted(int(path.name.split("-")[1]) for path in keeper.FOLDER.glob("step-*"))
"""


def test_that_a_checkpoint_waits_for_the_one_before_and_the_training_does_not(tmp_path: Path) -> None:
    script = """
gate = threading.Event()
one = make_keeper(checkpoint_every=2)
add = one.writer.store.add
one.writer.store.add = lambda *given: (gate.wait(), add(*given))[1]
for step in range(1, 8):
    one.after_step(step, 1.0, {})
gate.set()
one.writer.wait()
assert steps() == [2], steps()
one.after_step(9, 1.0, {})  # the one that was due at 4
one.finish(9, 1.0, {})
assert steps() == [2, 9], steps()
"""
    check_fresh(tmp_path, KEEPER + script)
    assert [event["kind"] for event in read_events(tmp_path) if event["type"] == "artifact"] == ["checkpoint"] * 2


def test_that_the_best_is_saved_when_it_is_measured(tmp_path: Path) -> None:
    script = """
one = make_keeper(best="accuracy")
for step, accuracy in enumerate((0.5, 0.4, float("nan"), 0.9, 0.8), 1):
    one.after_step(10 * step, 1.0, {"accuracy": accuracy})
    one.after_step(10 * step + 1, 1.0, {})
one.finish(60, 1.0, {"accuracy": 0.85})
assert steps() == [10, 40, 60], steps()
assert (keeper.FOLDER / "best").read_text().startswith("step-000040-")
two = make_keeper(best="loss", checkpoint_every=10)
for step, loss in enumerate((3.0, 2.0, 9.0), 10):
    two.after_step(step, loss, {})
two.finish(12, 9.0, {})
assert (keeper.FOLDER / "best").read_text().startswith("step-000010-")
"""
    check_fresh(tmp_path, KEEPER + script)


def test_that_minutes_are_counted_from_the_last_one(tmp_path: Path) -> None:
    script = """
one = make_keeper(checkpoint_minutes=1)
one.after_step(1, 1.0, {})
one.moment -= 61
one.after_step(2, 1.0, {})
one.writer.wait()
one.after_step(3, 1.0, {})
assert steps() == [2], steps()
"""
    check_fresh(tmp_path, KEEPER + script)


def test_that_a_write_that_fails_is_told_once_and_the_training_goes_on(tmp_path: Path) -> None:
    script = """
keeper.FOLDER.parent.mkdir()
keeper.FOLDER.touch()
one = make_keeper(checkpoint_every=1)
for step in (1, 2):
    one.after_step(step, 1.0, {})
    one.writer.wait()
keeper.FOLDER.unlink()
one.finish(3, 1.0, {})
assert steps() == [3], steps()
"""
    check_fresh(tmp_path, KEEPER + script)
    (finding,) = (event for event in read_events(tmp_path) if event["type"] == "finding")
    assert (finding["rule"], finding["args"]["step"]) == ("launch.checkpoint_failed", 1)
    assert "File exists" in finding["args"]["reason"]
