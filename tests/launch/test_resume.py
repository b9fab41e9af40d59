"""Going on after a kill: the same steps, bit for bit, as if there had been none."""

from __future__ import annotations

import os
import shutil
import signal
from typing import TYPE_CHECKING

import pytest

from tests.launch.engine_process import Ran, check, finish, needs_mindspore, start_training, train, train_small_text
from tests.prove.checkpoint import checkpoint
from tests.prove.resume import HARD, LINEAR, Case, chain_of, checkpoints_of, compare, digests
from tests.runs import wait_for

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_mindspore
# With float16, its scale, accumulation, and a dropout.
TEXT = "--device cpu --mode jit --amp O2 --loss-scale dynamic --batch 4 --accumulate 2 --optimizer adamw"
DIGITS = "--recipe digits --device cpu --mode jit --batch 16 --optimizer momentum --lr 0.05 --steps 12"


@pytest.mark.parametrize(("mode", "steps"), [("pynative", 20), ("jit --loop cell", 100), ("graph", 100)])
def test_that_a_killed_training_goes_on_bit_for_bit(mode: str, steps: int, tmp_path: Path) -> None:
    options = f"{LINEAR} {HARD} --mode {mode}"
    case = Case(name=mode, options=options, steps=steps, kills=1, longest=0.1)
    chain = chain_of(tmp_path, case)
    figures = compare(chain.runs, chain.straight, chain.ends)
    assert (chain.kills, figures) == (1, {"steps": steps, "different": 0, "same_state": True})
    last = Ran(folder=chain.runs[-1], code=0, output="")
    assert last.note("launch.resumed")["exact"]


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that was saved at 5, 10 and at its end, 12."""
    for _ in range(5):  # a checkpoint that is due while a slow disk writes the one before waits for a later step
        run = tmp_path_factory.mktemp("digits") / "run"
        ran = train(run, f"{DIGITS} --checkpoint-every 5 --keep 9")
        assert ran.code == 0, ran.output
        steps = sorted(checkpoint.read(path).step for path in checkpoint.complete(checkpoints_of(run)))
        assert ran.note("launch.checkpoints")["count"] == len(steps)
        if steps == [5, 10, 12]:
            return run
    pytest.fail(f"checkpoints at {steps}")


def test_that_a_finished_training_is_not_resumed(digits: Path, tmp_path: Path) -> None:
    ran = train(tmp_path / "none_left", f"{DIGITS} --steps 5 --resume {digits}")
    assert [finding["rule"] for finding in ran.findings()] == ["launch.nothing_left"]


def test_that_a_damaged_checkpoint_is_named_and_the_one_before_gives_the_same_end(digits: Path, tmp_path: Path) -> None:
    earlier = tmp_path / "earlier"
    shutil.copytree(digits, earlier)
    newest, second, _ = checkpoint.complete(checkpoints_of(earlier))
    shutil.rmtree(newest)
    with (second / "weights.safetensors").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\x01")
    ran = train(tmp_path / "run", f"{DIGITS} --resume {earlier}")
    assert ran.code == 0, ran.output
    (finding,) = ran.findings()
    assert (finding["rule"], finding["args"]["name"]) == ("launch.checkpoint_damaged", second.name)
    assert ran.note("launch.resumed") == {"run": "earlier", "step": 5, "exact": True}
    assert compare([digits, tmp_path / "run"], digits, [tmp_path / "run"]) == {
        "steps": 12,
        "different": 0,
        "same_state": True,
    }
    assert digests(tmp_path / "run")["step"] == 12


def point_to(run: Path, step: int) -> None:
    """As if the run had ended right after that step."""
    (path,) = (path for path in checkpoint.complete(checkpoints_of(run)) if checkpoint.read(path).step == step)
    checkpoint.point(checkpoints_of(run) / "last", path.name)


def test_that_a_dropout_goes_on_with_the_same_masks(tmp_path: Path) -> None:
    options = f"{TEXT} --lr 0.003 --steps 6"
    straight = train_small_text(tmp_path / "straight", f"{options} --checkpoint-every 3")
    assert straight.code == 0, straight.output
    shutil.copytree(straight.folder, tmp_path / "earlier")
    point_to(tmp_path / "earlier", 3)
    ran = train_small_text(tmp_path / "run", f"{options} --resume {tmp_path / 'earlier'}")
    assert ran.note("launch.resumed")["step"] == 3
    figures = compare([straight.folder, ran.folder], straight.folder, [ran.folder])
    assert (figures["different"], figures["same_state"]) == (0, True)


def test_that_a_mask_belongs_to_a_sample_in_every_mode(tmp_path: Path) -> None:
    script = """
