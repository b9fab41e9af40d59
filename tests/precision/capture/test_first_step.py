"""Captures that are planned: from the first forward on, with every task, level, target and direction."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from studio import files
from tests.guest.capturing import MINDSPORE, ODD, TORCH, Training, operators
from tests.precision.capture.planned import dumps, planned

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


# Wide enough that a digest taken by another thread would see what relu_ has made of the tensor meanwhile.
IN_PLACE = (
    TORCH.replace("torch.nn.ReLU()", "torch.nn.ReLU(inplace=True)")
    .replace("torch.randn(4, 8)", "torch.randn(2048, 8)")
    .replace("time.sleep(0.005)", "time.sleep(0.02)")
)
WIDTH = "512"


def assert_losses_are_those_of(training: Training, plain: Training, steps: int) -> None:
    for one in (training, plain):
        one.wait_for_steps(steps)
        assert one.finish() == 0, one.log()
    count = min(len(plain.losses), len(training.losses))
    assert count >= steps
    assert training.losses[:count] == plain.losses[:count]


@pytest.fixture(scope="session")
def torch_training(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Training]:
    """One that is captured from its first forward on, with digests, and goes on."""
    folder = tmp_path_factory.mktemp("torch")
    training = planned(folder / ODD, IN_PLACE, WIDTH, steps=2, task="md5", level="mix")
    assert training.captured("plan").state == "done", training.log()
    yield training
    training.end()


def test_that_a_dump_begins_with_the_first_forward_and_counts_steps_as_the_curves_do(torch_training: Training) -> None:
    found = torch_training.captured("plan")
    assert (found.start, found.done) == (1, 2)
    steps = dumps(torch_training, found)
    assert list(steps) == ["step1", "step2"]
    names = operators(steps["step1"])
    assert names[:2] == ["Functional.linear.0.forward", "Module.0.Linear.forward.0"]
    assert operators(steps["step2"]) == names, "the optimizer's own operators, and what the curves compute"
    loss = files.read_json(steps["step1"])["data"]["Tensor.mean.0.forward"]["output"][0]["Max"]
    assert float.fromhex(torch_training.losses[0]) == loss, "of the weights that the training began with"


def test_that_a_digest_is_of_the_tensor_as_it_was_when_it_was_seen(torch_training: Training) -> None:
    """What goes into an in-place operator is what came out of the one before."""
    for path in dumps(torch_training, torch_training.captured("plan")).values():
        data = files.read_json(path)["data"]
        before, into = data["Functional.linear.0.forward"]["output"][0], data["Functional.relu.0.forward"]["input_args"]
        after = data["Functional.relu.0.forward"]["output"][0]
        assert before["md5"] == into[0]["md5"]
        assert after["md5"] != before["md5"]
        assert after["Min"] == 0.0 > before["Min"]


def test_that_only_what_was_asked_for_is_dumped(torch_training: Training) -> None:
    forward = torch_training.capture(
        kind="dump", steps=1, task="tensor", level="mix", targets=("Module.0.",), direction="forward"
    )
    assert forward.state == "done", torch_training.log()
    (path,) = dumps(torch_training, forward).values()
    assert operators(path) == ["Functional.linear.0.forward", "Module.0.Linear.forward.0"]
    assert len(list(path.parent.rglob("*.pt"))) == 8
    assert files.read_json(path)["dump_data_dir"] == str(path.parent / "dump_tensor_data")

    backward = torch_training.capture(kind="dump", steps=1, targets=("linear.1",), direction="backward")
    (path,) = dumps(torch_training, backward).values()
    assert operators(path) == ["Functional.linear.1.backward"]
    structure = torch_training.capture(kind="dump", steps=1, task="structure", level="mix")
    (path,) = dumps(torch_training, structure).values()
    parents = files.read_json(path.parent / "construct.json")
    assert parents["Functional.linear.0.forward"] == "Module.0.Linear.forward.0"
    assert operators(path) == []

    nothing = torch_training.capture(kind="dump", steps=1, targets=("conv2d", "attention"))
    assert (nothing.state, nothing.rule) == ("failed", "capture.nothing_matched")
    assert nothing.args == {"targets": "conv2d, attention"}
    assert "capture.nothing_matched" in torch_training.rules()


def test_that_a_training_captured_from_its_first_step_has_the_losses_of_one_that_is_not(
    torch_training: Training, tmp_path: Path
) -> None:
    """To be run last: it ends the training."""
    plain = Training(tmp_path, IN_PLACE, WIDTH, hooks="")
    assert_losses_are_those_of(torch_training, plain, 6)


GOES_ON = TORCH.replace("net(torch.randn(4, 8))", "net(torch.randn(4, 8)).bfloat16().float()").replace(
    "for step in range(1",
    """for one in net.parameters():
    optimizer.state[one] = {"step": torch.tensor(500.0), "exp_avg": one.detach() * 0, "exp_avg_sq": one.detach() ** 2}
