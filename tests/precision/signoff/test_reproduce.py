"""A reproducer is a program of its own: it is run here as whoever receives it would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from backends.precision.compare.tolerances import TOLERANCES
from backends.precision.reproduce.script import reproducer
from backends.precision.reproduce.spec import ReproduceSpec
from backends.precision.reproduce.work import reproduce, write_reproducer
from backends.precision.sides import CallSide
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from tests.precision.dump.recorded import json_of
from tests.precision.signoff.made import compared

if TYPE_CHECKING:
    from pathlib import Path

ALONE = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "OMP_NUM_THREADS": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
}  # fmt: skip

ROUNDING = 1e-5  # of float32 numbers near 1, summed over some ten products


def reproduced(folder: Path, comparison: Path, call: str, out: Path | None = None) -> Path:
    spec = schema.with_value(schema.with_value(ReproduceSpec(), "comparison", comparison), "call", call)
    if out is not None:
        spec = schema.with_value(spec, "out", out)
    run = runs.create(folder / "runs", "reproduce", schema.to_json(spec))
    reproduce(spec, run)
    return out or run.folder / "artifacts" / "reproducer"


def ran(folder: Path, *words: str) -> tuple[int, str]:
    line = [sys.executable, str(folder / "reproduce.py"), *words]
    done = subprocess.run(line, cwd="/", env=ALONE, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def distance_from_recorded(said: str, side: str) -> float:
    """The largest difference from the recorded output: 0 on the CPU that recorded it, a rounding on others."""
    match = re.search(rf"from what the {side} side recorded +max abs ([^,]+),", said)
    assert match, said
    return float(match[1])


def calls_of(name: str, ending: str) -> list[str]:
    kinds = ("Functional", "Torch", "Tensor", "Primitive")
    return [call for call in json_of(name)["data"] if call.endswith(ending) and call.startswith(kinds)]


@pytest.fixture(scope="module")
def torch_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compared(tmp_path_factory.mktemp("torch 复现 🧪"), "torch_tensor").folder


def test_that_a_forward_gives_what_was_recorded_and_is_near_float64(torch_run: Path, tmp_path: Path) -> None:
    call = next(call for call in calls_of("torch_tensor", ".forward") if ".linear." in call)
    code, said = ran(reproduced(tmp_path, torch_run, call))
    assert code == 0, said
    assert distance_from_recorded(said, "target") < ROUNDING
    assert "from float64 on the CPU" in said


def test_that_a_backward_runs_from_the_forward_and_the_gradient_that_came_in(torch_run: Path, tmp_path: Path) -> None:
    call = next(call for call in calls_of("torch_tensor", ".backward") if ".linear." in call)
    code, said = ran(reproduced(tmp_path, torch_run, call), "--side", "golden")
    assert code == 0, said
    assert distance_from_recorded(said, "golden") < ROUNDING


def test_that_a_result_that_is_wrong_ends_with_3(torch_run: Path, tmp_path: Path) -> None:
    call = next(call for call in calls_of("torch_tensor", ".forward") if ".linear." in call)
    folder = reproduced(tmp_path, torch_run, call)
    script = folder / "reproduce.py"
    text = script.read_text(encoding="utf-8")
    wrong = (
        "return lambda value, *more: torch.nn.functional.linear(value * (1 + (value.dtype == torch.float32)), *more)"
    )
    script.write_text(text.replace("return torch.nn.functional.linear", wrong), encoding="utf-8")
    code, said = ran(folder)
    assert code == 3, said


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("lambda value, *more: torch.zeros(3 if value.dtype == torch.float32 else 4)", "another shape"),
        ("lambda *args: None", "gives no tensor"),
        ("lambda value, *more: torch.randn(4)", "is random"),
        ("lambda *args: torch.full((4,), time.monotonic() % 1e3, dtype=torch.float64)", "race"),
    ],
)
def test_that_a_result_that_nothing_was_compared_with_ends_with_3(
    torch_run: Path, tmp_path: Path, function: str, said: str
) -> None:
    call = next(call for call in calls_of("torch_tensor", ".forward") if ".linear." in call)
    folder = reproduced(tmp_path, torch_run, call)
    script = folder / "reproduce.py"
    text = script.read_text(encoding="utf-8").replace("import torch\n", "import time\n\nimport torch\n", 1)
    script.write_text(text.replace("return torch.nn.functional.linear", f"return {function}"), encoding="utf-8")
    code, answer = ran(folder)
    assert (code, said in answer) == (3, True), answer


SOFTMAX = """
import sys
import torch
torch.manual_seed(0)
scores, gradient = 2 * torch.randn(64, 7), torch.randn(64, 7) + 100
result = torch.softmax(scores.requires_grad_(), -1)
(came_out,) = torch.autograd.grad(result, scores, gradient)
for name, tensor in (("x", scores), ("g", gradient), ("o", came_out)):
    torch.save(tensor.detach(), f"{sys.argv[1]}/{name}.pt")
