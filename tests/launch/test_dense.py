"""The net of MindSpore's parallel tutorials, and what is split where there are NPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.operators import operators
from backends.launch.recipes import DENSE, RECIPES
from backends.launch.split_rules import REFUSAL
from tests.launch.engine_process import check, needs_mindspore, train
from tests.launch.specs import launch_spec

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_mindspore

SCRIPT = """
import mindspore as ms, numpy as np
from ascend_engine import modes, recipe
from ascend_engine.parallel import distribute
from tests.launch.engine_config import config_of as engine_config
from ascend_engine.failures import Failure
from ascend_engine.optimizers import make_optimizer
from ascend_engine.parallel.group import ALONE, Split
from ascend_engine.step import Step

def config_of(line):
    words = "--recipe dense --batch 32 --optimizer momentum --lr 0.05 --steps 5 --mode graph " + line
    return engine_config(words)

def refused(function, *arguments):
    try:
        function(*arguments)
    except Failure as error:
        return error.rule
"""


def test_that_it_learns_on_a_cpu_like_any_other(tmp_path: Path) -> None:
    ran = train(
        tmp_path,
        "--recipe dense --batch 32 --optimizer momentum --lr 0.05 --steps 60 --device cpu --mode graph "
        "--amp O2 --loss-scale dynamic --accumulate 2",
    )
    losses = ran.metric("loss")
    assert ran.code == 0
    assert sum(losses[-5:]) < 0.5 * sum(losses[:5])


def test_that_the_studio_knows_its_sizes_and_a_split_step_is_the_whole_one(tmp_path: Path) -> None:
    """Without cards nothing is cut: what is compiled then must be the same training."""
    shapes = [list(map(list, one.shapes or ())) for one in operators(launch_spec(recipe="dense", parallel="semi_auto"))]
    script = f"""
from ascend_engine.recipe_data import dense as data
from ascend_engine.recipes import dense
assert (dense.INPUTS, dense.HIDDEN, dense.OUTPUTS) == {DENSE}
assert data.SAMPLES == {RECIPES["dense"].samples}
assert list(dense.OPERATORS) == {[one.name for one in operators(launch_spec(recipe="dense"))]}
assert {shapes}[0][1] == [dense.INPUTS, dense.HIDDEN]

ms.set_device("CPU")
config = config_of("")
modes.enter(config)

def trained(make):
    ms.set_seed(1)
    plan = recipe.build(config)
    step = make(plan, make_optimizer("momentum", plan.network.trainable_params(), 0.05))
    batches = [[plan.train_data[np.arange(32 * i, 32 * i + 32)]] for i in range(3)]
    return [step(batch) for batch in batches], [one.asnumpy() for one in plan.network.trainable_params()]

class Uncut(distribute.SplitStep):
    def __init__(self, plan, optimizer):
        scored = distribute.Scored(plan.network, plan.loss, 1)
        function = distribute.make_split_step(scored, optimizer, None, distribute.as_they_are)
        self.micro_step = distribute.Whole(function)

whole = trained(lambda plan, optimizer: Step(plan.network, plan.loss, optimizer, prepare=modes.preparation(config)))
split = trained(Uncut)
assert [one.loss for one in whole[0]] == [one.loss for one in split[0]]
assert all(map(np.array_equal, whole[1], split[1]))

# Ranks of different stages read the same samples, with the whole batch all do.
place = object.__new__(Split)
place.size = 8
data = dense.samples()
def read(line):
    config = config_of("--workers 8 --parallel " + line)
    found = []
    for place.rank in range(8):
        stream = distribute.batches_of(data, config, place)
        found.append((stream.rank, stream.workers, stream.batch))
    assert config.samples_per_step == found[0][1] * found[0][2], line
    return found
assert read("semi_auto") == [(rank, 8, 32) for rank in range(8)]
assert read("semi_auto --dataset full_batch") == [(0, 1, 256)] * 8
assert read("hybrid --stages 4") == [(rank % 2, 2, 32) for rank in range(8)]

network = recipe.build(config).network
assert distribute.stages_of(network, 2) == {{"network.first": 0, "network.activation": 0, "network.second": 1}}
assert refused(distribute.stages_of, network, 4) == "launch.too_few_cells"
assert distribute.piece_ends([3, 1, 2, 2, 9, 1], 4) == [1, 3, 4]
assert refused(recipe.build, config_of("--strategy matmul3=1x1,1x1")) == "launch.rule.no_operator"
assert refused(recipe.build, config_of("--strategy matmul1=2y1")) == "launch.rule.strategy_form"
assert refused(distribute.check, config_of("--parallel data --fusion 8"), "cpu") == "launch.fusion_on_cpu"
assert refused(distribute.check, config_of("--parallel data --fusion 8"), "ascend") is None
"""
    check(tmp_path, SCRIPT + script)


def test_that_a_split_is_refused_on_a_cpu_with_mindspores_reason(tmp_path: Path) -> None:
    ran = train(
        tmp_path,
        "--recipe dense --batch 32 --optimizer momentum --lr 0.05 --steps 5 --device cpu --mode graph "
        "--workers 8 --parallel semi_auto --strategy matmul1=2x1,1x4",
    )
    (finding,) = ran.findings()
    assert ran.code == 1
    assert (finding["rule"], finding["args"]["reason"]) == ("launch.split_on_cpu", REFUSAL)