for step in range(1""",
)


def test_that_steps_are_named_as_the_curves_do_and_casts_are_dumped_where_they_are_asked_for(tmp_path: Path) -> None:
    """Of a training that goes on from a checkpoint."""
    training = planned(tmp_path / ODD, GOES_ON, "16", steps=2, casts=True)
    found = training.captured("plan")
    assert (found.start, list(dumps(training, found))) == (501, ["step501", "step502"])
    for path in dumps(training, found).values():
        assert {"Tensor.bfloat16.0.forward", "Tensor.float.0.forward"} <= set(operators(path))
    without = training.capture(kind="dump", steps=1)
    (path,) = dumps(training, without).values()
    assert not {one for one in operators(path) if one.startswith(("Tensor.bfloat16", "Tensor.float"))}
    assert training.finish() == 0


COMPILED = TORCH.replace(
    "optimizer = torch.optim", "net = torch.compile(net, backend='eager')\noptimizer = torch.optim"
)


def test_that_a_compiled_training_goes_on_whatever_is_asked_of_it(tmp_path: Path) -> None:
    """msprobe itself would end it, and change what the compiler does for good."""
    training = planned(tmp_path, COMPILED, "16", level="mix")
    found = training.captured("plan")
    assert (found.state, found.rule) == ("failed", "capture.compiled"), training.log()
    outside = training.capture(kind="dump", steps=1)
    assert outside.state == "done", training.log()
    (path,) = dumps(training, outside).values()
    assert "Tensor.square.0.forward" in operators(path)
    training.wait_for_steps(len(training.losses) + 3)
    assert training.finish() == 0


CLOSURE = """
def closure():
    optimizer.zero_grad()
    loss = net(batch).square().mean()
    loss.backward()
    return loss
"""
INSIDE = (
    TORCH.replace("torch.optim.AdamW(net.parameters(), lr=0.01)", "torch.optim.LBFGS(net.parameters(), max_iter=2)")
    .replace("    loss = net(torch.randn(4, 8)).square().mean()\n", "    batch = torch.randn(4, 8)\n")
    .replace(
        "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n", "    loss = optimizer.step(closure)\n"
    )
    .replace("for step in range(1", CLOSURE + "for step in range(1")
)


def test_that_of_an_optimizer_that_calls_the_model_itself_only_the_model_is_dumped(tmp_path: Path) -> None:
    training = planned(tmp_path, INSIDE, "16", steps=2)
    found = training.captured("plan")
    assert found.state == "done", training.log()
    steps = {step: operators(path) for step, path in dumps(training, found).items()}
    assert list(steps) == ["step1", "step2"]
    for names in steps.values():
        assert names[0] == "Functional.linear.0.forward"
        kinds = {name.split(".")[1] for name in names}
        assert kinds == {"linear", "relu", "square", "mean"}, "the optimizer's own operators"
    assert training.finish() == 0


@pytest.fixture(scope="session")
def mindspore_training(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Training]:
    folder = tmp_path_factory.mktemp("mindspore") / ODD
    training = planned(folder, WITH_JIT, "pynative", steps=2, task="md5", level="mix")
    assert training.captured("plan").state == "done", training.log()
    yield training
    training.end()


# What is compiled in the first step meets msprobe's wrappers, which the compiler cannot read.
WITH_JIT = (
    MINDSPORE.replace(
        "def forward(x):", "@ms.jit\ndef squared(y):\n    return ops.mean(ops.square(y))\ndef forward(x):"
    )
    .replace("return ops.mean(ops.square(net(x)))", "return squared(ops.abs(net(x)))")
    .replace("    hooks.stepped(step)\n", "")  # the curves' hooks see it
)


def test_that_a_mindspore_dump_begins_with_the_first_forward(mindspore_training: Training) -> None:
    found = mindspore_training.captured("plan")
    assert (found.start, found.done, found.shim) == (1, 2, True)
    assert "capture.norms_replaced" in set(mindspore_training.keys())
    steps = dumps(mindspore_training, found)
    assert list(steps) == ["step1", "step2"]
    data = files.read_json(steps["step1"])["data"]
    assert next(iter(data)) == "Primitive.shape_op.Shape.0.forward"
    assert data["Primitive.relu.ReLU.0.forward"]["input_args"][0]["md5"]
    assert "Cell.0.Dense.forward.0" in data


def test_that_norms_on_a_cpu_are_those_of_the_tensors(mindspore_training: Training) -> None:
    whole = mindspore_training.capture(kind="dump", steps=1, task="tensor", level="mix", targets=("Cell.",))
    assert whole.state == "done", mindspore_training.log()
    (path,) = dumps(mindspore_training, whole).values()
    seen = 0
    for call, entry in files.read_json(path)["data"].items():
        for one in entry.get("output") or ():
            if one and "data_name" in one:
                tensor = np.load(path.parent / "dump_tensor_data" / one["data_name"])
                assert one["Norm"] == pytest.approx(float(np.linalg.norm(tensor.astype(np.float64))), rel=1e-6), call
                seen += 1
    assert seen > 6


def test_that_mindspore_has_every_task_and_level(mindspore_training: Training) -> None:
    structure = mindspore_training.capture(kind="dump", steps=1, task="structure", level="mix")
    (path,) = dumps(mindspore_training, structure).values()
    assert "Cell.0.Dense.forward.0" in files.read_json(path.parent / "construct.json")
    modules = mindspore_training.capture(kind="dump", steps=1, level="L0", direction="forward")
    (path,) = dumps(mindspore_training, modules).values()
    assert operators(path) == ["Cell.0.Dense.forward.0", "Cell.1.ReLU.forward.0", "Cell.2.Dense.forward.0"]
    only = mindspore_training.capture(kind="dump", steps=1, targets=("MatMul.1",))
    (path,) = dumps(mindspore_training, only).values()
    assert operators(path) == ["Primitive.matmul.MatMul.1.forward", "Primitive.matmul.MatMul.1.backward"]


def test_that_choices_that_only_torch_has_add_nothing_with_mindspore_and_are_said_to(
    mindspore_training: Training,
) -> None:
    plain = mindspore_training.capture(kind="dump", steps=1)
    assert "capture.idle_choices" not in set(mindspore_training.keys())
    with_casts = mindspore_training.capture(kind="dump", steps=1, casts=True, optimizer_state=True)
    (plain_path,), (path,) = (dumps(mindspore_training, id).values() for id in (plain, with_casts))
    assert operators(path) == operators(plain_path)
    assert "capture.idle_choices" in set(mindspore_training.keys())


def test_that_a_mindspore_training_captured_from_its_first_step_has_the_losses_of_one_that_is_not(
    mindspore_training: Training, tmp_path: Path
) -> None:
    """To be run last: it ends the training."""
    plain = Training(tmp_path, WITH_JIT, "pynative", hooks="")
    assert_losses_are_those_of(mindspore_training, plain, 6)


def test_that_a_checksum_is_that_of_the_bytes(mindspore_training: Training) -> None:
    """What compares digests bit by bit rests on it."""
    found = mindspore_training.captured("plan")
    data = files.read_json(dumps(mindspore_training, found)["step1"])["data"]
    random = np.random.default_rng(3)
    batch = random.standard_normal((4, 8), dtype=np.float32)
    assert data["Cell.0.Dense.forward.0"]["input_args"][0]["md5"] == f"{zlib.crc32(batch.tobytes()):08x}"