"""


@pytest.mark.parametrize(("factor", "code"), [("1", 0), ("1.001", 3)])
def test_that_the_limit_grows_where_terms_cancel(tmp_path: Path, factor: str, code: int) -> None:
    """The backward of a softmax of gradients that are all about 100 is what is left of their differences."""
    data = tmp_path / "dump_tensor_data"
    data.mkdir()
    subprocess.run([sys.executable, "-c", SOFTMAX, str(data)], env=ALONE, check=True)
    x, g, o = ({"type": "torch.Tensor", "data_name": f"{name}.pt", "requires_grad": name == "x"} for name in "xgo")
    forward = {"input_args": [x, -1], "input_kwargs": {}}
    side = CallSide(
        name="target", folder=tmp_path, call="Torch.softmax.0.backward", framework="torch",
        entry={"input": [g], "output": [o]}, forward=forward,
    )  # fmt: skip
    script = reproducer((side,), 8 * TOLERANCES.rounding(2.0**-23), "")
    write_reproducer(script, "", (side,), tmp_path / "out")
    path = tmp_path / "out" / "reproduce.py"
    scaled = f"first.grad_fn(*(each * (1 if each.dtype == torch.float64 else {factor}) for each in gradients))"
    text = path.read_text(encoding="utf-8").replace("first.grad_fn(*gradients)", scaled)
    path.write_text(text, encoding="utf-8")
    ended, said = ran(tmp_path / "out")
    assert ended == code, said
    assert "limit 7.63e-06" not in said


def test_that_a_primitive_of_mindspore_is_made_as_its_output_says(tmp_path: Path) -> None:
    comparison = compared(tmp_path, "mindspore_tensor").folder
    call = next(call for call in calls_of("mindspore_tensor", ".forward") if "MatMul" in call)
    code, said = ran(reproduced(tmp_path, comparison, call))
    assert code == 0, said
    assert distance_from_recorded(said, "target") < ROUNDING


def test_that_statistics_alone_are_told_to_go_deeper(tmp_path: Path) -> None:
    comparison = compared(tmp_path, "torch_statistics").folder
    with pytest.raises(StudioError, match="Go deeper"):
        reproduced(tmp_path, comparison, calls_of("torch_statistics", ".forward")[0])


def test_that_a_link_in_a_dump_is_not_followed(tmp_path: Path) -> None:
    comparison = compared(tmp_path, "torch_tensor").folder
    secret = tmp_path / "secret"
    secret.write_text("key", encoding="utf-8")
    call = calls_of("torch_tensor", ".forward")[0]
    for path in (tmp_path / "target" / "dump_tensor_data").glob(f"{call}.*"):
        path.unlink()
        path.symlink_to(secret)
    with pytest.raises(StudioError, match="not a regular file"):
        reproduced(tmp_path, comparison, call)


def test_that_a_folder_of_its_own_holds_the_script_the_tensors_and_the_issue(torch_run: Path, tmp_path: Path) -> None:
    call = calls_of("torch_tensor", ".forward")[0]
    out = reproduced(tmp_path, torch_run, call, tmp_path / "to send")
    assert sorted(path.name for path in out.iterdir()) == ["golden", "issue.md", "reproduce.py", "target"]
    assert call in (out / "issue.md").read_text(encoding="utf-8")
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".making")]


def test_that_a_module_and_an_unknown_call_say_what_to_choose(torch_run: Path, tmp_path: Path) -> None:
    module = next(call for call in json_of("torch_tensor")["data"] if call.startswith("Module.") and "forward" in call)
    with pytest.raises(StudioError, match="Choose one of the functions"):
        reproduced(tmp_path, torch_run, module)
    with pytest.raises(StudioError, match="no call named"):
        reproduced(tmp_path, torch_run, "Functional.nothing.0.forward")
    with pytest.raises(StudioError, match="no divergence"):
        reproduced(tmp_path, torch_run, "")
