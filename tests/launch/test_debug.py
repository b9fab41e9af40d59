"""What helps to find a fault: synchronous launch, a debugger, no compile cache, and the shapes of a network."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.common.run_status import RunStatus
from backends.launch import command_texts
from backends.launch.engine_options import FILE as OPTIONS_FILE
from backends.launch.engine_options import engine_options
from backends.launch.shapes.answer import FILE, Tensor, read_shapes, text_of
from backends.launch.shapes.work import alone, command
from backends.launch.spec import LaunchSpec
from studio import run as runs
from studio import schema, worker
from studio.events import Finding, Note
from studio.paths import MAIN
from studio.run import open_run
from tests.launch.debugger import Debugger, free_port
from tests.launch.engine_config import options_text_of
from tests.launch.engine_process import (
    FRESH,
    PATHS,
    ROOT,
    check,
    check_fresh,
    finish,
    needs_mindspore,
    start,
    start_training,
)
from tests.runs import ended, events_of, launch, prepare, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from studio.run import Run

needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="no PyTorch here")
LINEAR = "--recipe linear --device cpu --optimizer sgd --batch 8 --lr 0.01"


@needs_mindspore
def test_that_a_synchronous_error_points_to_its_own_line(tmp_path: Path) -> None:
    script = f"""
import dataclasses, traceback
import mindspore as ms, numpy as np
from mindspore import Tensor, ops
from ascend_engine import debugging, stopping
from tests.launch.engine_config import config_of

def line_of_error():
    try:
        rows = ops.gather(Tensor(np.ones((2, 2), np.float32)), Tensor([7], ms.int32), 0)  # has no row 7
        later = rows + 1
        return later.asnumpy()
    except RuntimeError as error:
        return traceback.extract_tb(error.__traceback__)[0].line

config = config_of("{LINEAR} --steps 1 --synchronous")
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
print(line_of_error())
debugging.begin(config, 0, stopping.Stop())
print(line_of_error())
"""
    said = [line for line in check(tmp_path, script).splitlines() if "later" in line or "row" in line]
    assert said[0] == "return later.asnumpy()"
    assert said[1].endswith("# has no row 7")


@needs_mindspore
def test_that_a_debugger_stops_in_the_step_and_the_training_goes_on_without_it(tmp_path: Path) -> None:
    port, step = free_port(), PATHS[1] / "ascend_engine" / "step.py"
    line = 1 + [text.strip() for text in step.read_text().splitlines()].index("def train_step(inputs, labels):")
    process = start_training(tmp_path, f"{LINEAR} --steps 3 --debug-port {port}", FRESH)
    wait_for(lambda: b"waits for a debugger" in (tmp_path / "output.log").read_bytes())
    listening = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    assert [row.split()[1] for row in listening.splitlines() if f":{port:04X} 0" in row] == [f"0100007F:{port:04X}"]
    debugger = Debugger(port)
    debugger.attach(step, line + 1)
    assert debugger.stopped_at() == ("step.py", line + 1)
    debugger.leave()
    ran = finish(tmp_path, process)
    assert ran.code == 0, ran.output
    assert ran.phases() == ["load", "attach", "train", "finish"]
    assert ran.note("launch.debugger_waits") == {"host": "127.0.0.1", "port": port, "ranks": 1}
    assert ran.note("launch.debugger_attached") == {}
    assert len(ran.metric("loss")) == 3


@needs_mindspore
def test_that_a_stop_ends_the_wait_for_a_debugger(tmp_path: Path) -> None:
    run = launch(tmp_path, recipe="linear", mode="jit", debug_port=free_port())
    wait_for(lambda: notes_of(run, "launch.debugger_waits"))
    assert notes_of(run, "launch.debugger_compiled")
    assert worker.stop(run)
    glance = ended(run)
    assert (glance.code, glance.reason) == (128 + signal.SIGTERM, "stopped")
    assert not notes_of(run, "launch.debugger_attached")


def notes_of(run: Run, key: str) -> list[Note]:
    return [event for event in events_of(run) if isinstance(event, Note) and event.key == key]


@needs_mindspore
def test_that_what_cannot_be_has_a_sentence(tmp_path: Path) -> None:
    script = f"""
