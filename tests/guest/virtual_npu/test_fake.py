"""Rehearsals of which nothing is computed, in children with real PyTorch."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.guest.virtual_npu.two_cards import child, part

if TYPE_CHECKING:
    import subprocess

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

PROBES = Path(__file__).with_name("fake_probes.py")
FAKE = {"ASCEND_STUDIO_REHEARSAL_FAKE": "1"}


def fake(folder: Path, name: str, **more: str) -> subprocess.CompletedProcess[str]:
    return child(folder, str(PROBES), name, **FAKE, **more)


def card(folder: Path) -> dict[str, Any]:
    (held,) = part(folder)["memory"]
    return {name: held[name] for name in ("peak", "reserved", "step", "kinds", "missing")}


def test_that_a_step_without_numbers_holds_what_the_computed_one_holds_byte_for_byte(tmp_path: Path) -> None:
    folders = (tmp_path / "computed", tmp_path / "fake")
    for folder in folders:
        folder.mkdir()
    assert (computed := child(folders[0], str(PROBES), "decoder")).returncode == 0, computed.stderr
    assert (done := fake(folders[1], "decoder")).returncode == 0, done.stderr
    assert card(folders[0]) == card(folders[1])
    assert done.stdout.splitlines() == ["loss 1.000 perplexity 2.718"] * 3
    left = part(folders[1])
    assert [(row["use"], row["times"]) for row in left["fake"]["assumed"]] == [("read", 6)]
    assert left["steps"] == 3


def test_that_a_scaler_steps_and_shared_weights_stay_shared(tmp_path: Path) -> None:
    done = fake(tmp_path, "scaled")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["9", "True", "npu:0"]


def test_that_a_number_that_decides_something_is_named_with_its_line(tmp_path: Path) -> None:
    done = fake(tmp_path, "deciding")
    assert done.returncode == 0, done.stderr
    lines = PROBES.read_text("utf-8").splitlines()
    rows = {row["use"]: lines[row["line"] - 1].strip() for row in part(tmp_path)["fake"]["assumed"]}
    assert rows["compared"] == "if loss.item() > 0.5:"
    assert rows["size"] == "print(torch.zeros(int(loss.item()) + 1).shape)"


def test_that_an_operator_whose_sizes_follow_from_values_is_refused_by_name(tmp_path: Path) -> None:
    done = fake(tmp_path, "by_values")
    assert done.returncode != 0
    (row,) = part(tmp_path)["fake"]["refused"]
    assert row["operator"] == "aten.nonzero.default"
    assert PROBES.read_text("utf-8").splitlines()[row["line"] - 1].strip().startswith("chosen =")


def test_that_what_is_on_the_host_keeps_its_numbers(tmp_path: Path) -> None:
    done = fake(tmp_path, "real_data")
    assert done.stdout == "15.0 [0, 1, 2] npu:0\n", done.stderr


def test_that_one_rank_of_many_is_followed_alone(tmp_path: Path) -> None:
    done = fake(tmp_path, "sharded", RANK="3", LOCAL_RANK="0", WORLD_SIZE="8")
    assert done.returncode == 0, done.stderr
    size, rank, held, same = done.stdout.splitlines()[-1].split()
    assert (size, rank, same) == ("8", "3", "same")
    weights = 600 * 64 + 2 * 64 + 64 * 192 + 192 + 64 * 256 + 256 + 256 * 64 + 64
    assert 4 * weights / 8 <= int(held) <= 4 * weights / 8 + 12 * 512 + 4 * 64
    assert part(tmp_path)["fake"]["world"] == 8


def test_that_another_backend_is_refused_as_on_the_host_of_a_card(tmp_path: Path) -> None:
    done = fake(tmp_path, "other_backend", RANK="0", WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT="29555")
    assert done.returncode != 0
    assert "nccl" in done.stderr.lower()
