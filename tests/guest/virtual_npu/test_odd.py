"""What real trainings asked of the virtual NPU and did not get, in a child with real PyTorch: `odd_probes.py`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tests.guest.virtual_npu.two_cards import results_of

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return results_of(Path(__file__).with_name("odd_probes.py"), tmp_path_factory.mktemp("odd"))


def test_that_cells_of_recurrent_networks_give_the_bits_of_the_cpu(results: dict[str, Any]) -> None:
    assert results["recurrent_cells"] == [True, True, True]


def test_that_recurrent_networks_run_in_inference_mode(results: dict[str, Any]) -> None:
    assert results["recurrent_inference"] == ["npu:0"] * 4


def test_that_recurrent_networks_refuse_tensors_of_two_devices(results: dict[str, Any]) -> None:
    batch, state, weights, cell = results["recurrent_tensors_of_two_devices"]
    words = "Input and %s tensors are not at the same device, found input tensor at %s and %s tensor at %s"
    assert batch == cell == words % ("parameter", "cpu", "parameter", "npu:0")
    assert state == words % ("hidden", "npu:0", "hidden", "cpu")
    assert weights == words % ("parameter", "npu:0", "parameter", "cpu")
    assert results["packed_sequence"] == "npu:0"


def test_that_fused_operators_refuse_tensors_of_the_host(results: dict[str, Any]) -> None:
    of_host, of_card = results["fused_operators_of_the_host"]
    assert of_host == "Could not run 'npu::npu_swiglu' with arguments from the 'CPU' backend."
    assert of_card == "not refused: npu:0"


def test_that_the_host_does_not_draw_from_the_generator_of_a_card(results: dict[str, Any]) -> None:
    first, second, *refused = results["generators_of_a_card_on_the_host"]
    assert (first, second) == ("npu:0", "npu:0")
    assert refused == ["Expected a 'cpu' device type for generator but found 'npu'"] * 4


def test_that_a_card_in_use_cannot_be_used_in_a_forked_process(results: dict[str, Any]) -> None:
    words, on_cpu = results["card_in_a_fork"]
    assert words.startswith("Cannot re-initialize NPU in forked subprocess")
    assert on_cpu == "2.0"


def test_that_the_names_of_dtypes_make_tensors_of_a_card(results: dict[str, Any]) -> None:
    assert results["names_of_dtypes"] == [
        "npu:0", [1.0, 2.0], [2, 3], "npu:0", "torch.int64", True, False, False, "torch.float64",
        "torch.npu.FloatTensor", True,
    ]  # fmt: skip
    assert results["names_of_dtypes_on_another_card"] == ["npu:1", "npu:1"]
    assert results["default_tensor_type"] == ["npu:0", "torch.float16", "cpu"]


def test_that_functions_which_make_tensors_are_compiled_by_torchscript(results: dict[str, Any]) -> None:
    assert results["scripted_functions"] == [3.0, 3.0]
    assert results["forward_derivatives"] == [3.0, 3.0]


def test_that_memory_that_was_freed_and_taken_again_keeps_its_address(results: dict[str, Any]) -> None:
    assert results["address_of_a_storage_that_grew"] == [0, True, True, [4.0], [4.0, 4.0]]


def test_that_two_processes_share_the_weights_of_a_card(results: dict[str, Any]) -> None:
    sevens = [[7.0, 7.0], [7.0, 7.0]]
    assert results["weights_of_another_process"] == [["npu:0", sevens, True], sevens, 0]


def test_that_a_loader_which_pins_memory_leaves_the_threads_of_the_computation_alone(results: dict[str, Any]) -> None:
    assert results["threads_of_a_pinning_loader"] == 2


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("use_of_freed_memory", "RuntimeError", "out of bounds for storage of size 0"),
        ("sparse_from_the_host", "RuntimeError", "is not currently supported on the NPU backend"),
        ("sparse_gradients", "RuntimeError", "A card takes no sparse tensor"),
        ("nested_of_padded_rows", "NotImplementedError", "The virtual NPU has no nested tensors"),
    ],
)
def test_that_what_a_card_has_not_is_refused_by_name(results: dict[str, Any], name: str, kind: str, words: str) -> None:
    found, message = results[name]["error"]
    assert found == kind
    assert words in message