import os, socket, sys
import ascend_studio
from ascend_engine import debugging, stopping
from tests.launch.engine_config import config_of
from ascend_engine.failures import Failure

def failure_of(port):
    config = config_of(f"{LINEAR} --steps 1 --debug-port {{port}}")
    try:
        debugging.begin(config, 1, stopping.Stop())
    except Failure as failure:
        return failure.rule, failure.args_of_rule

with socket.create_server(("127.0.0.1", 0)) as taken:
    port = taken.getsockname()[1]
    rule, args = failure_of(port - 1)  # rank 1 has the next one
assert rule == "launch.debug_port_taken"
assert args["port"] == port and "in use" in args["reason"], args
sys.modules["debugpy"] = None
rule, args = failure_of(5678)
assert (rule, args["python"]) == ("launch.no_debugpy", sys.executable)
os.environ["MS_COMPILER_CACHE_ENABLE"] = "1"
debugging.leave_cache_out()
assert "MS_COMPILER_CACHE_ENABLE" not in os.environ
"""
    check(tmp_path, script)
    (finding,) = (json.loads(line) for file in tmp_path.glob("events*") for line in file.read_text().splitlines())
    assert (finding["rule"], finding["severity"]) == ("launch.no_compile_cache", "warning")


def test_that_each_rank_has_a_configuration_and_a_forwarded_port() -> None:
    assert [
        one["connect"] for one in json.loads(command_texts.vs_code_attach(range(5678, 5680)))["configurations"]
    ] == [
        {"host": "127.0.0.1", "port": 5678},
        {"host": "127.0.0.1", "port": 5679},
    ]
    assert command_texts.ssh_tunnel(range(5678, 5680)).startswith(
        "ssh -N -L 5678:127.0.0.1:5678 -L 5679:127.0.0.1:5679 "
    )


@pytest.mark.parametrize("args", [{}, {"port": "5678", "ranks": 1}, {"port": 5678, "ranks": 10**9}, {"port": -1}])
def test_that_a_damaged_note_names_no_port(args: dict[str, object]) -> None:
    story = RunStatus()
    story.extend(1, 0, [Note(key="launch.debugger_waits", args=args)])
    assert not story.debug_ports


def shapes(folder: Path, *words: str) -> tuple[dict[str, object], str, Run]:
    """What the command gives: its JSON, what it says, its run."""
    line = [sys.executable, "-I", str(MAIN), "shapes", *words, "--json"]
    done = subprocess.run(line, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    return result, done.stderr, open_run(Path(result["run"]))


@needs_mindspore
def test_that_shapes_lists_each_cell_however_low_its_precision_is(tmp_path: Path) -> None:
    choices = ("--amp", "O2", "--batch", "3")
    result, said, run = shapes(tmp_path, "--recipe", "text", *choices)
    found = read_shapes(run.folder)
    assert found
    cells = {cell.name: cell for cell in found.cells}
    assert cells["logits"].type == "Dense"
    assert cells["logits"].inputs == (Tensor(shape=(3, 64, 64), dtype="float16"),)
    assert cells["logits"].outputs[0].dtype == "float16"
    assert cells["blocks.0.norm1"].outputs == (Tensor(shape=(3, 64, 64), dtype="float32"),)
    assert cells["blocks.0.norm1"].parameters == 2 * 64
    assert cells["position"].parameters == 1
    assert cells["position"].trainable == 0
    assert cells["position"].calls == 4
    assert cells[""].calls == 1
    assert not [cell for cell in found.cells if "_backbone" in cell.name or cell.type == "Full"]
    assert found.parameters == sum(cell.parameters for cell in found.cells) == found.trainable + 1
    assert result["metrics"] == {
        "cells": len(found.cells), "parameters": found.parameters, "trainable": found.trainable
    }  # fmt: skip
    assert result["artifacts"] == [{"kind": "shapes", "path": FILE}]
    assert "float16 3x64x64" in said
    assert "float16 3x64x64" in run.log.read_text()


@needs_mindspore
def test_that_shapes_names_what_mixed_precision_rewrites_as_its_author_did(tmp_path: Path) -> None:
    line = f"{LINEAR} --recipe digits --amp O1 --loss-scale dynamic --steps 9 --sink"
    (tmp_path / OPTIONS_FILE).write_text(options_text_of(line), "utf-8")
    ran = finish(tmp_path, start(tmp_path, sys.executable, "-m", "ascend_engine", "shapes", OPTIONS_FILE))
    assert ran.code == 0, ran.output
    found = read_shapes(tmp_path)
    assert found
    assert [cell.type for cell in found.cells if cell.parameters] == ["Conv2d", "Conv2d", "Dense"]
    assert found.inside == "float16"
    assert ran.note("shapes.inside") == {"level": "O1", "dtype": "float16"}


@needs_torch
def test_that_shapes_lists_each_module_of_a_recipe_of_pytorch(tmp_path: Path) -> None:
    choices = ("--framework", "torch", "--recipe", "text", "--amp", "O1", "--amp-dtype", "bf16", "--batch", "3")
    result, said, run = shapes(tmp_path, *choices)
    found = read_shapes(run.folder)
    assert found
    modules = {cell.name: cell for cell in found.cells}
    assert modules["logits"].type == "Linear"
    assert modules["logits"].inputs == (Tensor(shape=(3, 64, 64), dtype="float32"),)
    assert modules["logits"].outputs[0].dtype == "bfloat16"
    assert modules["blocks.0.norm1"].parameters == 2 * 64
    assert modules["position"].calls == 4
    assert modules[""].calls == 1
    assert found.inside == "bfloat16"
    assert found.parameters == sum(cell.parameters for cell in found.cells) == found.trainable
    assert result["metrics"] == {
        "cells": len(found.cells), "parameters": found.parameters, "trainable": found.trainable
    }  # fmt: skip
    assert "bfloat16 3x64x64" in said
    assert "module" in run.log.read_text()


@needs_torch
def test_that_a_module_is_told_as_it_was_called(tmp_path: Path) -> None:
    script = """
