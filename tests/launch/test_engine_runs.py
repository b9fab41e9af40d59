"""Real trainings by python -m ascend_engine, each a process in a run's folder of its own."""

from __future__ import annotations

import functools
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.launch.engine_process import (
    FRESH,
    LINEAR,
    PYTHON37,
    Ran,
    assert_no_warnings,
    check,
    finish,
    needs_mindspore,
    start,
    start_training,
    train,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def linear(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Ran]:
    @functools.cache
    def run(options: str) -> Ran:
        ran = train(tmp_path_factory.mktemp("run"), f"{LINEAR} --device cpu {options}", FRESH)
        assert ran.code == 0, ran.output
        return ran

    return run


@needs_mindspore
def test_that_linear_ends_near_2_and_3(linear: Callable[[str], Ran]) -> None:
    ran = linear("--mode pynative --batch 32")
    assert ran.metric("weight")[-1] == pytest.approx(2, abs=0.1)
    assert ran.metric("bias")[-1] == pytest.approx(3, abs=0.1)
    metrics = ran.note("launch.summary")["metrics"]
    assert metrics["weight"] == ran.metric("weight")[-1]
    assert_no_warnings(ran.output)


@needs_mindspore
def test_that_every_step_has_one_record_with_all_its_numbers(linear: Callable[[str], Ran]) -> None:
    events = linear("--mode pynative --batch 32").events
    metrics = [event for event in events if event["type"] == "metric"]
    assert [metric["step"] for metric in metrics] == list(range(1, 61))
    names = {"loss", "lr", "grad_norm", "step_time", "throughput", "weight", "bias"}
    assert all(set(metric["values"]) == names for metric in metrics)


@needs_mindspore
def test_that_jit_has_the_losses_of_pynative(linear: Callable[[str], Ran]) -> None:
    eager, compiled = linear("--mode pynative --batch 32"), linear("--mode jit --batch 32")
    assert compiled.metric("loss") == pytest.approx(eager.metric("loss"), abs=1e-5)
    assert_no_warnings(compiled.output)


@needs_mindspore
def test_that_compiling_is_a_phase_with_its_time(linear: Callable[[str], Ran]) -> None:
    eager, compiled = linear("--mode pynative --batch 32"), linear("--mode jit --batch 32")
    assert compiled.phases() == ["load", "compile", "train", "finish"]
    assert eager.phases() == ["load", "train", "finish"]
    assert compiled.note("launch.compiling") == {}
    summary = compiled.note("launch.summary")
    assert summary["compile_seconds"] == pytest.approx(compiled.metric("step_time")[0], abs=1e-3)
    assert eager.note("launch.summary")["compile_seconds"] == 0


@needs_mindspore
@pytest.mark.parametrize("mode", ["pynative", "jit"])
def test_that_four_micro_batches_of_8_are_one_of_32(linear: Callable[[str], Ran], mode: str) -> None:
    whole = linear("--mode pynative --batch 32")
    split = linear(f"--mode {mode} --accumulate 4 --batch 8")
    for name in ("loss", "weight", "bias"):
        assert split.metric(name) == pytest.approx(whole.metric(name), abs=1e-5)
    assert_no_warnings(split.output)


@needs_mindspore
def test_that_no_optimizer_logs_a_warning_and_each_learns(tmp_path: Path) -> None:
    script = """
import mindspore as ms, numpy as np
from mindspore import nn
from ascend_engine.optimizers import make_optimizer
from tests.launch.engine_config import OPTIMIZERS
from ascend_engine.step import Step

ms.set_context(mode=ms.PYNATIVE_MODE)
x = np.random.default_rng(0).normal(size=(32, 3)).astype(np.float32)
batch = [(x, x.sum(1, keepdims=True))]
for name in OPTIMIZERS:
    network = nn.Dense(3, 1)
    optimizer = make_optimizer(name, network.trainable_params(), 0.05)
    step = Step(network, nn.MSELoss(), optimizer)
    losses = [step(batch).loss for _ in range(20)]
    assert losses[-1] < 0.8 * losses[0], (name, losses)
"""
    assert_no_warnings(check(tmp_path, script))


@needs_mindspore
def test_that_digits_learns_to_read_in_pynative(tmp_path: Path) -> None:
    options = "--recipe digits --device cpu --optimizer adamw --lr 0.005 --batch 32 --steps 100"
    ran = train(tmp_path, options)
    assert ran.code == 0, ran.output
    assert ran.metric("accuracy")[-1] > 0.9
    assert ran.note("launch.summary")["metrics"]["accuracy"] == ran.metric("accuracy")[-1]
    assert ran.phases() == ["load", "train", "evaluate", "finish"]
    assert_no_warnings(ran.output)


@needs_mindspore
def test_that_digits_learns_to_read_with_float16_jit_and_accumulation(tmp_path: Path) -> None:
    options = "--recipe digits --device cpu --optimizer adamw --lr 0.005 --mode jit --amp O2 --loss-scale dynamic"
    ran = train(tmp_path, options + " --batch 16 --accumulate 2 --steps 110")
    assert ran.code == 0, ran.output
    assert ran.metric("accuracy")[-1] > 0.9
    scales = ran.metric("loss_scale")
    assert len(scales) == 110
    assert scales[0] == 1024
    assert scales[100 + ran.metric("overflows")[100]] > 1024
    assert_no_warnings(ran.output)


@needs_mindspore
def test_that_text_learns_from_a_corpus_in_chinese(tmp_path: Path) -> None:
    text = "启动训练,观察曲线。Press Start and watch the curve.\n"
    (tmp_path / "中文").mkdir()
    (tmp_path / "中文" / "帮助.md").write_text(text * 90, "utf-8")
    options = "--recipe text --device cpu --mode jit --optimizer adamw --lr 0.003 --batch 4"
    ran = train(tmp_path, f"{options} --steps 20 --corpus {tmp_path / '中文'}")
    assert ran.code == 0, ran.output
    assert ran.metric("loss")[-1] < 0.8 * ran.metric("loss")[0]
    assert ran.metric("eval_loss")[-1] < 0.8 * ran.metric("loss")[0]
    sample = (tmp_path / "artifacts" / "sample.txt").read_text("utf-8")
    assert len(sample) == 200
    assert set(sample) <= set(text)
    assert ran.note("launch.sample") == {"text": sample}
    (artifact,) = (event for event in ran.events if event.get("kind") == "sample")
    assert artifact["path"] == "artifacts/sample.txt"
    assert_no_warnings(ran.output)


@needs_mindspore
def test_that_too_little_text_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("too short", "utf-8")
    options = "--recipe text --device cpu --optimizer adamw --lr 0.003 --batch 8 --steps 30"
    ran = train(tmp_path, f"{options} --corpus {tmp_path}")
    assert ran.code == 1
    (finding,) = ran.findings()
    assert finding["rule"] == "launch.corpus_short"
    folder = {"folder": str(tmp_path), "files": 1, "characters": 10, "needed": 2600}
    assert finding["args"] == folder


@needs_mindspore
def test_that_sigterm_finishes_the_step_and_says_where(tmp_path: Path) -> None:
    options = "--recipe linear --device cpu --optimizer sgd --lr 0.01 --batch 8 --steps 1000000"
    process = start_training(tmp_path, options, FRESH)
    deadline = time.monotonic() + 300
    while b"step 1/" not in (tmp_path / "output.log").read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)  # a supervisor may signal the group and then each process
    ran = finish(tmp_path, process)
    assert ran.code == 143, ran.output
    last = len(ran.metric("loss"))
    assert ran.note("launch.stopped") == {"step": last}
    assert [e["done"] for e in ran.events if e["type"] == "progress"][-1] == last
    assert_no_warnings(ran.output)


