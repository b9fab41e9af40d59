"""Dynamic shapes, waits for the card, casts and refused dtypes, and a step of very many operators."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.guest.virtual_npu.two_cards import child, part

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

PROBES = Path(__file__).with_name("inventory_probes.py")
LINES = PROBES.read_text("utf-8").splitlines()


def line(number: int) -> str:
    return LINES[number - 1].strip()


def test_that_shapes_that_change_and_waits_for_the_card_have_their_lines(tmp_path: Path) -> None:
    done = child(tmp_path, str(PROBES), "training")
    assert done.returncode == 0, done.stderr
    left = part(tmp_path)["inventory"]
    waits = {(row["operator"], line(row["line"])): (row["calls"], row["bytes_read"]) for row in left["waits"]}
    assert waits[("_local_scalar_dense", "loss.item()")] == (3, 12)
    assert waits[("_to_copy", "loss.detach().cpu()")] == (3, 12)
    assert waits[("torch.npu.synchronize", "torch_npu.npu.synchronize()")] == (3, 0)
    assert waits[("index", "batch[batch > 0].sum()")] == (3, 0)
    linear = next(row for row in left["dynamic"] if row["operator"] == "aten.addmm.default")
    assert (linear["module"], line(linear["line"])) == ("Linear", "loss = net(batch).square().mean()")
    assert (linear["count"], linear["step"], linear["shapes"][0]) == (3, 1, "8 4x8 8x8")
    assert not any(row["operator"] == "aten._local_scalar_dense.default" for row in left["dynamic"])


def test_that_a_result_whose_shape_follows_from_values_is_dynamic(tmp_path: Path) -> None:
    done = child(tmp_path, str(PROBES), "masks")
    assert done.returncode == 0, done.stderr
    rows = {row["operator"]: row for row in part(tmp_path)["inventory"]["dynamic"]}
    row = rows["aten.index.Tensor"]
    assert line(row["line"]) == "batch[batch > 0].sum()"
    assert (row["count"], row["shapes"]) == (3, ["-> 31", "-> 23", "-> 15"])


def test_that_a_cast_to_float64_gives_float32_with_the_warning_of_torch_npu(tmp_path: Path) -> None:
    done = child(tmp_path, "-W", "always", str(PROBES), "casts")
    narrow, wide = "torch.float32 torch.float32", "torch.float64 torch.float64"
    assert done.stdout.splitlines() == [narrow, narrow, wide], done.stderr
    assert done.stderr.count("Device do not support double dtype now, dtype cast replace with float.") == 1
    (row,) = part(tmp_path)["inventory"]["casts"]
    assert (row["times"], line(row["line"])) == (4, "print(batch.double().dtype, batch.to(torch.float64).dtype)")


def test_that_float64_is_refused_where_the_wheel_says_so(tmp_path: Path) -> None:
    done = child(tmp_path, str(PROBES), "refused")
    words = ["Input data type should not be float64", "upsample_binlinear_2d not support torch.fp64 dtypes"]
    assert [words.strip() for words in done.stdout.splitlines()] == words, done.stderr


def test_that_a_step_of_very_many_operators_is_bounded(tmp_path: Path) -> None:
    """A tenth of the 100,000 that the issue names; the rows of the table and the report keep their bounds."""
    done = child(tmp_path, str(PROBES), "many_operators", "10000")
    assert done.returncode == 0, done.stderr
    left = part(tmp_path)
    (path,) = (tmp_path / "artifacts" / "rehearsal").glob("part.*.json")
    assert path.stat().st_size < 10_000_000
    assert len(left["operators"]) <= 20000 + 50
    assert left["device_operators"] > 20000
    assert sum(row["peak"] for row in left["memory"]) < 10_000_000