import torch
from torch import nn
from ascend_engine.pytorch.shapes import Modules

class Pair(nn.Module):
    def forward(self, *, inputs):
        return inputs["a"], [inputs["b"][0], 3]

class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.unused, self.pair = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 1), Pair()
        self.second.weight = self.first.weight
        self.first.bias.requires_grad = False

    def forward(self, x):
        y, _ = self.pair(inputs={"a": x, "b": (x, None)})
        return self.second(self.first(self.first(y)))

network = Network()
modules = Modules(network)
modules.watch()
network(torch.ones(5, 2))
rows = {row["name"]: row for row in modules.rows()}
assert list(rows) == ["", "first", "second", "unused", "pair"]
seen = {name: (row["calls"], row["parameters"], row["trainable"]) for name, row in rows.items()}
assert seen == {"": (1, 0, 0), "first": (2, 6, 4), "second": (1, 2, 2), "unused": (0, 3, 3), "pair": (1, 0, 0)}, seen
assert [one["shape"] for one in rows["pair"]["inputs"]] == [[5, 2], [5, 2]]
assert len(rows["pair"]["outputs"]) == 2
assert rows["unused"]["inputs"] == []
"""
    check_fresh(tmp_path, script)


@needs_torch
def test_that_a_debugger_stops_in_the_step_of_pytorch(tmp_path: Path) -> None:
    port, step = free_port(), PATHS[1] / "ascend_engine" / "pytorch" / "step.py"
    lines = [text.strip() for text in step.read_text().splitlines()]
    line = 1 + lines.index("def _backward(self, inputs: Tensor, labels: Tensor) -> Tensor:")
    process = start_training(tmp_path, f"--framework torch {LINEAR} --steps 3 --debug-port {port}", FRESH)
    wait_for(lambda: b"waits for a debugger" in (tmp_path / "output.log").read_bytes())
    debugger = Debugger(port)
    debugger.attach(step, line + 2)
    assert debugger.stopped_at() == ("step.py", line + 2)
    debugger.leave()
    ran = finish(tmp_path, process)
    assert ran.code == 0, ran.output
    assert "attach" in ran.phases()
    assert len(ran.metric("loss")) == 3


@needs_mindspore
def test_that_a_cell_is_told_as_it_was_called(tmp_path: Path) -> None:
    script = """
