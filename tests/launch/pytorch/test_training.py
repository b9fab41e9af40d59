"""Trainings by the engine in PyTorch: the same recipes, options and records as in MindSpore."""

from __future__ import annotations

import ast
import functools
import json
import os
import shutil
import signal
import sys
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest

from backends.launch.template import make_template
from tests.launch.engine_process import FRESH, Ran, assert_no_warnings, finish, start, start_training, train
from tests.prove.checkpoint import checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="no PyTorch here")
LINEAR = "--framework torch --recipe linear --optimizer sgd --lr 0.1 --steps 60 --seed 1 --device cpu"
DIGITS = "--framework torch --recipe digits --device cpu --batch 16 --steps 12 --seed 1"
Trained = "Callable[[str], Ran]"


@pytest.fixture(scope="module", autouse=True)
def _single_thread() -> Iterator[None]:
    """Threads of trainings this small only wait for each other, for long where other tests run beside them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        yield


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """One training for each line."""

    @functools.lru_cache
    def ran(line: str) -> Ran:
        return train(tmp_path_factory.mktemp("run") / "run", line, FRESH)

    return ran


def test_that_linear_ends_near_2_and_3(trained: Trained) -> None:
    ran = trained(LINEAR)
    assert ran.code == 0, ran.output
    assert_no_warnings(ran.output)
    assert abs(ran.metric("weight")[-1] - 2) < 0.05
    assert abs(ran.metric("bias")[-1] - 3) < 0.05
    assert ran.note("launch.summary")["framework"].startswith("PyTorch 2.")
    assert ran.note("launch.summary")["mode"] == "eager"


def test_that_every_step_has_one_record_with_all_its_numbers(trained: Trained) -> None:
    metrics = [event for event in trained(LINEAR).events if event["type"] == "metric"]
    assert [metric["step"] for metric in metrics] == list(range(1, 61))
    assert all({"loss", "lr", "step_time", "throughput", "grad_norm"} <= metric["values"].keys() for metric in metrics)


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adam", "adamw"])
def test_that_four_micro_batches_of_8_are_one_of_32(optimizer: str, trained: Trained) -> None:
    line = f"{LINEAR} --optimizer {optimizer} --steps 20 --weight-decay 0.01"
    whole = trained(f"{line} --batch 32").metric("loss")
    split = trained(f"{line} --batch 8 --accumulate 4").metric("loss")
    assert np.allclose(whole, split, rtol=1e-5)


@pytest.mark.parametrize(
    ("recipe", "options"),
    [
        ("linear", "--steps 20"), ("digits", "--steps 20"), ("dense", "--steps 20"),
        ("text", "--steps 20 --batch 4 --corpus CORPUS"), ("resnet50", "--steps 2 --batch 4"),
    ],
)  # fmt: skip
def test_that_both_frameworks_have_the_same_losses_from_the_same_weights(
    recipe: str, options: str, tmp_path: Path
) -> None:
    pytest.importorskip("mindspore")
    (made(tmp_path / "corpus") / "a.txt").write_text("the quick brown fox jumps over the lazy dog. " * 200, "utf-8")
    options = options.replace("CORPUS", str(tmp_path / "corpus"))
    line = f"--recipe {recipe} --device cpu --initial-weights portable --weight-decay 0.01 {options}"
    losses = {}
    for framework in ("torch", "mindspore"):
        python = FRESH if framework == "torch" else ()
        ran = train(tmp_path / framework, f"--framework {framework} {line}", python)
        assert ran.code == 0, ran.output
        losses[framework] = ran.metric("loss")
    assert np.allclose(losses["torch"], losses["mindspore"], rtol=1e-4)


def test_that_accuracy_is_measured_and_digits_learns(trained: Trained) -> None:
    ran = trained("--framework torch --recipe digits --device cpu --seed 1 --steps 120 --batch 32")
    assert ran.code == 0, ran.output
    assert ran.metric("accuracy")[-1] > 0.85


def test_that_float16_finds_its_scale_and_skips_what_overflows(trained: Trained) -> None:
    line = f"{DIGITS} --steps 20 --amp O1 --amp-dtype fp16 --loss-scale dynamic --scale {2.0**24}"
    ran = trained(line)
    assert ran.code == 0, ran.output
    scales = ran.metric("loss_scale")
    assert scales[0] == 2.0**24
    assert scales[-1] < scales[0]
    assert ran.note("launch.summary")["overflows"] >= 1
    assert all(np.isfinite(ran.metric("loss")))


def test_that_bfloat16_trains_without_a_scale_on_a_cpu(trained: Trained) -> None:
    ran = trained(f"{DIGITS} --amp O1 --amp-dtype bf16 --steps 30")
    assert ran.code == 0, ran.output
    assert "loss_scale" not in {name for event in ran.events for name in event.get("values", {})}
    assert ran.metric("loss")[-1] < ran.metric("loss")[0]


def test_that_a_fused_optimizer_has_the_losses_of_the_other(trained: Trained) -> None:
    line = f"{DIGITS} --optimizer adamw"
    assert np.allclose(trained(line).metric("loss"), trained(f"{line} --fused").metric("loss"), rtol=1e-4)


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler here, which torch.compile asks for on a CPU")
def test_that_torch_compile_has_the_losses_of_eager_and_says_how_long_it_compiled(trained: Trained) -> None:
    line = f"{LINEAR} --steps 20"
    compiled = trained(f"{line} --compile")
    assert compiled.code == 0, compiled.output
    assert np.allclose(compiled.metric("loss"), trained(line).metric("loss"), rtol=1e-5)
    assert compiled.note("launch.compiled")["seconds"] > 0
    assert compiled.note("launch.summary")["mode"] == "compile"


def test_that_a_loss_that_is_none_any_more_ends_the_training_and_says_where(trained: Trained) -> None:
    ran = trained(f"{LINEAR} --lr 100 --steps 60")
    assert ran.code == 1
    (finding,) = ran.findings()
    assert finding["rule"] == "launch.nan_stopped"


def test_that_recomputed_activations_change_no_loss(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.txt").write_text("the quick brown fox jumps over the lazy dog. " * 200, "utf-8")
    line = f"--framework torch --recipe text --corpus {corpus} --device cpu --batch 2 --steps 3 --seed 1"
    kept = train(tmp_path / "kept", line, FRESH)
    again = train(tmp_path / "again", f"{line} --recompute", FRESH)
    assert (kept.code, again.code) == (0, 0), again.output
    assert kept.metric("loss") == again.metric("loss")
    assert (tmp_path / "kept" / "artifacts" / "sample.txt").read_text("utf-8")


def test_that_a_killed_training_goes_on_bit_for_bit(tmp_path: Path) -> None:
    """In the middle of an epoch, with accumulation, a dynamic scale and Adam's moments."""
    line = f"{DIGITS} --batch 8 --accumulate 3 --amp O1 --loss-scale dynamic --optimizer adamw --steps 30"
    straight = train(tmp_path / "straight", line, FRESH)
    assert straight.code == 0, straight.output
    process = start_training(made(tmp_path / "killed"), f"{line} --checkpoint-every 2", FRESH)
    last = tmp_path / "killed" / "artifacts" / "checkpoints" / "last"
    wait_until(last.exists)
    os.kill(process.pid, signal.SIGKILL)
    finish(tmp_path / "killed", process)
    rest = train(tmp_path / "rest", f"{line} --resume {tmp_path / 'killed'}", FRESH)
    assert rest.code == 0, rest.output
    begun = rest.note("launch.resumed")
    assert begun["exact"]
    assert 2 <= begun["step"] < 30
    assert rest.metric("loss") == straight.metric("loss")[begun["step"] :]
    assert weights_of(tmp_path / "rest") == weights_of(tmp_path / "straight")


