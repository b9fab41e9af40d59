"""The memory of a virtual card in a child with real PyTorch."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from tests.guest.virtual_npu.two_cards import child, part

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

PROBES = Path(__file__).with_name("memory_probes.py")
MIB = 1 << 20
GIB = 1 << 30


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    names = ("numbers_of_a_card", "out_of_memory", "beyond_the_host", "attention", "recurrent")
    folder = tmp_path_factory.mktemp("memory")
    done = child(folder, str(PROBES), *names, ASCEND_STUDIO_REHEARSAL_CARD_MEMORY="1")
    assert done.returncode == 0, done.stderr
    values: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return values | {"part": part(folder)}


def test_that_a_script_sees_blocks_segments_and_peaks_of_a_card(results: dict[str, Any]) -> None:
    block = 3 * MIB + 512
    expected = [
        block, 20 * MIB, 0, GIB - 20 * MIB, GIB, GIB, 0, 20 * MIB, block, 0, 0, 3 * MIB, 1, 0, 0,
    ]  # fmt: skip
    assert results["numbers_of_a_card"] == expected


def test_that_a_card_without_memory_says_so_in_the_words_of_torch_npu(results: dict[str, Any]) -> None:
    whole, part_of_it, numel, refused = results["out_of_memory"]
    assert whole == (
        "NPU out of memory. Tried to allocate 202.00 MiB (NPU 0; 1024.00 MiB total capacity; "
        "900.00 MiB already allocated; 900.00 MiB current active; 122.00 MiB free; "
        "902.00 MiB reserved in total by PyTorch)."
        "If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation."
    )
    assert "122.00 MiB free; 972.80 MiB allowed; 902.00 MiB reserved" in part_of_it
    assert (numel, refused) == (200 * MIB, 2)


def test_that_what_is_too_large_for_card_and_host_is_refused_by_the_card(results: dict[str, Any]) -> None:
    words = "NPU out of memory. Tried to allocate 32768.00 GiB (NPU 0; 1024.00 MiB total"
    assert results["beyond_the_host"].startswith(words)


def test_that_the_place_of_the_first_refusal_is_kept(results: dict[str, Any]) -> None:
    (card,) = results["part"]["memory"]
    refusal = card["refusal"]
    assert (refusal["path"], refusal["tried"], refusal["step"]) == (str(PROBES), 202 * MIB, 0)
    assert "torch.empty(200 * MIB" in PROBES.read_text("utf-8").splitlines()[refusal["line"] - 1]


def test_that_the_numbers_of_each_row_are_kept_for_the_backward_pass_of_attention(results: dict[str, Any]) -> None:
    rows = 2 * 4 * 64
    result, of_host, of_card = 2 * 4 * 64 * 32 * 4 + 512, rows * 4 + 512, 2 * (rows * 32 + 512)
    assert results["attention"] == result + of_host + of_card


def test_that_what_a_recurrent_network_keeps_for_its_backward_pass_is_counted_until_then(
    results: dict[str, Any],
) -> None:
    """At least a gate of each step: 32 x 8 x 64 numbers; of a cell, 8 x 64."""
    steps, cell = 32 * 8 * 64 * 4, 8 * 64 * 4
    for (kept, left), gate in zip(results["recurrent"], (steps, steps, steps, cell, cell), strict=True):
        assert kept > gate
        assert left <= kept - gate


def test_that_the_peak_is_shared_out_among_kinds_and_modules(tmp_path: Path) -> None:
    """Counted by hand: weights 256 x 512, 512, 512 + 512 of the norm, 512 x 128, 128; the peak is in the step."""
    done = child(tmp_path, str(PROBES), "training")
    assert done.returncode == 0, done.stderr
    (card,) = part(tmp_path)["memory"]
    sizes = [256 * 512, 512, 512, 512, 512 * 128, 128]
    weights = sum((size * 4 + 32 + 511) // 512 * 512 for size in sizes)
    kinds = card["kinds"]
    assert (kinds["parameters"], kinds["gradients"], kinds["optimizer"]) == (weights, weights, 2 * weights)
    assert kinds["buffers"] == 2 * (512 * 4 + 512) + 512  # mean, variance, and the count of batches
    assert sum(kinds.values()) == card["peak"]
    modules = {row["module"]: row["kinds"] for row in card["modules"]}
    assert modules["Sequential.0"]["parameters"] == (256 * 512 * 4 + 512) + (512 * 4 + 512)
    assert (card["card"], card["total"], card["missing"], card["refusal"]) == (0, 64 * GIB, 0, None)
