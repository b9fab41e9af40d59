"""The loops (functions, a Cell, Model.train) train alike, and so do reading ahead, recomputing and data sink."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from tests.launch.engine_process import assert_no_warnings, check, finish, needs_mindspore, save, start_training, train
from tests.launch.loop_scripts import COMMON, every_loop, planted_numbers
from tests.prove.resume import HARD, LINEAR, Case, chain_of, compare, digests
from tests.runs import wait_for

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_mindspore


def test_that_every_loop_has_the_numbers_of_the_functional_one(tmp_path: Path) -> None:
    check(tmp_path, every_loop(is_whole=False))


def test_that_a_planted_number_is_found_at_its_step_in_every_mode(tmp_path: Path) -> None:
    check(tmp_path, planted_numbers(is_whole=False))


def test_that_recomputing_changes_no_number_and_is_in_effect_in_every_mode(tmp_path: Path) -> None:
    script = """
GRAPHS = Path("graphs")

def products():
    \"\"\"Matrix products in the graph of the step: it has the most.\"\"\"
    texts = [path.read_text(errors="replace") for path in GRAPHS.rglob("*_validate_*.ir")]
    shutil.rmtree(GRAPHS)
    return max(len(re.findall(r"PrimFunc_MatMul|PrimFunc_Dense", text)) for text in texts)

for mode, loop, amp in (("pynative", "functional", "O2"), ("jit", "cell", "O0"), ("graph", "functional", "O2")):
    if mode == "jit":
        ms.set_context(save_graphs=2, save_graphs_path=str(GRAPHS))
    line = f"--mode {mode} --loop {loop} --amp {amp} --steps 2"
    done = []
    for switch in ("", " --recompute"):
        run = Run(line + switch, plan_of(Counted if mode == "pynative" else Block))()
        calls = run.training.plan.recompute[0].calls if mode == "pynative" else products()
        done.append((run, calls))
    (kept, few), (again, many) = done
    assert many > few, (line, few, many)
    assert_same(kept, again, mode != "pynative")

for line, rule in (("--recompute", "launch.nothing_to_recompute"), ("--recompute --amp O1", "launch.no_recompute_o1")):
    try:
        Run("--recipe linear " + line)
        raise AssertionError(line)
    except failures.Failure as failure:
        assert failure.rule == rule
"""
    check(tmp_path, COMMON + script)


def test_that_data_sink_takes_the_micro_batches_of_a_step_at_once(tmp_path: Path) -> None:
    """Without a device that has a queue, a stand-in does what MindSpore documents for it."""
    script = """
import inspect
from mindspore import train
from mindspore.train.callback._callback import InternalCallbackParam

class Sinking(train.Model):
    def train(self, epoch, train_dataset, callbacks=None, dataset_sink_mode=False, sink_size=-1, initial_epoch=0):
        assert dataset_sink_mode
        rows = train_dataset.create_tuple_iterator()
        assert train_dataset.get_dataset_size() == epoch * sink_size
        called = InternalCallbackParam()
        called.dataset_sink_mode = True
        context = train.RunContext(called)
        network = self.train_network
        for _ in range(epoch):
            [one.on_train_step_begin(context) for one in callbacks]
            for _ in range(sink_size):
                called.net_outputs = network(*next(rows))
            [one.on_train_step_end(context) for one in callbacks]

assert str(inspect.signature(Sinking.train)) == str(inspect.signature(train.Model.train))
for count in (1, 4):
    line = f"--recipe linear --mode graph --loop model --accumulate {count}"
    fed = Run(line)()
    check, modes.check = modes.check, lambda config, device: None
    real, train.Model = train.Model, Sinking
    assert_same(Run(line + " --sink")(), fed)
    modes.check, train.Model = check, real

for line in ("--mode graph", "--mode jit"):
    try:
        Run(f"--recipe linear --loop model --sink {line}")
        raise AssertionError(line)
    except failures.Failure as failure:
        assert failure.rule == "launch.no_sink"
