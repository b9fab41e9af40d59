"""The calls that only an NPU can run, held against the installed MindSpore."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.launch.spec import LaunchSpec
from studio import schema
from tests.launch.engine_process import check, needs_mindspore
from tests.launch.engine_sources import ENGINE, SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# What MindSpore does on Ascend alone, by the name that a call of it ends with.
ON_NPUS = {
    "AutoParallel", "GradAccumulation", "GradAccumulationCell", "MicroBatchInterleaved", "Pipeline", "PipelineCell",
    "PipelineGradReducer", "set_auto_parallel", "set_auto_parallel_context", "set_algo_parameters", "shard",
}  # fmt: skip
SEARCHES, DATASETS = (schema.field_of(LaunchSpec, name).choices for name in ("search", "dataset"))
OPTIONS = "--recipe dense --batch 32 --optimizer momentum --lr 0.1 --steps 3 --mode graph --workers 8 "
CALLS = f"""
import ast, inspect, itertools, textwrap, types
from importlib import import_module
from operator import attrgetter
import mindspore as ms
from ascend_engine import npu, recipe, shard
from ascend_engine.parallel import distribute
from tests.launch.engine_config import config_of

def configs():
    modes = ["semi_auto", "hybrid --stages 2 --pipeline-batches 4", "semi_auto --accumulate 4"]
    modes += ["auto --search " + search for search in {SEARCHES}]
    extras = ["", "--optimizer-parallel", "--fusion 32"], ["--dataset " + one for one in {DATASETS}]
    for words in itertools.product(modes, *extras):
        yield config_of("{OPTIONS}--parallel " + " ".join(words))

def calls(config, network):
    stages = distribute.stages_of(network, config.stages)
    one = distribute.wrapper(config)
    found = (distribute.old_settings(config),) if one is None else (one, *distribute.settings(config))
    micro = distribute.micro_wrapper(config, stages)
    return found + ((micro,) if micro else ())

def modes_that_auto_parallel_takes():
    source = inspect.getsource(import_module("mindspore.parallel.auto_parallel").AutoParallel.__init__)
    lists = (node for node in ast.walk(ast.parse(textwrap.dedent(source))) if isinstance(node, ast.List))
    return next(one for one in map(ast.literal_eval, lists) if "semi_auto" in one)

def tried(call, scored):
    "Does what can be done without a card: MindSpore checks the values that it is given."
    target = attrgetter(call.name)(import_module(call.module))
    inspect.signature(target).bind(*call.positional, **call.kwargs)
    if call.name == "AutoParallel":
        assert call.kwargs["parallel_mode"] in modes_that_auto_parallel_takes()
    elif call.name == "set_auto_parallel_context":
        npu.do(call)
        ms.reset_auto_parallel_context()
    elif call.positional == ("network",):
        npu.do(call, scored)
    else:
        npu.do(call, types.SimpleNamespace())

names = set()
for config in configs():
    plan = recipe.build(config)
    for call in calls(config, plan.network):
        tried(call, distribute.Scored(plan.network, plan.loss, 4))
        names.add(call.name)
fusion = distribute.data_fusion(config_of("{OPTIONS}--parallel data --fusion 1"), [2**20, 2**10, 2**10])
tried(fusion, None)
strategy = ((2, 1), (1, 4))
matmul = shard.sharded(ms.ops.MatMul(), "matmul1", {{"matmul1": strategy}})
assert matmul.in_strategy == strategy
inspect.signature(ms.ops.Primitive.shard).bind("self", **shard.shard_call(strategy).kwargs)
expected = "enable_gradients_mean dataset_strategy pipeline hsdp comm_fusion".split()
assert names == {{"AutoParallel", "Pipeline", "GradAccumulation", "set_auto_parallel_context",
                 *("AutoParallel." + one for one in expected)}}, names
"""


@needs_mindspore
def test_that_every_call_fits_the_installed_mindspore(tmp_path: Path) -> None:
    check(tmp_path, CALLS)


def calls_of(path: Path) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield node


def name_of(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def is_for_every_device(call: ast.Call) -> bool:
    """Data parallel trains on a CPU too, where tests run it."""
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    return given == {"parallel_mode": "'data_parallel'", "gradients_mean": "True"}


def test_that_the_engine_calls_nothing_of_an_npu_in_another_way() -> None:
    wrong = [
        f"{path.relative_to(ENGINE)}:{call.lineno}"
        for path in SOURCES
        for call in calls_of(path)
        if name_of(call) in ON_NPUS and not is_for_every_device(call)
    ]
    assert not wrong


def test_that_the_engine_imports_nothing_that_is_for_npus_alone() -> None:
    modules = [
        f"{path.name}: {node.module}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mindspore.parallel")
    ]
    assert not modules