import mindspore as ms, numpy as np
from mindspore import Tensor
from ascend_engine.dropout import Dropout, Position

position = Position()
ones = np.ones((8, 32, 64), np.float32)

def masks(mode, seed=1, layer=0, parts=((0, 8),)):
    ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
    network = Dropout(0.25, (32, 64), seed, layer, position).set_train(True)
    def forward(x):
        return network(x)
    call = {"jit": ms.jit(forward), "graph": network, "pynative": forward}[mode]
    found = []
    for begin, end in parts:
        position.begin(begin)
        found.append(call(Tensor(ones[begin:end])).asnumpy())
    network.set_train(False)
    assert np.array_equal(network(Tensor(ones)).asnumpy(), ones)
    return np.concatenate(found)

whole = masks("pynative")
assert set(np.unique(whole)) == {np.float32(0), np.float32(1 / 0.75)}
assert abs((whole == 0).mean() - 0.25) < 0.02
for mode in ("pynative", "jit", "graph"):
    assert np.array_equal(masks(mode, parts=((0, 4), (4, 6), (6, 8))), whole), mode
# Two that have nothing to do with each other differ in 2 * 0.25 * 0.75 of the places.
others = (masks("jit", seed=2), masks("jit", layer=1), np.roll(whole, 1, 0), np.roll(whole, 1, 1))
for other in others:
    assert abs((other != whole).mean() - 0.375) < 0.02
"""
    check(tmp_path, script)


def test_that_what_does_not_fit_is_refused_or_said(digits: Path, tmp_path: Path) -> None:
    script = f"""
import ascend_studio, mindspore as ms
from pathlib import Path
from ascend_engine import recipe
from ascend_engine.checkpoints import resume
from tests.launch.engine_config import config_of
from ascend_engine.failures import Failure
from ascend_engine.train import Training

ms.set_context(mode=ms.PYNATIVE_MODE)
notes = []
ascend_studio.note = lambda key, **args: notes.append((key, args))

def outcome(line, run="{digits}"):
    ms.set_seed(1)
    config = config_of(f"{{line}} --resume {{run}}")
    try:
        training = Training(config, "cpu", recipe.build(config))
        assert resume.resume(training, config.resume) == 12
    except Failure as failure:
        return failure.rule
    return notes[-1][1].get("differing", "exact")

line = "{DIGITS} --steps 20"
assert outcome(line) == "exact"
assert outcome(line + " --keep 1 --checkpoint-every 2 --best loss") == "exact"
assert outcome(line + " --initial-weights portable") == "exact"
assert outcome(line + " --seed 2 --lr 0.01") == "lr, seed"
assert outcome(line + " --optimizer adamw --mode pynative") == "mode, optimizer, state"
assert outcome(line + " --schedule cosine") == "schedule, steps"
assert outcome(line + " --batch 8 --accumulate 2 --amp O2") == "accumulate, amp, batch, state"
assert outcome(line + " --amp O3") == "amp"
assert outcome(line + " --recipe linear") == "launch.other_recipe"
assert outcome(line + " --steps 12") == "launch.nothing_left"
assert outcome(line, "/no/such/run") == "launch.no_checkpoint"
weights = recipe.build(config_of(line)).network
saved = resume.newest(Path("{digits}"))
saved.weights.pop(next(iter(saved.weights)))
resume.newest = lambda run: saved
assert outcome(line) == "launch.other_network"
"""
    check(tmp_path, script)


def test_that_a_stopped_training_left_its_last_step(tmp_path: Path) -> None:
    options = "--recipe linear --device cpu --optimizer sgd --lr 0.01 --batch 8 --steps 1000000"
    tmp_path.joinpath("run").mkdir()
    process = start_training(tmp_path / "run", options)
    wait_for(lambda: b"step 1/" in (tmp_path / "run" / "output.log").read_bytes())
    process.send_signal(signal.SIGTERM)
    ran = finish(tmp_path / "run", process)
    assert ran.code == 143, ran.output
    assert digests(ran.folder)["step"] == ran.note("launch.stopped")["step"] == len(ran.metric("loss"))