def test_that_sigterm_finishes_the_step_and_leaves_it(tmp_path: Path) -> None:
    process = start_training(made(tmp_path / "run"), f"{LINEAR} --steps 100000", FRESH)
    wait_until(lambda: any('"metric"' in file.read_text() for file in (tmp_path / "run").glob("events*")))
    os.kill(process.pid, signal.SIGTERM)
    ran = finish(tmp_path / "run", process)
    assert ran.code == 128 + signal.SIGTERM
    assert ran.note("launch.stopped")["step"] == newest(tmp_path / "run").step


def test_that_a_checkpoint_of_the_other_framework_is_refused_and_its_weights_are_taken(tmp_path: Path) -> None:
    pytest.importorskip("mindspore")
    line = "--recipe digits --device cpu --batch 16 --steps 4 --seed 1"
    assert train(tmp_path / "first", line).code == 0
    refused = train(tmp_path / "refused", f"--framework torch {line} --steps 8 --resume {tmp_path / 'first'}", FRESH)
    assert [finding["rule"] for finding in refused.findings()] == ["launch.other_framework"]
    taken = train(tmp_path / "taken", f"--framework torch {line} --weights {tmp_path / 'first'}", FRESH)
    assert taken.code == 0, taken.output
    rows = json.loads((tmp_path / "taken" / "artifacts" / "weights.json").read_text("utf-8"))["rows"]
    assert {row["status"] for row in rows} == {"matched"}


