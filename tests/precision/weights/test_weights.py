"""The command compare-weights: its answer and its exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from backends.precision.weights import result
from backends.precision.weights.checkpoints import refuse_same_files
from backends.precision.weights.spec import Accepted, Checkpoints, WeightsSpec
from backends.precision.weights.work import compare_weights
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from studio.events import Finding, Note
from studio.sentences import sentence_of
from tests.command_line import last_json, studio
from tests.runs import events_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studio.events import Ended

Arrays = dict[str, np.ndarray[Any, Any]]


@pytest.fixture
def weights() -> Arrays:
    rng = np.random.default_rng(3)
    return {
        "a.weight": rng.standard_normal((40, 30)).astype(np.float32),
        "b.weight": rng.standard_normal((30, 20)).astype(np.float32),
        "c.bias": np.zeros(20, np.float32),
    }


def sentences(tmp_path: Path) -> list[str]:
    """What the newest comparison says, verdict first."""
    events = [event for event in events_of(runs.runs_in(tmp_path / "runs")[0]) if isinstance(event, (Note, Finding))]
    return [sentence_of(event) for event in events]


def compared(tmp_path: Path, target: Arrays, golden: Arrays, allow: float = 0) -> tuple[Ended, dict[str, Any]]:
    save_file(target, tmp_path / "target 权重.safetensors")
    save_file(golden, tmp_path / "golden.safetensors")
    checkpoints = Checkpoints(
        target_weights=tmp_path / "target 权重.safetensors", golden_weights=tmp_path / "golden.safetensors"
    )
    spec = WeightsSpec(checkpoints=checkpoints, accepted=Accepted(allow_weights=allow))
    run = runs.create(tmp_path / "runs", "compare-weights", schema.to_json(spec))
    ended = compare_weights(spec, run)
    assert not (run.folder / "scratch").exists()
    assert events_of(run)
    return ended, result.weights_answer(run)


def test_that_equal_checkpoints_give_0_and_name_nothing(tmp_path: Path, weights: Arrays) -> None:
    ended, answer = compared(tmp_path, weights, weights)
    assert ended.code == 0
    assert answer == {
        "verdict": "equal", "first_different": None, "tensors": 3, "differs": 0, "close": 0, "equal": 3, "missing": [],
        "extra": [], "training_state": [], "pairing": {"name": 3, "prefix": 0, "order": 0}, "dtypes": {},
        "nonfinite": 0, "suggested": [], "largest": None, "unread": [], "values": [],
    }  # fmt: skip


def test_that_a_perturbed_tensor_is_named_and_the_answer_is_no(tmp_path: Path, weights: Arrays) -> None:
    changed = weights["b.weight"] + np.float32(0.01)
    ended, answer = compared(tmp_path, weights | {"b.weight": changed}, weights)
    assert (ended.code, ended.reason) == (3, "no")
    assert (answer["first_different"], answer["differs"], answer["equal"]) == ("b.weight", 1, 2)
    assert answer["largest"]["max_abs"] == pytest.approx(0.01, rel=1e-4)
    wanted = np.linalg.norm(changed - weights["b.weight"]) / np.linalg.norm(weights["b.weight"])
    assert answer["largest"]["l2_rel"] == pytest.approx(wanted, rel=1e-4)


def test_that_what_is_allowed_is_close_and_passes(tmp_path: Path, weights: Arrays) -> None:
    noisy = {name: value * np.float32(1 + 1e-5) for name, value in weights.items()}
    assert compared(tmp_path, noisy, weights)[0].code == 3
    ended, answer = compared(tmp_path, noisy, weights, allow=1e-4)
    assert ended.code == 0
    assert (answer["close"], answer["equal"], answer["differs"], answer["first_different"]) == (2, 1, 0, None)


def test_that_another_dtype_is_no_equality_even_of_equal_values(tmp_path: Path, weights: Arrays) -> None:
    narrow = weights | {"c.bias": weights["c.bias"].astype(np.float16)}
    ended, answer = compared(tmp_path, narrow, weights)
    assert (ended.code, answer["first_different"]) == (3, "c.bias")
    assert compared(tmp_path, narrow, weights, allow=1e-9)[0].code == 0


def test_that_equal_values_of_another_dtype_say_only_that(tmp_path: Path, weights: Arrays) -> None:
    wide = {name: value.astype(np.float64) for name, value in weights.items()}
    ended, answer = compared(tmp_path, wide, weights)
    assert (ended.code, answer["verdict"], answer["dtypes"]) == (3, "dtypes", {"float32 → float64": 3})
    assert sentences(tmp_path)[0].startswith("All values are equal; only dtypes differ.")


BF16 = np.uint32(0xFFFF0000)


def test_that_rounding_to_bfloat16_passes_and_its_dtype_is_said(tmp_path: Path, weights: Arrays) -> None:
    rounded = {
        name: ((value.view(np.uint32) + np.uint32(0x8000)) & BF16).view(np.float32) for name, value in weights.items()
    }
    assert compared(tmp_path, rounded, weights, allow=0.004)[0].code == 0
    half = {name: value.astype(np.float16) for name, value in weights.items()}
    ended, answer = compared(tmp_path, half, weights, allow=0.001)
    assert (ended.code, answer["verdict"]) == (0, "close")
    assert "Other dtypes, from golden to target: float32 → float16 (3)." in sentences(tmp_path)


def test_that_noise_that_is_spread_over_a_tensor_passes(tmp_path: Path, weights: Arrays) -> None:
    rng = np.random.default_rng(5)
    noisy = {name: value + np.float32(0.003) * rng.standard_normal(value.shape, np.float32) * value.std()
             for name, value in weights.items()}  # fmt: skip
    assert compared(tmp_path, noisy, weights, allow=0.01)[0].code == 0


@pytest.mark.parametrize("allow", [0.01, 0.1])
def test_that_one_turned_sign_among_many_elements_does_not_pass(tmp_path: Path, allow: float) -> None:
    golden = np.random.default_rng(1).standard_normal(100_000).astype(np.float32)
    target = golden.copy()
    place = int(np.argmin(np.abs(np.abs(golden) - 1.5 * allow)))
    target[place] *= -1
    ended, answer = compared(tmp_path, {"w": target}, {"w": golden}, allow=allow)
    assert (ended.code, answer["verdict"], answer["largest"]["turned"]) == (3, "differs", 1)
    assert "elements with the other sign: 1" in sentences(tmp_path)[1]


def test_that_one_element_that_is_far_off_does_not_pass(tmp_path: Path) -> None:
    golden = np.random.default_rng(1).standard_normal(100_000).astype(np.float32)
    golden[0] = 60
    target = golden.copy()
    target[7] = golden[7] + 0.1
    ended, answer = compared(tmp_path, {"w": target}, {"w": golden}, allow=0.01)
    assert (ended.code, answer["largest"]["outliers"]) == (3, 1)
    assert answer["largest"]["reason"] == "precision.weights.reason_elements"


def turned(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    changed = values.copy()
    changed[3, 4] = -1.0
    return changed


def changed_at(values: np.ndarray[Any, Any], value: float) -> np.ndarray[Any, Any]:
    changed = values.copy()
    changed[5, 6] = value
    return changed


FAULTS: dict[str, Callable[[Arrays], Arrays]] = {
    "one turned sign": lambda w: w | {"a.weight": turned(w["a.weight"])},
    "one element off": lambda w: w | {"a.weight": changed_at(w["a.weight"], w["a.weight"][5, 6] + 0.1)},
    "one element zero": lambda w: w | {"a.weight": changed_at(w["a.weight"], 0.0)},
    "one NaN": lambda w: w | {"a.weight": changed_at(w["a.weight"], np.nan)},
    "infinity": lambda w: w | {"a.weight": changed_at(w["a.weight"], np.inf)},
    "two percent": lambda w: w | {"b.weight": w["b.weight"] * np.float32(1.02)},
    "one row scaled": lambda w: w | {"b.weight": np.concatenate([w["b.weight"][:1] * 2, w["b.weight"][1:]])},
    "rows swapped": lambda w: w | {"b.weight": w["b.weight"][::-1].copy()},
    "transposed": lambda w: w | {"a.weight": w["a.weight"].T.copy()},
    "negated": lambda w: w | {"b.weight": -w["b.weight"]},
    "other weights": lambda w: w | {"a.weight": np.roll(w["a.weight"], 1)},
    "bias moved": lambda w: w | {"c.bias": w["c.bias"] + np.float32(1e-6)},
    "an index that is another one": lambda w: w | {"ids": np.array([7000, 8000, 9001])},
    "a mask that is another one": lambda w: w | {"seen": np.arange(400) > 1},
    "missing": lambda w: {name: value for name, value in w.items() if name != "c.bias"},
    "extra": lambda w: w | {"d.weight": np.ones(3, np.float32)},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_that_no_planted_fault_is_a_success_with_one_percent_allowed(
    tmp_path: Path, weights: Arrays, fault: str
) -> None:
    weights["a.weight"][3, 4], weights["a.weight"][5, 6] = 1.0, 0.5
    weights |= {"ids": np.array([7000, 8000, 9000]), "seen": np.arange(400) > 0}
    ended, answer = compared(tmp_path, FAULTS[fault](weights), weights, allow=0.01)
    assert (ended.code, answer["verdict"] in ("differs", "incomplete")) == (3, True)


def test_that_pairs_by_order_alone_are_said(tmp_path: Path, weights: Arrays) -> None:
    renamed = {f"x{number}": value for number, value in enumerate(weights.values())}
    ended, answer = compared(tmp_path, renamed, weights)
    assert (ended.code, answer["pairing"]) == (0, {"name": 0, "prefix": 0, "order": 3})
    assert sentences(tmp_path)[1].startswith("Paired only by shape and order")


def test_that_the_optimizer_and_the_epoch_of_one_side_are_no_weights(of_torch: Path, tmp_path: Path) -> None:
    import torch

    state = torch.load(of_torch / "nested.pt", weights_only=True)
    torch.save(state["model"], tmp_path / "plain.pt")
    words = ("compare-weights", str(of_torch / "nested.pt"), str(tmp_path / "plain.pt"), "--json")
    done = studio(*words, cwd=tmp_path)
    answer = last_json(done)
    assert (done.returncode, answer["verdict"], answer["extra"]) == (0, "equal", []), done.stderr
    assert {"rng", "optimizer.state.0.exp_avg"} <= set(answer["training_state"])
    assert "Not weights" in done.stderr
    optimizer = dict(state["optimizer"])
    optimizer["state"][0]["exp_avg"][0] += 1
    torch.save({**state, "optimizer": optimizer}, tmp_path / "other.pt")
    done = studio("compare-weights", str(tmp_path / "other.pt"), str(of_torch / "nested.pt"), "--json", cwd=tmp_path)
    assert (done.returncode, last_json(done)["first_different"]) == (3, "optimizer.state.0.exp_avg")


def test_that_missing_and_extra_tensors_are_a_no(tmp_path: Path, weights: Arrays) -> None:
    extra = {"new": np.zeros((9, 9), np.float32)}
    ended, answer = compared(tmp_path, {**weights, **extra}, weights)
    assert (ended.code, answer["extra"], answer["first_different"]) == (3, ["new"], None)
    ended, answer = compared(tmp_path, weights, {**weights, **extra})
    assert (ended.code, answer["missing"], answer["verdict"]) == (3, ["new"], "incomplete")
    assert sentences(tmp_path)[0].startswith("Not all weights could be compared. Missing in the target: 1;")


@pytest.mark.parametrize(
    "name",
    ["loops.0.weight", "random.proj.weight", "scheduler.net.bias", "moments.fc.weight", "step.weight", "optim.weight"],
)
def test_that_a_weight_of_a_module_that_is_called_as_a_state_is_not_left_out(
    tmp_path: Path, weights: Arrays, name: str
) -> None:
    ended, answer = compared(tmp_path, weights, weights | {name: np.ones(3, np.float32)})
    assert (ended.code, answer["verdict"], answer["missing"]) == (3, "incomplete", [name])


def test_that_what_an_optimizer_keeps_by_the_names_of_weights_is_no_weight(tmp_path: Path, weights: Arrays) -> None:
    moments = {f"moments.{name}": value for name, value in weights.items()}
    state = {f"optimizer.master.{name}": value for name, value in weights.items()}
    ended, answer = compared(tmp_path, weights, weights | moments | state | {"global_step": np.array([3])})
    assert (ended.code, answer["verdict"], len(answer["training_state"])) == (0, "equal", 7)


def test_that_tensors_without_elements_are_no_comparison(tmp_path: Path) -> None:
    ended, answer = compared(tmp_path, {"w": np.zeros((0, 3), np.float32)}, {"w": np.zeros((0, 3), np.float32)})
    assert (ended.code, answer["verdict"]) == (3, "incomplete")


def test_that_a_hard_link_is_the_same_checkpoint(tmp_path: Path, weights: Arrays) -> None:
    save_file(weights, tmp_path / "a.safetensors")
    (tmp_path / "b.safetensors").hardlink_to(tmp_path / "a.safetensors")
    with pytest.raises(StudioError) as refused:
        refuse_same_files(tmp_path / "a.safetensors", tmp_path / "b.safetensors")
    assert refused.value.key == "precision.rule.same_weights"


def test_that_the_same_nan_on_both_sides_is_incomplete_and_infinity_of_a_mask_is_not(
    tmp_path: Path, weights: Arrays
) -> None:
    mask = weights | {"mask": np.full((3, 3), -np.inf, np.float32)}
    assert compared(tmp_path, mask, mask)[0].code == 0
    weights["a.weight"][0, 0] = np.nan
    for allow in (0, 0.1):
        ended, answer = compared(tmp_path, weights, weights, allow)
        assert (ended.code, ended.reason, answer["verdict"]) == (3, "incomplete", "incomplete")
    assert "1 tensors are NaN at the same places on both sides" in sentences(tmp_path)[0]


@pytest.mark.parametrize("name", ["optimizer.state.0.exp_avg", "state.0.exp_avg"])
def test_that_files_of_optimizer_state_alone_are_incomplete(tmp_path: Path, weights: Arrays, name: str) -> None:
    state = {name: weights["a.weight"]}
    ended, answer = compared(tmp_path, state, state)
    assert (ended.code, answer["verdict"]) == (3, "incomplete")
    assert sentences(tmp_path)[0].startswith("No weight was compared")


def test_that_a_nan_differs_whatever_is_allowed(tmp_path: Path, weights: Arrays) -> None:
    broken = weights["a.weight"].copy()
    broken[0, 0] = np.nan
    ended, answer = compared(tmp_path, weights | {"a.weight": broken}, weights, allow=1e6)
    assert (ended.code, answer["first_different"], answer["largest"]["max_abs"]) == (3, "a.weight", "Infinity")


def test_that_a_transposed_weight_has_no_figures_but_a_reason(tmp_path: Path, weights: Arrays) -> None:
    ended, answer = compared(tmp_path, weights | {"a.weight": weights["a.weight"].T.copy()}, weights)
    assert (ended.code, answer["largest"]["reason"], answer["largest"]["l2_rel"]) == (
        3,
        "precision.measure.shapes",
        "NaN",
    )
    assert "The first is a.weight: its shape is 30 × 40 instead of 40 × 30." in sentences(tmp_path)


def test_that_a_result_is_read_as_it_was_kept(tmp_path: Path, weights: Arrays) -> None:
    compared(tmp_path, weights | {"a.weight": -weights["a.weight"]}, weights)
    (run,) = runs.runs_in(tmp_path / "runs")
    found = result.read_weights(run.folder)
    assert found is not None
    assert [row.state for row in found.rows] == ["differs", "equal", "equal"]


def test_that_the_command_line_compares_torch_with_safetensors(of_torch: Path, tmp_path: Path) -> None:
    words = ("compare-weights", str(of_torch / "wrapped.safetensors"), str(of_torch / "state.pt"), "--json")
    done = studio(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert last_json(done)["equal"] == 9
    words = ("compare-weights", str(of_torch / "nested.pt"), str(of_torch / "state.pt"), "--json")
    done = studio(*words, cwd=tmp_path)
    assert done.returncode == 3
    assert last_json(done)["first_different"] == "0.weight"


def test_that_a_checkpoint_compared_with_itself_is_refused(of_torch: Path, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "model.pt").symlink_to(of_torch / "state.pt")
    words = ("compare-weights", str(of_torch / "state.pt"))
    for golden in (of_torch / "state.pt", tmp_path / "folder" / "model.pt", tmp_path / "folder"):
        done = studio(*words, str(golden), cwd=tmp_path)
        assert (done.returncode in (1, 2), "nothing was compared with another" in done.stderr) == (True, True)


def test_that_a_checkpoint_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    done = studio("compare-weights", str(tmp_path / "x"), str(tmp_path / "y"), cwd=tmp_path)
    assert done.returncode == 2
    assert "TARGET_WEIGHTS" in done.stderr
