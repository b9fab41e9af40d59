"""Fused operators and optimizers of torch_npu, by their documented formulas, in a child on the virtual NPU."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.guest.virtual_npu.two_cards import child

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

PROBES = Path(__file__).with_name("fused_probes.py")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    names = re.findall(r"^def (\w+)\(\) ->", PROBES.read_text("utf-8"), re.MULTILINE)
    done = child(tmp_path_factory.mktemp("fused"), str(PROBES), *names)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_that_the_norm_is_that_of_pytorch_with_gradients_and_the_reciprocal_in_float32(results: dict[str, Any]) -> None:
    equal, *rest = results["rms_norm"]
    assert equal == [True, True, True]
    assert rest == [[2, 3, 1], "torch.float32", "torch.float16", "npu:0"]


@pytest.mark.parametrize(
    "name",
    ["activations", "rotary_positions", "attention_of_each_layout", "attention_with_masks", "attention_of_sequences",
     "attention_dropout", "optimizers"],
)  # fmt: skip
def test_that_a_formula_agrees_with_the_operators_it_stands_for(results: dict[str, Any], name: str) -> None:
    assert len(results[name]) > 1
    assert set(results[name]) == {True}


def test_that_what_an_npu_or_the_formulas_lack_is_refused_by_name(results: dict[str, Any]) -> None:
    kinds = [kind for kind, _ in results["refusals"]]
    assert kinds == ["RuntimeError"] * 5 + ["AttributeError"] * 2
    words = ("not int32", "one dtype", "input_layout", "2048", "two devices", "npu_lstm", "NpuFusedLamb")
    assert all(word in message for word, (_, message) in zip(words, results["refusals"], strict=True))


def test_that_a_fused_optimizer_refuses_what_the_wheel_refuses(results: dict[str, Any]) -> None:
    assert results["optimizer_refusals"] == ["TypeError", "ValueError", "TypeError"]


def test_that_gradients_that_a_fused_optimizer_would_not_see_are_told(results: dict[str, Any]) -> None:
    assert results["replaced_gradients"] == [["torch_npu.optim.NpuFusedSGD", "disabled", "2 gradients were rep"]]
