"""The command line with real MindSpore trainings: what the README promises."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from studio.events import Finding, Metric
from studio.paths import MAIN
from studio.run import open_run
from tests.runs import events_of

WAYS = {
    "pynative": ["--mode", "pynative"],
    "jit": ["--mode", "jit"],
    "accumulated": ["--accumulate", "4", "--batch", "8"],
    "ascend": ["--device", "ascend"],
}


def launch(folder: Path, *words: str) -> dict[str, Any]:
    line = [sys.executable, "-I", str(MAIN), "launch", "--recipe", "linear", *words, "--json"]
    done = subprocess.run(line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result | {"stderr": done.stderr, "exit": done.returncode}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """One training per way; two at a time."""
    project = tmp_path_factory.mktemp("训练 for real")
    (project / ".ascend-studio").mkdir()
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda words: launch(project, *words), WAYS.values())
    return dict(zip(WAYS, found, strict=True))


def losses(result: dict[str, Any]) -> list[float]:
    events = events_of(open_run(Path(result["run"])))
    return [float(event.values["loss"]) for event in events if isinstance(event, Metric) and "loss" in event.values]


def test_that_linear_learns_its_weight_and_bias(results: dict[str, dict[str, Any]]) -> None:
    result = results["pynative"]
    assert (result["exit"], result["state"], result["code"]) == (0, "ended", 0), result["stderr"]
    assert result["metrics"]["weight"] == pytest.approx(2, abs=0.1)
    assert result["metrics"]["bias"] == pytest.approx(3, abs=0.1)


def test_that_jit_gives_the_losses_of_pynative(results: dict[str, dict[str, Any]]) -> None:
    assert len(losses(results["jit"])) > 100
    assert losses(results["jit"]) == pytest.approx(losses(results["pynative"]), abs=1e-5)


def test_that_four_accumulated_batches_of_8_give_the_weights_of_one_of_32(
    results: dict[str, dict[str, Any]],
) -> None:
    accumulated, whole = results["accumulated"]["metrics"], results["pynative"]["metrics"]
    assert accumulated["weight"] == pytest.approx(whole["weight"], abs=1e-5)
    assert accumulated["bias"] == pytest.approx(whole["bias"], abs=1e-5)


def test_that_a_missing_ascend_device_is_said_with_mindspores_own_reason(
    results: dict[str, dict[str, Any]],
) -> None:
    result = results["ascend"]
    assert (result["exit"], result["code"]) == (1, 1)
    (finding,) = [event for event in events_of(open_run(Path(result["run"]))) if isinstance(event, Finding)]
    assert finding.rule == "launch.device_unavailable"
    assert "libmindspore_ascend" in str(finding.args["reason"])
    assert "libmindspore_ascend" in result["stderr"]


def test_that_the_run_keeps_what_it_ran(results: dict[str, dict[str, Any]]) -> None:
    code = json.loads((Path(results["jit"]["run"]) / "code.json").read_text())
    assert code["packages"]["mindspore"].startswith("2.")


def test_that_nothing_in_the_log_warns_of_us(results: dict[str, dict[str, Any]]) -> None:
    for way in ("pynative", "jit", "accumulated"):
        log = open_run(Path(results[way]["run"])).log.read_text()
        assert "deprecated" not in log.lower()
        assert "[WARNING]" not in log
