"""What has to fit together where MindSpore itself splits the network over Ascend NPUs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.launch.operators import check_strategy
from backends.launch.recipes import resolved, workers
from studio.schema import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.launch.spec import LaunchSpec

SPLIT = ("semi_auto", "auto", "hybrid")
# The engine says the same where the device is found out only there (ascend_engine.parallel.distribute).
REFUSAL = (
    "Invalid communication backend: CPU for semi_auto_parallel/auto_parallel mode, "
    "currently only support Ascend/GPU backend"
)


def is_split(spec: LaunchSpec) -> bool:
    return spec.parallel.parallel in SPLIT


def _has_npus(spec: LaunchSpec) -> Iterable[Problem]:
    if spec.how.device != "cpu":
        return
    if is_split(spec):
        yield _problem("parallel", "launch.split_on_cpu", reason=REFUSAL)
    elif spec.parallel.fusion is not None and spec.what.framework == "mindspore":
        yield _problem("fusion", "launch.fusion_on_cpu")


def _is_whole_graph(spec: LaunchSpec) -> Iterable[Problem]:
    """What a step has that MindSpore would not cut as it cuts the network: a norm of all gradients would be that of
    a rank's part, and ranks would leave out different updates."""
    if not is_split(spec):
        return
    precision, keep = spec.precision, spec.keep
    wrong = {
        "mode": spec.how.mode != "graph",
        "loop": spec.how.loop != "functional",
        "loss_scale": resolved(spec).loss_scale != "none",
        "clip": precision.clip is not None,
        "on_nan": precision.on_nan == "skip",
        "checkpoint_every": keep.checkpoint_every is not None,
        "checkpoint_minutes": keep.checkpoint_minutes is not None,
        "best": keep.best != "none",
        "resume": keep.resume != Path(),
    }
    yield from (_problem(field, SENTENCES[field]) for field, is_wrong in wrong.items() if is_wrong)


SENTENCES = {
    "mode": "launch.rule.split_graph",
    "loop": "launch.rule.split_functional",
    "loss_scale": "launch.rule.split_loss_scale",
    "clip": "launch.rule.split_clip",
    "on_nan": "launch.rule.split_skip",
    **dict.fromkeys(("checkpoint_every", "checkpoint_minutes", "best", "resume"), "launch.rule.split_checkpoint"),
}


def _pipeline_fits(spec: LaunchSpec) -> Iterable[Problem]:
    parallel = spec.parallel
    if parallel.parallel != "hybrid":
        return
    stages, batches, batch = parallel.stages, parallel.pipeline_batches, resolved(spec).batch
    if workers(spec) % stages:
        yield _problem("stages", "launch.rule.stages_divide", stages=stages, devices=workers(spec))
    if batches < stages:
        yield _problem("pipeline_batches", "launch.rule.pipeline_fills", batches=batches, stages=stages)
    elif batch % batches:
        yield _problem("pipeline_batches", "launch.rule.pipeline_divides", batches=batches, batch=batch)
    if spec.how.accumulate > 1:
        yield _problem("accumulate", "launch.rule.pipeline_accumulates")


def _search_has_strategies(spec: LaunchSpec) -> Iterable[Problem]:
    """Sharding propagation goes out from the operators that have a strategy; the other searches give every one."""
    parallel = spec.parallel
    if parallel.parallel == "auto" and parallel.search != "sharding_propagation" and parallel.strategy:
        yield _problem("search", "launch.rule.search_decides")


def _strategies_fit(spec: LaunchSpec) -> Iterable[Problem]:
    """Only the first that is wrong: a field has one sentence, and the table has one for each row."""
    problems = (problem for name, text in spec.parallel.strategy for problem in check_strategy(spec, name, text))
    first = next(problems, None)
    if first is not None:
        yield first


def _problem(field: str, rule: str, **args: Any) -> Problem:
    return Problem(field=field, rule=rule, args=args)


RULES = (_has_npus, _is_whole_graph, _pipeline_fits, _search_has_strategies, _strategies_fit)