"""
    check(tmp_path, COMMON + script)


def test_that_the_frameworks_own_checkpoints_are_whole_and_the_newest(tmp_path: Path) -> None:
    script = """
from ascend_engine.checkpoints import model_checkpoint
from ascend_engine.checkpoints.checkpoint import Damaged, target

run = Run("--mode jit --loop model --accumulate 2 --steps 11 --ckpt --checkpoint-every 4 --keep 2", plan_of(Block))()
folder = Path("artifacts", "ckpt")
assert sorted(path.name for path in folder.iterdir()) == ["last", "step-000008.ckpt", "step-000011.ckpt"]
assert target(folder / "last") == "step-000011.ckpt"
network = run.training.plan.network
for step in (8, 11):
    loaded = ms.load_checkpoint(str(folder / f"step-{step:06d}.ckpt"))
    flat = np.concatenate([loaded[one.name].asnumpy().ravel() for one in network.trainable_params()])
    assert np.array_equal(flat, run.weights[step - 1]), step

whole = (folder / "step-000011.ckpt").read_bytes()
wrong = bytearray(whole)
wrong[len(whole) // 2] ^= 255
for content in (whole[: len(whole) // 2], b"", bytes(wrong)):
    Path("bad.ckpt").write_bytes(content)
    try:
        model_checkpoint.promote(Path("bad.ckpt"), 12, network)
        raise AssertionError(len(content))
    except (OSError, ValueError, RuntimeError, Damaged):
        pass
assert target(folder / "last") == "step-000011.ckpt"
"""
    check(tmp_path, COMMON + script)


def test_that_a_killed_model_train_goes_on_bit_for_bit(tmp_path: Path) -> None:
    case = Case(name="model", options=f"{LINEAR} {HARD} --mode jit --loop model", steps=200, kills=1, longest=0.2)
    chain = chain_of(tmp_path, case)
    figures = compare(chain.runs, chain.straight, chain.ends)
    assert figures == {"steps": 200, "different": 0, "same_state": True}


RECIPE = """
import numpy as np
from mindspore import nn
from ascend_engine.recipe import Recipe

class Data:
    def __len__(self):
        return 100

    def __getitem__(self, numbers):
        if 37 in numbers:
            raise KeyError("sample 37 is broken")
        return np.ones((len(numbers), 3), np.float32), np.ones((len(numbers), 1), np.float32)

def build(config):
    return Recipe(network=nn.Dense(3, 1), loss=nn.MSELoss(), train_data=Data())
"""


def test_that_an_error_in_reading_is_told_as_it_is(tmp_path: Path) -> None:
    file = save(tmp_path / "recipe.py", RECIPE)
    options = f"--recipe own --recipe-file {file} --batch 4 --optimizer sgd --lr 0.1 --steps 50 --device cpu"
    ran = train(tmp_path / "run", f"{options} --loop model --data-workers 3")
    assert ran.code == 1
    (finding,) = ran.findings()
    assert (finding["rule"], finding["path"], finding["line"]) == ("launch.python_error", file, 12)
    assert finding["args"]["message"] == "'sample 37 is broken'"


def test_that_model_train_stops_after_the_step_at_hand(tmp_path: Path) -> None:
    options = "--recipe linear --device cpu --optimizer sgd --lr 0.01 --batch 8 --steps 1000000 --accumulate 2"
    run = tmp_path / "run"
    run.mkdir()
    process = start_training(run, f"{options} --loop model --mode jit --data-workers 2 --ckpt")
    wait_for(lambda: b"step 1/" in (run / "output.log").read_bytes())
    process.send_signal(signal.SIGTERM)
    ran = finish(run, process)
    assert ran.code == 143, ran.output
    step = ran.note("launch.stopped")["step"]
    assert digests(run)["step"] == step == len(ran.metric("loss"))
    assert (run / "artifacts" / "ckpt" / "last").read_text() == f"step-{step:06d}.ckpt"
    assert_no_warnings(ran.output)