def test_that_an_npu_is_refused_with_the_reason_and_a_way_to_go_on(tmp_path: Path) -> None:
    ran = train(tmp_path / "run", f"{LINEAR} --device ascend", FRESH)
    (finding,) = ran.findings()
    assert (ran.code, finding["rule"]) == (1, "launch.torch_device_unavailable")
    assert "torch_npu" in finding["args"]["reason"]


OWN = """
import numpy as np
import torch
from ascend_engine.pytorch.recipe import Recipe
from torch import nn


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 40

    def __getitem__(self, number):
        return torch.tensor([number / 40.0]), torch.tensor([(number / 40.0) ** 2])


def build(config):
    network = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
    return Recipe(network=network, loss=nn.MSELoss(), train_data=DATA)
"""


@pytest.mark.parametrize("data", ["Squares()", "(np.ones((8, 1)), np.ones((8, 1)))"])
def test_that_a_recipe_of_the_users_own_trains(data: str, tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(OWN.replace("DATA", data), "utf-8")
    ran = train(tmp_path / "run", f"--framework torch --recipe own --recipe-file {file} --steps 6 --batch 4", FRESH)
    assert ran.code == 0, ran.output
    assert len(ran.metric("loss")) == 6


def test_that_an_error_in_a_recipe_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("def build(config):\n    return config.nothing_of_that_name\n", "utf-8")
    ran = train(tmp_path / "run", f"--framework torch --recipe own --recipe-file {file} --steps 6", FRESH)
    (finding,) = ran.findings()
    assert (finding["rule"], finding["line"]) == ("launch.python_error", 2)


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def wait_until(happened: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


def newest(run: Path) -> checkpoint.Saved:
    return checkpoint.read(next(checkpoint.candidates(run / "artifacts" / "checkpoints")))


def weights_of(run: Path) -> dict[str, bytes]:
    saved = newest(run)
    return {name: array.tobytes() for name, array in {**saved.weights, **saved.rest}.items()}


def test_that_the_template_trains_and_its_weights_are_exported(tmp_path: Path) -> None:
    """In both languages the code is the same."""
    torch = pytest.importorskip("torch")
    english, chinese = (make_template(made(tmp_path / one), one, "torch") for one in ("en", "zh"))
    codes = [ast.dump(without_texts(ast.parse(file.read_text("utf-8")))) for file in (english, chinese)]
    assert codes[0] == codes[1]
    line = f"--framework torch --recipe own --recipe-file {english} --steps 4 --batch 16 --device cpu"
    ran = train(tmp_path / "run", line, FRESH)
    assert ran.code == 0, ran.output
    assert ran.metric("accuracy")
    folder = next(checkpoint.candidates(tmp_path / "run" / "artifacts" / "checkpoints"))
    words = ("-m", "ascend_engine.pytorch.export", "--checkpoint", str(folder), "--out", str(tmp_path / "weights.pth"))
    exported = finish(made(tmp_path / "export"), start(tmp_path / "export", sys.executable, *words))
    assert exported.code == 0, exported.output
    loaded = torch.load(tmp_path / "weights.pth", weights_only=True)
    assert {name: tensor.numpy().tobytes() for name, tensor in loaded.items()} == {
        name: array.tobytes() for name, array in newest(tmp_path / "run").weights.items()
    }
    again = train(tmp_path / "again", f"{line} --weights {tmp_path / 'weights.pth'}", FRESH)
    assert again.code == 0, again.output


def without_texts(tree: ast.Module) -> ast.Module:
    """The code alone: without docstrings."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not is_text(part)]  # type: ignore[attr-defined]
    return tree


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
