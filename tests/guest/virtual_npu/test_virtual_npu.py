"""The virtual NPU in a child with real PyTorch: `probes.py` trains there, the tests look at what came of it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from backends.migration.scan.facts.tables import aten_kinds
from studio.paths import GUEST
from tests.guest.rehearsed_process import events
from tests.guest.virtual_npu.two_cards import child, results_of

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

PROBES = Path(__file__).with_name("probes.py")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return results_of(PROBES, tmp_path_factory.mktemp("probes"))


def error(results: dict[str, Any], name: str) -> tuple[str, str]:
    kind, message = results[name]["error"]
    return kind, message


def test_that_a_tensor_is_an_ordinary_one_that_says_npu(results: dict[str, Any]) -> None:
    device, is_npu, kind, values, text = results["tensors_say_npu"]
    assert (device, is_npu, kind, values) == ("npu:0", True, "Tensor", [[1, 4], [2, 5], [3, 6]])
    assert text == "tensor([1, 4], device='npu:0')"


def test_that_each_way_to_a_card_leads_to_the_one_that_it_names(results: dict[str, Any]) -> None:
    expected = ["npu:0", "npu:1", "npu:1", "npu:0", "npu:1", "npu:1", "npu:0", "npu:1"]
    assert results["each_way_to_a_card"] == expected


def test_that_npu_without_an_index_is_the_current_card(results: dict[str, Any]) -> None:
    assert results["current_card"] == ["npu:1", "npu:1", 1, "npu:0", 1, 2, True]


@pytest.mark.parametrize(
    "network",
    ["convolutions", "transformers", "recurrent_networks", "optimizers", "bfloat16_autocast",
     "activation_checkpointing"],
)  # fmt: skip
def test_that_a_training_gives_the_bits_of_the_cpu(results: dict[str, Any], network: str) -> None:
    equal = results[network]
    assert equal is True or (len(equal) > 1 and set(equal) == {True})


def test_that_float16_under_autocast_is_float16_and_losses_are_float32(results: dict[str, Any]) -> None:
    assert results["float16_autocast"] == ["torch.float16", "torch.float32", "torch.float32", "65536.0"]


def test_that_packed_sequences_second_derivatives_and_indices_work(results: dict[str, Any]) -> None:
    assert results["packed_sequences"] == [[5, 3, 8], "npu:0", "cpu"]
    assert results["second_derivatives"] == [6.0, 6.0]
    assert results["indices"] == [4.0, 4.0, 0.0]
    assert results["tensors_that_grow"] == [[2.0, 2.0, 2.0], [6], [1.0, 1.0], "npu:0"]


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("batch_left_on_the_cpu", "RuntimeError", "at least two devices, npu:0 and cpu!"),
        ("two_cards_in_an_operator", "RuntimeError", "at least two devices, npu:0 and npu:1!"),
        ("index_beyond_the_cards", "RuntimeError", "Invalid device ID."),
        ("numpy_of_a_card", "TypeError", "can't convert npu:0 device type tensor to numpy"),
        ("generator_of_the_cpu", "RuntimeError", "Expected a 'npu' device type for generator but found 'cpu'"),
        ("generated_code", "BackendCompilerFailed", "a card would have its kernels generated here"),
        ("sparse_on_a_card", "NotImplementedError", "The virtual NPU has no torch.sparse_coo tensors"),
        ("quantized_on_a_card", "NotImplementedError", "The virtual NPU has no quantized tensors"),
        ("storage_beyond_its_first_size", "RuntimeError", "cannot grow to 64 here"),
    ],
)
def test_that_what_cannot_be_is_refused(results: dict[str, Any], name: str, kind: str, words: str) -> None:
    found, message = error(results, name)
    assert found == kind
    assert words in message


def test_that_a_scalar_of_the_cpu_joins_a_tensor_of_a_card(results: dict[str, Any]) -> None:
    assert results["scalar_of_the_cpu"] == [3.0, 3.0]


def test_that_a_card_draws_the_numbers_of_the_cpu_until_it_is_seeded_by_itself(results: dict[str, Any]) -> None:
    device, same_generator, like_cpu, repeats, still_like_cpu = results["generators"]
    assert device == "npu:0"
    assert same_generator
    assert like_cpu
    assert repeats
    assert not still_like_cpu


def test_that_weights_are_saved_and_loaded_to_where_the_map_says(results: dict[str, Any]) -> None:
    assert results["files_of_weights"] == [["npu:0", True], ["cpu", True], ["npu:1", True], ["npu:1", True]]
    assert results["copies_and_pickles"] == ["npu:0", "npu:0", True]
    assert results["shared_weights"]


def test_that_bytes_alive_are_counted_in_blocks_and_only_once_for_views(results: dict[str, Any]) -> None:
    assert results["bytes_alive"] == [4096, 4096, 0, 0]
    assert results["peak_of_memory"] == [(4 << 20) + 512, 64 << 30]  # 32 bytes more than asked for, in blocks of 512


def test_that_a_storage_that_was_emptied_and_filled_again_has_its_new_values_everywhere(
    results: dict[str, Any],
) -> None:
    size, freed, values, clone, loaded = results["storages_that_shrink_and_grow"]
    assert (size, freed) == (0, -512)
    assert (values, clone, loaded) == ([2.0] * 4, [2.0] * 3, [2.0] * 4)


def test_that_the_workers_of_a_loader_give_pinned_batches(results: dict[str, Any]) -> None:
    assert results["loaders_with_workers"] == [[True, "npu:0"]] * 4


def test_that_graphs_are_captured_and_streams_and_events_answer(results: dict[str, Any]) -> None:
    assert results["captured_graphs"] == ["npu:0", "npu:0"]


def test_that_the_compiler_makes_one_graph_of_a_network_and_none_of_the_studio(results: dict[str, Any]) -> None:
    assert results["graphs_of_three_layers"] == [1, 0]
    assert results["streams_and_events"] == [True, [1.0, 1.0]]


def test_that_odd_tensors_work_or_stay_where_they_are(results: dict[str, Any]) -> None:
    assert results["odd_tensors"] == [2.0, [0, 3], 0.0, "meta", "Parameter", [2.0, 2.0, 2.0], True, True]
    assert results["sparse_tensors"] == ["cpu", "npu:0", "cpu"]
    assert results["quantized_tensors"] == ["cpu", [1.0, 1.0]]


@pytest.mark.parametrize(("visible", "count"), [("0", 1), ("1,0", 2), ("", 0), ("5", 0), ("0,-1,1", 1)])
def test_that_a_process_sees_the_cards_that_it_may(tmp_path: Path, visible: str, count: int) -> None:
    """Without torch: the count is asked for before any tensor is made."""
    script = "from ascend_studio.virtual_npu import cards; print(cards.count())"
    assert child(tmp_path, "-c", script, ASCEND_RT_VISIBLE_DEVICES=visible).stdout == f"{count}\n"


def test_that_the_guest_knows_the_operators_without_a_kernel_that_the_scan_knows() -> None:
    shipped = json.loads((GUEST / "ascend_studio" / "virtual_npu" / "cpu_fallback.json").read_text("utf-8"))
    kinds = aten_kinds()
    for kind in ("fallback", "maybe"):
        assert sorted(shipped[kind]) == sorted(name for name in kinds if kinds[name] == kind)


def test_that_the_record_says_that_the_npu_is_a_virtual_one(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch, torch_npu\nprint(torch.npu.get_device_name(), torch.ones(1).npu().sum().item())")
    done = child(tmp_path, str(script))
    assert done.stdout == "Virtual NPU (CPU) 1.0\n", done.stderr
    assert [event["key"] for event in events(tmp_path) if event["type"] == "note"] == ["rehearsal.on_virtual_npu"]
    (part,) = (tmp_path / "artifacts" / "rehearsal").glob("part.*.json")
    record = json.loads(part.read_text("utf-8"))
    assert record["device"] == "virtual_npu"
    assert record["device_operators"] > 0


def test_that_a_virtual_npu_is_asked_for_or_turned_off_and_the_record_says_which(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch, torch_npu\nprint(torch.ones(1).npu().device)")
    done = child(tmp_path, str(script), ASCEND_STUDIO_REHEARSAL_NPU_DEVICE="cpu")
    assert done.stdout == "cpu\n", done.stderr
    assert [event["key"] for event in events(tmp_path) if event["type"] == "note"] == ["rehearsal.as_npu"]


@pytest.mark.parametrize(("choice", "code"), [("auto", 0), ("virtual", 1)])
def test_that_a_torch_without_such_a_device_redirects_or_refuses_and_says_so(
    tmp_path: Path, choice: str, code: int
) -> None:
    """A torch without one of the parts that are needed, as an older release is."""
    script = tmp_path / "train.py"
    script.write_text("import torch, torch_npu\nprint(torch.ones(1).npu().device)")
    starter = tmp_path / "start.py"
    starter.write_text(
        "import runpy\nfrom ascend_studio import virtual_npu\nvirtual_npu.is_possible = lambda torch: False\n"
        "runpy.run_path('train.py', run_name='__main__')\n"
    )
    done = child(tmp_path, str(starter), ASCEND_STUDIO_REHEARSAL_NPU_DEVICE=choice)
    assert done.returncode == code
    if code:
        assert "The virtual NPU needs a PyTorch whose backends can be written in Python, from 2.13 on" in done.stderr
    else:
        assert done.stdout == "cpu\n", done.stderr
        keys = [event["key"] for event in events(tmp_path) if event["type"] == "note"]
        assert keys == ["rehearsal.no_virtual_npu", "rehearsal.as_npu"]