@needs_mindspore
@pytest.mark.skipif(Path("/dev/davinci_manager").exists(), reason="an NPU is here")
def test_that_a_missing_npu_is_a_finding_with_mindspores_reason(tmp_path: Path) -> None:
    ran = train(tmp_path, f"{LINEAR} --batch 32 --device ascend", FRESH)
    assert ran.code == 1
    (finding,) = ran.findings()
    assert (finding["rule"], finding["severity"]) == ("launch.device_unavailable", "error")
    assert finding["args"]["device"] == "ascend"
    assert finding["args"]["reason"].startswith("Load dynamic library: libmindspore_ascend.so")
    assert "Traceback" in ran.output


@needs_mindspore
def test_that_an_error_in_the_engine_is_a_finding_that_names_no_line_of_ours(tmp_path: Path) -> None:
    options = "--recipe digits --device auto --optimizer adam --lr 0.1 --batch 8 --steps 2"
    ran = train(tmp_path, f"{options} --assets {tmp_path / 'none'}", FRESH)
    assert ran.code == 1
    (finding,) = ran.findings()
    assert (finding["rule"], finding["path"], finding["line"]) == ("launch.engine_error", "", 0)
    assert finding["args"]["type"] == "FileNotFoundError"


def test_that_an_interpreter_without_mindspore_is_a_finding(tmp_path: Path) -> None:
    python = (sys.executable, "-S")  # without site-packages
    ran = train(tmp_path, f"{LINEAR} --batch 32", python)
    assert ran.code == 1
    (finding,) = ran.findings()
    assert finding["rule"] == "launch.no_mindspore"
    assert finding["args"]["error"] == "No module named 'mindspore'"
    assert finding["args"]["python"] == sys.executable
    assert ran.phases() == ["load"]


@pytest.mark.skipif(not PYTHON37.exists(), reason="no Python 3.7 here")
def test_that_an_old_interpreter_is_told_the_same(tmp_path: Path) -> None:
    ran = train(tmp_path, f"{LINEAR} --batch 32", (str(PYTHON37),))
    assert ran.code == 1
    (finding,) = ran.findings()
    assert finding["rule"] == "launch.no_mindspore"
    assert finding["args"]["version"] == "3.7.16"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "usage"),
        (["none.json"], "none.json"),
        (["--recipe", "linear"], "usage"),
        (['{"values": {}'], "delimiter"),
        (['{"values": {}}'], "no options"),
    ],
)
def test_that_a_start_without_options_ends_with_code_2(tmp_path: Path, words: list[str], reason: str) -> None:
    ran = finish(tmp_path, start(tmp_path, sys.executable, "-m", "ascend_engine", *words))
    assert ran.code == 2
    assert reason in ran.output
    assert ran.events == []