import mindspore as ms, numpy as np
from mindspore import Tensor, nn
from ascend_engine.shapes.cells import Cells

class Pair(nn.Cell):
    def construct(self, inputs):
        return inputs["a"], [inputs["b"][0], 3]

class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.unused, self.pair = nn.Dense(2, 2), nn.Dense(2, 2), nn.Dense(2, 1), Pair()
        self.second.weight = self.first.weight
        self.first.bias.requires_grad = False

    def construct(self, x):
        y, _ = self.pair({"a": x, "b": (x, None)})
        return self.second(self.first(self.first(y)))

ms.set_context(mode=ms.PYNATIVE_MODE)
network = Network()
cells = Cells(network, {}, is_wrapped=False)
cells.watch()
network(Tensor(np.ones((5, 2), np.float32)))
rows = {row["name"]: row for row in cells.rows()}
assert list(rows) == ["", "first", "second", "unused", "pair"]
seen = {name: (row["calls"], row["parameters"], row["trainable"]) for name, row in rows.items()}
assert seen == {"": (1, 0, 0), "first": (2, 6, 4), "second": (1, 2, 2), "unused": (0, 3, 3), "pair": (1, 0, 0)}, seen
assert [one["shape"] for one in rows["pair"]["inputs"]] == [[5, 2], [5, 2]]
assert len(rows["pair"]["outputs"]) == 2
assert rows["unused"]["inputs"] == []
"""
    check(tmp_path, script)


def test_that_shapes_takes_what_decides_a_shape_and_nothing_else(tmp_path: Path) -> None:
    run = prepare(tmp_path, recipe="text", debug_port=5678, parallel="data", checkpoint_every=3, batch=4)
    spec, wrong = schema.from_json(LaunchSpec, run.request.values)
    assert not wrong
    assert command(alone(spec), run).argv[1:] == ("-m", "ascend_engine", "shapes", OPTIONS_FILE)
    values = engine_options(alone(spec))["values"]
    assert values["batch"] == 4
    assert (values["debug_port"], values["parallel"], values["checkpoint_every"]) == (None, "none", None)


@given(content=st.one_of(st.binary(), st.recursive(st.none() | st.integers() | st.text(), st.lists).map(
    lambda value: json.dumps({"cells": value, "recipe": "r", "parameters": value}).encode()
)))  # fmt: skip
def test_that_shapes_of_any_content_are_read_or_not_there(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    folder = tmp_path_factory.mktemp("shapes")
    (folder / FILE).parent.mkdir()
    (folder / FILE).write_bytes(content)
    assert read_shapes(folder) is None


def test_that_shapes_are_short_texts() -> None:
    assert (
        text_of((Tensor(shape=(4, 1), dtype="float32"), Tensor(shape=(), dtype="int32"))) == "float32 4x1, int32 scalar"
    )


def test_that_a_failed_step_tells_its_cause(tmp_path: Path, interpreter: Callable[[str], Path]) -> None:
    asked = prepare(tmp_path, interpreter(f"cat {ROOT}/tests/recorded/logs/port_python.log; exit 1"))
    run = runs.create(tmp_path, "shapes", asked.request.values)
    worker.start(run)
    assert ended(run).code == 1
    rules = [event.rule for event in events_of(run) if isinstance(event, Finding)]
    assert any(rule.startswith("explain.") for rule in rules), rules
