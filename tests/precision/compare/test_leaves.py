"""What no noise of products has reached: a temperature that a script takes itself, and running means; and what a
recurrence hides under autocast."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.packages import skip_without
from tests.shared_folders import made_once

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.precision.compare.conftest import Compared

EXP, NORM = "Tensor.exp.0.forward", "Functional.batch_norm.0.forward"
PLANTED = {
    ("clamp-amp-_", "_-amp-_"): (EXP, 0, 0, "input_by_extra"),
    ("clamp-amp-noise", "_-amp-_"): (EXP, 0, 0, "input_by_extra"),
    ("_-amp-noise", "clamp-amp-_"): (EXP, 0, 0, "input_by_missing"),
    ("clamp-float-noise", "_-float-_"): (EXP, 0, 0, "input_by_extra"),
    ("begin-amp-_", "_-amp-_"): (EXP, 0, 0, "input_untraced"),
    ("begin-amp-noise", "_-amp-_"): (EXP, 0, 0, "input_untraced"),
    ("mean-float-_", "_-float-_"): (NORM, 1, 1, "parameter"),
    ("mean-float-noise", "_-float-_"): (NORM, 1, 1, "parameter"),
    ("mean-amp-noise", "_-amp-_"): (NORM, 1, 1, "parameter"),
    ("_-float-_", "mean-float-_"): (NORM, 1, 1, "parameter"),
}
"""By target and golden side: the call, its input, the step and the reason."""
HEALTHY = (
    ("_-amp-noise", "_-amp-_"), ("_-float-noise", "_-float-_"), ("idle-amp-_", "_-amp-_"),
    ("idle-amp-noise", "_-amp-_"), ("_-amp-_", "idle-amp-noise"), ("idle-float-noise", "_-float-_"),
    ("_-amp-_", "_-float-_"), ("_-float-_", "_-amp-_"), ("_-amp-noise", "_-float-_"),
)  # fmt: skip


@pytest.fixture(scope="session")
def contrasts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    skip_without("torch", "msprobe")
    return made_once(tmp_path_factory, "contrasts", _capture)


def _capture(folder: Path) -> None:
    names = sorted({name for pair in (*PLANTED, *HEALTHY) for name in pair})
    line = [sys.executable, str(Path(__file__).with_name("contrast.py")), str(folder), *names]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("pair", PLANTED, ids=" ".join)
def test_that_an_input_that_no_product_feeds_is_held_to_its_own_rounding(
    pair: tuple[str, str], contrasts: Path, compared: Callable[..., Compared]
) -> None:
    found = compared(contrasts / pair[0], contrasts / pair[1])
    first = found.first
    assert (first["name"], first["index"], first["step"], first["reason"]) == PLANTED[pair]
    if first["reason"].startswith("input_by"):
        assert first["args"]["other"] == "Tensor.clamp.0.forward"


@pytest.mark.parametrize("pair", HEALTHY, ids=" ".join)
def test_that_noise_and_a_clamp_that_does_nothing_are_no_divergence(
    pair: tuple[str, str], contrasts: Path, compared: Callable[..., Compared]
) -> None:
    found = compared(contrasts / pair[0], contrasts / pair[1])
    assert (found.code, found.answer["first_divergence"]) == (0, None)
