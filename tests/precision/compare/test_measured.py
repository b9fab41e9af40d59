"""Tensors of two dumps, compared where torch alone can read some of their files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from backends.precision.compare.values import tensor_distance
from backends.precision.compare.values.joined import join_dumps
from backends.precision.compare.values.tensor_distance import measure_tensors
from backends.precision.dump.layout import find_dumps
from backends.precision.dump.read import read_dump
from tests.packages import skip_without
from tests.precision.dump.recorded import folder_of

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.compare.values.tensor_distance import Measured

OLD = """
import sys, torch
for path in sys.argv[1:]:
    torch.save(torch.load(path, weights_only=True), path, _use_new_zipfile_serialization=False)
"""
FEW = 6


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump some of whose files are written as torch did before 1.6."""
    skip_without("torch")
    step = tmp_path_factory.mktemp("旧 🚀") / "step0"
    shutil.copytree(folder_of("torch_tensor"), step / "rank0")
    files = sorted((step / "rank0" / "dump_tensor_data").glob("*.output.0.pt"))[:FEW]
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", OLD, *map(str, files)], env=environment, check=True)
    return step.parent


def measured_of(target: Path, scratch: Path) -> Measured:
    sides = (read_dump(find_dumps(folder)[0]) for folder in (target, folder_of("torch_tensor")))
    return measure_tensors(join_dumps(*sides, {}), lambda done, total: None, scratch)


def keys(found: Measured) -> list[str]:
    return [key for key, _ in found.notes]


def count(found: Measured) -> int:
    assert found.measures is not None
    return int((~np.isnan(found.measures[:, 0])).sum())


def test_that_tensors_of_an_old_torch_are_measured_and_nothing_of_them_stays(old: Path, tmp_path: Path) -> None:
    found, whole = measured_of(old, tmp_path / "new"), measured_of(folder_of("torch_tensor"), tmp_path / "new")
    assert (count(found), keys(found)) == (count(whole), [])
    np.testing.assert_array_equal(found.measures, whole.measures)
    assert not (tmp_path / "new").exists()


def test_that_it_is_said_how_many_tensors_need_a_torch_that_is_not_there(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/no/python")
    found = measured_of(old, tmp_path / "new")
    (note,) = found.notes
    assert note == ("precision.compare.tensors_need_torch", {"count": note[1]["count"]})
    assert note[1]["count"] >= FEW
    assert count(found)
    assert not (tmp_path / "new").exists()


def test_that_it_is_said_how_many_tensors_are_too_many_for_torch(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensor_distance, "MAX_REWRITTEN_BYTES", 1)
    assert keys(measured_of(old, tmp_path / "new")) == ["precision.compare.tensors_beyond"]


def test_that_a_stop_ends_the_child_and_takes_its_files_away(old: Path, tmp_path: Path) -> None:
    class Asked(Exception):
        pass

    def told(done: int, total: int) -> None:
        if done == total:
            raise Asked

    sides = (read_dump(find_dumps(folder)[0]) for folder in (old, folder_of("torch_tensor")))
    with pytest.raises(Asked):
        measure_tensors(join_dumps(*sides, {}), told, tmp_path / "new")
    assert not (tmp_path / "new").exists()
